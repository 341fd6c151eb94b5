/* What a batch notes in its manifest, and what it knows of the runs before. */
#include "cli/batch/batch.h"

#include <errno.h>
#include <string.h>

#include "cli/files/files.h"
#include "codecs/deflate/flate.h"

static struct record record_of(const struct job *job)
{
    return (struct record){
        .input = job->input,
        .output = job->output,
        .input_root = job->input_root,
        .output_root = job->output_root,
        .op = job->opts->op_name,
        .options = job->opts->shape,
    };
}

/* ---- Beginning and end -------------------------------------------------- */

static struct record planned_record(void *batch, size_t i)
{
    const struct job job = batch_planned_job(batch, i);
    return record_of(&job);
}

/* Returns whether --resume and --manifest name one file, which need not exist
 * yet: then the first run makes it, and the same call goes on with it. */
static bool is_one_file(const struct options *opts)
{
    struct path_text a, b;
    struct err unheard;
    const char *one = opts->manifest, *other = opts->resume;
    return one && other &&
           resolve_canonical(&a, one, strlen(one), &unheard) == 0 &&
           resolve_canonical(&b, other, strlen(other), &unheard) == 0 &&
           strcmp(a.text, b.text) == 0;
}

/* Returns whether the manifest to resume from may be missing. */
static bool begins(const struct options *opts)
{
    return option_table_given(opts, "manifest") && is_one_file(opts);
}

static int open_manifest(struct records *records, const struct options *opts,
                         struct err *err)
{
    struct err why;
    if (manifest_open(&records->manifest, opts->manifest, &records->warnings,
                      &why) == 0)
        return 0;
    return fail(err, "--%s: %s",
                option_table_given(opts, "manifest") ? "manifest" : "resume",
                why.text);
}

/* A manifest that is both read and written is locked before it is read, as
 * another run may have it and end meanwhile. */
int records_open(struct batch *batch, struct err *err)
{
    const struct resume_jobs jobs = { batch->plan.inputs.count, planned_record,
                                      batch };
    const struct options *opts = batch->opts;
    struct records *records = &batch->records;
    struct err why;
    const bool writes = opts->manifest && !opts->dry_run;
    struct stat st;
    const bool there = opts->resume && stat(opts->resume, &st) == 0;
    if (there && !option_table_given(opts, "manifest") && !opts->dry_run &&
        !S_ISREG(st.st_mode))
        return fail(err,
                    "--resume: %s: not a regular file; --manifest must say "
                    "where to go on",
                    opts->resume);
    if (opts->resume && !there && errno == ENOENT && !begins(opts))
        return fail(
            err, "--resume: %s: %s; name it by --manifest, too, to begin one",
            opts->resume, strerror(ENOENT));
    const bool both = writes && is_one_file(opts);
    if (both && open_manifest(records, opts, err))
        return -1;
    /* Another run must not go on with what this one reads, either. */
    if (opts->resume && writes && !both &&
        manifest_hold(opts->resume, &records->warnings, &why))
        return fail(err, "--resume: %s", why.text);
    if (opts->resume &&
        resume_read(&records->resume, opts->resume, begins(opts), &jobs, &why))
        return fail(err, "--resume: %s: %s", opts->resume, why.text);
    if (opts->in_place && 2 * records->resume.gone > records->resume.replaced)
        warn(&records->warnings,
             "%s: %u of %u files that it has as replaced are not where they "
             "were; those that were moved are turned once more",
             opts->resume, records->resume.gone, records->resume.replaced);
    return writes && !both ? open_manifest(records, opts, err) : 0;
}

int records_close(struct records *records, struct err *err)
{
    resume_free(&records->resume);
    return records->manifest ? manifest_close(records->manifest, err) : 0;
}

/* ---- Notes -------------------------------------------------------------- */

static int note(struct records *records, const struct record *record, bool safe,
                struct err *err)
{
    struct err why;
    if (manifest_note(records->manifest, record, safe, &why) == 0)
        return 0;
    if (why.full)
        atomic_store(&records->disk_full, true);
    atomic_store(&records->failed, true);
    return fail(err, "the manifest cannot be written: %s", why.text);
}

/* Adds the time of the output, so that it need not be read to know it again. */
static void add_output(struct facts *facts, const struct job *job)
{
    struct stat st;
    if (!resolve_stat(job->output_root, job->output, true, &st) ||
        (uint64_t)st.st_size != facts->written)
        return;
    facts->made_time = st.st_mtim;
}

int records_note_ready(struct records *records, const struct job *job,
                       const struct result *result, struct bytes output,
                       struct err *err)
{
    struct record record = record_of(job);
    if (!records->manifest || !file_is_same(job->output_root, job->output,
                                            job->input_root, job->input))
        return 0;
    record.facts.status = STATUS_READY;
    record.facts.size = result->bytes_in;
    record.facts.mtime = result->mtime;
    record.facts.written = output.size;
    record.facts.crc = flates[0]->crc32(0, output.data, output.size);
    record.facts.summed = true;
    return note(records, &record, true, err);
}

int records_note_result(struct records *records, const struct job *job,
                        const struct result *result, const struct err *failure,
                        struct err *err)
{
    struct record record = record_of(job);
    if (!records->manifest || result->skipped == SKIPPED_DONE)
        return 0;
    /* A process that ended before it told what it has written leaves what was
     * noted before: of an input that was to be replaced that is enough for the
     * next run, and any other job is done again. */
    if (!failure && !result->skipped && result->bytes_in == 0)
        return 0;
    record.facts.size = result->bytes_in;
    record.facts.mtime = result->mtime;
    if (failure) {
        record.facts.status = STATUS_FAILED;
        record.error = failure->text;
    } else if (result->skipped) {
        record.facts.status = STATUS_SKIPPED;
    } else {
        record.facts.status = STATUS_DONE;
        record.how = job_how_name[result->how];
        record.facts.written = result->bytes_out;
        add_output(&record.facts, job);
    }
    return note(records, &record, false, err);
}

int records_check(struct records *records, size_t i, const struct job *job,
                  enum verdict *verdict, struct err *err)
{
    struct record record = record_of(job);
    *verdict = job->opts->resume
                   ? resume_check(&records->resume, i, &record, err)
                   : VERDICT_TODO;
    if (*verdict == VERDICT_CHANGED)
        return -1;
    if (*verdict != VERDICT_REPLACED)
        return 0;
    *verdict = VERDICT_DONE;
    if (!records->manifest)
        return 0;
    record.facts.status = STATUS_DONE;
    add_output(&record.facts, job);
    return note(records, &record, false, err);
}
