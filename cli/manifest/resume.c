/* What was done before, according to a manifest and to the files. */
#include "cli/manifest/resume.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/manifest/shown.h"
#include "cli/manifest/timestamp.h"

/* There are fewer operations than there is room for; a manifest with more was
 * not written by this program. */
static void list_ops(struct resume *resume)
{
    const struct manifest_index *index = &resume->index;
    const size_t most = sizeof resume->op / sizeof *resume->op;
    for (size_t i = 0; i < index->count; i++) {
        const struct entry *entry = &index->entry[i];
        size_t k = 0;
        if (!entry->in_place || entry->facts.status < STATUS_READY)
            continue;
        while (k < resume->ops && strcmp(resume->op[k], entry->op) != 0)
            k++;
        if (k == resume->ops && k < most)
            resume->op[resume->ops++] = entry->op;
    }
}

int resume_read(struct resume *resume, const char *name, bool may_lack,
                struct err *err)
{
    bool absent = may_lack && access(name, F_OK) && errno == ENOENT;
    resume->name = name;
    if (!absent && manifest_index_read(&resume->index, name, err))
        return -1;
    list_ops(resume);
    return 0;
}

void resume_free(struct resume *resume)
{
    manifest_index_free(&resume->index);
}

/* ---- The files --------------------------------------------------------- */

static bool is_as_long_as_written(const struct stat *st,
                                  const struct facts *facts)
{
    return S_ISREG(st->st_mode) && (uint64_t)st->st_size == facts->written;
}

/* Returns whether a later operation has replaced the file once more, and it is
 * as that has written it. */
static bool was_turned_on(const struct resume *resume, const struct record *job,
                          const struct entry *entry, const struct stat *st)
{
    for (size_t i = 0; i < resume->ops; i++) {
        struct record other = *job;
        other.op = resume->op[i];
        const struct entry *next = manifest_index_find(&resume->index, &other);
        if (next && next != entry && next->facts.status >= STATUS_READY &&
            timestamp_compare(next->facts.time, entry->facts.time) >= 0 &&
            facts_match_output(&next->facts, job->output_root, job->output, st))
            return true;
    }
    return false;
}

/* ---- Files that are left alone ------------------------------------------ */

static enum verdict leave_ready(struct err *err)
{
    fail(err,
         "a run was interrupted while it replaced this file, which has "
         "changed since; it may be turned or not; --resume leaves it alone");
    return VERDICT_CHANGED;
}

/* Leaves a file that was done, and yet is not as it was written. */
static enum verdict leave_done(const struct resume *resume,
                               const struct record *job,
                               const struct facts *facts, const struct stat *st,
                               struct err *err)
{
    struct err why;
    int fd = resolve_open(job->output_root, job->output, O_RDONLY | O_NONBLOCK,
                          &why);
    if (fd < 0)
        fail(err,
             "%s was done, but the file cannot be compared with what was "
             "written: %s",
             job->op, why.text);
    else
        fail(err,
             "%s was done, but the file %s. To turn it, name it alone, "
             "with --manifest %s and without --resume; to keep it as it "
             "is, leave it out, as by --exclude",
             job->op,
             facts_fit_input(facts, st)
                 ? "is as it was before that; it may have been restored"
                 : "has changed since; it may be a new picture, or another "
                   "program has edited it",
             resume->name);
    if (fd >= 0)
        close(fd);
    return VERDICT_CHANGED;
}

/* ---- The verdict ------------------------------------------------------- */

/* Decides about a job that is "ready": its input became the output, or did not.
 * The bytes decide first, since size and times may be the same before and
 * after. */
static enum verdict of_ready(const struct record *job,
                             const struct facts *facts, struct err *err)
{
    struct stat st;
    if (!resolve_stat(job->output_root, job->output, true, &st))
        return leave_ready(err);
    if (is_as_long_as_written(&st, facts) &&
        facts_match_sum(facts, job->output_root, job->output))
        return VERDICT_REPLACED;
    bool ambiguous = !facts->summed && facts->size == facts->written;
    return facts_fit_input(facts, &st) && !ambiguous ? VERDICT_TODO
                                                     : leave_ready(err);
}

/* Decides about a job that is done in place. If the file is gone, nothing is
 * left to be turned; if it is another one, it must be neither turned nor
 * skipped silently. */
static enum verdict of_replaced(const struct resume *resume,
                                const struct record *job,
                                const struct entry *entry, struct err *err)
{
    struct stat st;
    if (!resolve_stat(job->output_root, job->output, true, &st)) {
        if (errno == ENOENT || errno == ENOTDIR)
            return VERDICT_DONE;
        fail_system(err, NULL);
        return VERDICT_CHANGED;
    }
    if (facts_match_output(&entry->facts, job->output_root, job->output, &st) ||
        was_turned_on(resume, job, entry, &st) ||
        (shown_tells(entry) &&
         shown_as_made(entry, job->output_root, job->output, resume->opts)))
        return VERDICT_DONE;
    return leave_done(resume, job, &entry->facts, &st, err);
}

/* Decides about a job that is done. Its input may be gone once its output is
 * there. An input that is the same file under another name was replaced. */
static enum verdict of_done(const struct resume *resume,
                            const struct record *job, const struct entry *entry,
                            struct err *err)
{
    struct stat in, out;
    if (entry->in_place)
        return of_replaced(resume, job, entry, err);
    if (!resolve_stat(job->output_root, job->output, true, &out))
        return VERDICT_TODO;
    if (resolve_stat(job->input_root, job->input, true, &in)) {
        if (in.st_dev == out.st_dev && in.st_ino == out.st_ino)
            return of_replaced(resume, job, entry, err);
        if (!facts_fit_input(&entry->facts, &in))
            return VERDICT_TODO;
    } else if (errno != ENOENT && errno != ENOTDIR) {
        return VERDICT_TODO; /* and then the reason is reported */
    }
    return is_as_long_as_written(&out, &entry->facts) ? VERDICT_DONE
                                                      : VERDICT_TODO;
}

enum verdict resume_check(const struct resume *resume, struct record *job,
                          struct err *err)
{
    const struct entry *entry = manifest_index_find(&resume->index, job);
    if (entry && entry->facts.status == STATUS_DONE)
        return of_done(resume, job, entry, err);
    if (!entry || entry->facts.status != STATUS_READY)
        return VERDICT_TODO;
    job->facts = entry->facts;
    return of_ready(job, &entry->facts, err);
}
