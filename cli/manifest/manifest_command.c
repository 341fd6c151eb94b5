/* gimgxf manifest: merges several manifests, and checks them. */
#include "cli/manifest/manifest.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/json/json_write.h"
#include "cli/manifest/manifest_index.h"
#include "cli/manifest/shown.h"
#include "cli/manifest/timestamp.h"
#include "cli/report/report.h"
#include "cli/sandbox/sandbox.h"

enum { GOOD = 0, BAD = 1, USAGE = 2 };

/* ---- Jobs in order ----------------------------------------------------- */

static int by_job(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    int order = strcmp(a->input, b->input);
    order = order ? order : strcmp(a->output, b->output);
    order = order ? order : strcmp(a->op, b->op);
    return order ? order : strcmp(a->options, b->options);
}

/* Sorts the entries. They cannot be found any more by their jobs. */
static void sort(struct manifest_index *index)
{
    if (index->count)
        qsort(index->entry, index->count, sizeof *index->entry, by_job);
}

/* ---- merge ------------------------------------------------------------- */

static int merge(struct manifest_index *index)
{
    sort(index);
    for (size_t i = 0; i < index->count; i++)
        puts(index->entry[i].line);
    return GOOD;
}

/* ---- check: jobs that were done twice under different names ------------- */

/* A job that was done. `file` identifies it: in place the file that it has
 * written, else the file that it has read. `output` is what its output is now.
 */
struct done_job {
    struct entry *entry;
    struct inode_id file, output;
};

static int order_files(const struct inode_id *a, const struct inode_id *b)
{
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    return a->inode < b->inode ? -1 : a->inode > b->inode;
}

static int by_done_file(const void *left, const void *right)
{
    const struct done_job *a = left, *b = right;
    int order = order_files(&a->file, &b->file);
    order = order ? order : strcmp(a->entry->op, b->entry->op);
    return order ? order : order_files(&a->output, &b->output);
}

static bool has_read_what_was_made(const struct entry *later,
                                   const struct entry *earlier)
{
    const struct facts *a = earlier->done, *b = later->done;
    return earlier != later && a->written == b->size &&
           timestamp_compare(a->made_time, b->mtime) == 0;
}

static void find_twice_in_place(struct manifest_index *index,
                                struct done_job *jobs)
{
    size_t count = 0;
    for (size_t i = 0; i < index->count; i++) {
        struct entry *entry = &index->entry[i];
        if (entry->in_place && entry->done && entry->done->made.known)
            jobs[count++] =
                (struct done_job){ .entry = entry, .file = entry->done->made };
    }
    qsort(jobs, count, sizeof *jobs, by_done_file);
    for (size_t i = 0; i < index->count; i++) {
        struct entry *entry = &index->entry[i];
        if (!entry->in_place || !entry->done || !entry->done->file.known)
            continue;
        struct done_job key = { .entry = entry, .file = entry->done->file };
        const struct done_job *found =
            bsearch(&key, jobs, count, sizeof *jobs, by_done_file);
        if (found && has_read_what_was_made(entry, found->entry))
            entry->twice = true;
    }
}

static bool is_repeated(const struct done_job *a, const struct done_job *b)
{
    const struct facts *one = a->entry->done, *two = b->entry->done;
    return by_done_file(a, b) == 0 && one->size == two->size &&
           timestamp_compare(one->mtime, two->mtime) == 0 &&
           timestamp_compare(one->time, two->time) != 0 &&
           strcmp(a->entry->options, b->entry->options) == 0;
}

static bool stat_output(const struct manifest_index *index,
                        const struct entry *entry, struct inode_id *output)
{
    char path[PATH_MAX];
    struct stat st;
    if (!manifest_index_path(index, entry, entry->output, path) ||
        stat(path, &st))
        return false;
    *output = (struct inode_id){ st.st_dev, st.st_ino, true };
    return true;
}

static void find_twice_elsewhere(struct manifest_index *index,
                                 struct done_job *jobs)
{
    size_t count = 0;
    for (size_t i = 0; i < index->count; i++) {
        struct entry *entry = &index->entry[i];
        struct done_job *next = &jobs[count];
        if (entry->in_place || !entry->done || !entry->done->file.known ||
            !stat_output(index, entry, &next->output))
            continue;
        next->entry = entry;
        next->file = entry->done->file;
        count++;
    }
    qsort(jobs, count, sizeof *jobs, by_done_file);
    for (size_t i = 1; i < count; i++)
        if (is_repeated(&jobs[i - 1], &jobs[i]))
            jobs[i].entry->twice = true;
}

/* Sets `twice` of entries that repeat another one, by the files that were read
 * and written, where these are noted. In place, an entry repeats another if it
 * has read what that one had written; else, if both have read the same
 * unchanged file, and their outputs are one file now. Returns 0, or -1 without
 * memory. */
static int find_twice(struct manifest_index *index)
{
    struct done_job *jobs = calloc(index->count + 1, sizeof *jobs);
    if (!jobs)
        return -1;
    find_twice_in_place(index, jobs);
    find_twice_elsewhere(index, jobs);
    free(jobs);
    return 0;
}

/* ---- check: jobs and outputs ------------------------------------------- */

struct tally {
    size_t status[STATUS_DONE + 1];
    size_t outputs;    /* that should be there */
    size_t lost;       /* of them: gone, or not what was written */
    size_t undigested; /* with no SHA-256 noted */
    size_t relative;   /* of those: gone, with names that are relative */
    size_t twice;
};

/* Reports something of a file by its name as it was given; with the directory
 * that it started from, unless that is the current one. */
static void report_file(const struct manifest_index *index,
                        const struct entry *entry, const char *name,
                        const char *text)
{
    char path[PATH_MAX];
    bool elsewhere =
        entry->directory && strcmp(entry->directory, index->cwd) != 0;
    report_error(elsewhere && manifest_index_path(index, entry, name, path)
                     ? path
                     : name,
                 text);
}

static void check_jobs(struct tally *tally, const struct manifest_index *index)
{
    struct err text;
    for (size_t i = 0; i < index->count; i++) {
        const struct entry *entry = &index->entry[i];
        tally->status[entry->facts.status]++;
        tally->twice += entry->twice;
        if (entry->facts.status == STATUS_FAILED) {
            fail(&text, "%s failed: %s", entry->op,
                 entry->error ? entry->error : "no reason is noted");
            report_file(index, entry, entry->input, text.text);
        } else if (entry->facts.status == STATUS_READY) {
            fail(&text,
                 "%s was about to replace it%s%s; it is not noted "
                 "whether it did",
                 entry->op, entry->error ? ", and failed: " : "",
                 entry->error ? entry->error : "");
            report_file(index, entry, entry->input, text.text);
        }
        if (entry->twice) {
            fail(&text, "%s was done twice", entry->op);
            report_file(index, entry, entry->input, text.text);
        }
    }
}

/* Looks for the output below the directory that is noted; or, if that does not
 * exist, as on another machine, below the current one. Writes the name by which
 * it was found to `path`, of PATH_MAX bytes. */
static bool find_output(const struct manifest_index *index,
                        const struct entry *entry, char *path, struct stat *st)
{
    struct stat here;
    if (!manifest_index_path(index, entry, entry->output, path)) {
        errno = ENAMETOOLONG;
        return false;
    }
    if (stat(path, st) == 0)
        return true;
    int why = errno;
    if (entry->directory && *entry->output != '/' &&
        stat(entry->directory, &here) && stat(entry->output, st) == 0) {
        snprintf(path, PATH_MAX, "%s", entry->output);
        return true;
    }
    errno = why;
    return false;
}

/* An output as it is now. */
struct checked_output {
    const struct manifest_index *index;
    const struct entry *entry;
    bool there;
    int why; /* if not: the errno */
    struct stat st;
};

/* Orders outputs by file, whatever their names; those that are gone by name. */
static int compare_files(const struct checked_output *a,
                         const struct checked_output *b)
{
    if (a->there != b->there)
        return a->there ? -1 : 1;
    if (!a->there)
        return manifest_index_compare_outputs(a->index, a->entry, b->entry);
    if (a->st.st_dev != b->st.st_dev)
        return a->st.st_dev < b->st.st_dev ? -1 : 1;
    return a->st.st_ino < b->st.st_ino ? -1 : a->st.st_ino > b->st.st_ino;
}

/* Orders outputs by file, and those of one file by time. */
static int by_file(const void *left, const void *right)
{
    const struct checked_output *a = left, *b = right;
    int order = compare_files(a, b);
    order = order
                ? order
                : timestamp_compare(a->entry->facts.time, b->entry->facts.time);
    return order ? order : by_job(a->entry, b->entry);
}

static int by_name(const void *left, const void *right)
{
    const struct checked_output *a = left, *b = right;
    int order = manifest_index_compare_outputs(a->index, a->entry, b->entry);
    return order ? order : by_job(a->entry, b->entry);
}

static size_t find_outputs(const struct manifest_index *index,
                           struct checked_output *output)
{
    size_t count = 0;
    char path[PATH_MAX];
    for (size_t i = 0; i < index->count; i++) {
        struct checked_output *next = &output[count];
        if (index->entry[i].facts.status < STATUS_READY)
            continue;
        *next = (struct checked_output){ .index = index,
                                         .entry = &index->entry[i] };
        next->there = find_output(index, next->entry, path, &next->st);
        next->why = errno;
        count++;
    }
    return count;
}

/* Keeps the last output of each file, if it is known to be done. */
static size_t keep_last(struct checked_output *output, size_t count)
{
    size_t kept = 0;
    qsort(output, count, sizeof *output, by_file);
    for (size_t i = 0; i < count; i++) {
        bool last =
            i + 1 == count || compare_files(&output[i], &output[i + 1]) != 0;
        if (last && output[i].entry->facts.status == STATUS_DONE)
            output[kept++] = output[i];
    }
    qsort(output, kept, sizeof *output, by_name);
    return kept;
}

/* Returns whether the file is what was written, or shows that: by its size, or,
 * if it replaced its input, by all that --resume looks at. With --digest it
 * must show it, where that is noted. */
static bool is_as_written(const struct checked_output *output,
                          const struct options *opts)
{
    const struct entry *entry = output->entry;
    char path[PATH_MAX];
    struct stat st;
    if (!find_output(output->index, entry, path, &st))
        return false;
    if (opts->digest && entry->shown)
        return shown_as_made(entry, NULL, path, opts);
    if (entry->in_place)
        return facts_match_output(&entry->facts, NULL, path, &st) ||
               (shown_tells(entry) && shown_as_made(entry, NULL, path, opts));
    return (S_ISREG(st.st_mode) &&
            (uint64_t)st.st_size == entry->facts.written) ||
           shown_as_made(entry, NULL, path, opts);
}

static void check_output(struct tally *tally,
                         const struct checked_output *output,
                         const struct options *opts)
{
    const struct entry *entry = output->entry;
    struct err why;
    tally->outputs++;
    tally->undigested += !entry->shown;
    if (!output->there)
        fail(&why, "the output is gone: %s", strerror(output->why));
    else if (is_as_written(output, opts))
        return;
    else if ((uint64_t)output->st.st_size == entry->facts.written)
        fail(&why,
             "the output is not what %s has written; it has changed "
             "since",
             entry->op);
    else
        fail(&why,
             "the output has %jd bytes, not the %" PRIu64 " that were written",
             (intmax_t)output->st.st_size, entry->facts.written);
    tally->lost++;
    tally->relative +=
        !output->there && *entry->output != '/' && !entry->directory;
    report_file(output->index, entry, entry->output, why.text);
}

static void report_undigested(const struct tally *tally)
{
    struct err text;
    fail(&text,
         "of %zu of %zu outputs the manifest has no SHA-256, so they were not "
         "decoded; --digest notes it when they are made",
         tally->undigested, tally->outputs);
    report_error(NULL, text.text);
}

static int check_outputs(struct tally *tally,
                         const struct manifest_index *index,
                         const struct options *opts)
{
    struct checked_output *output = malloc((index->count + 1) * sizeof *output);
    if (!output)
        return -1;
    size_t count = keep_last(output, find_outputs(index, output));
    for (size_t i = 0; i < count; i++)
        check_output(tally, &output[i], opts);
    free(output);
    if (opts->digest && tally->undigested)
        report_undigested(tally);
    if (tally->relative && tally->relative == tally->outputs)
        report_error(NULL, "none of the outputs is here; their names are "
                           "relative to where the batch was started");
    return 0;
}

static void print_tally(const struct tally *tally, bool as_json)
{
    const struct {
        const char *name;
        size_t count;
    } counts[] = {
        { "done", tally->status[STATUS_DONE] },
        { "skipped", tally->status[STATUS_SKIPPED] },
        { "failed", tally->status[STATUS_FAILED] },
        { "ready", tally->status[STATUS_READY] },
        { "lost", tally->lost },
        { "twice", tally->twice },
        { "passed_over", tally->status[STATUS_PASSED_OVER] },
    };
    enum { COUNTS = sizeof counts / sizeof *counts };
    size_t shown = tally->status[STATUS_PASSED_OVER] ? COUNTS : COUNTS - 1;
    struct json_writer json = { .out = stdout };
    if (as_json)
        json_open(&json, NULL, '{');
    for (size_t i = 0; i < (as_json ? COUNTS : shown); i++)
        if (as_json)
            json_uint(&json, counts[i].name, counts[i].count);
        else
            printf("%s%zu %s", i ? ", " : "", counts[i].count, counts[i].name);
    if (as_json)
        json_close(&json, '}');
    putchar('\n');
}

static int check(struct manifest_index *index, const struct options *opts)
{
    struct tally tally = { 0 };
    int status = find_twice(index);
    if (status == 0) {
        sort(index);
        check_jobs(&tally, index);
        status = check_outputs(&tally, index, opts);
    }
    if (status) {
        report_error(NULL, "no memory");
        return BAD;
    }
    print_tally(&tally, opts->json);
    return tally.status[STATUS_FAILED] || tally.status[STATUS_READY] ||
                   tally.lost || tally.twice
               ? BAD
               : GOOD;
}

/* ---- The command ------------------------------------------------------- */

static int read_all(struct manifest_index *index, const char *const *name,
                    int count)
{
    struct err err;
    for (int i = 0; i < count; i++)
        if (manifest_index_read(index, name[i], &err)) {
            report_error(name[i], err.text);
            return -1;
        }
    return 0;
}

static int fail_usage(const char *const *word, int nwords, bool known)
{
    struct err err;
    if (nwords == 0)
        fail(&err, "a command is missing: gimgxf manifest merge|check FILE...");
    else if (!known)
        fail(&err, "unknown command '%s'; expected merge or check", word[0]);
    else
        fail(&err, "a manifest is missing: gimgxf manifest %s FILE...",
             word[0]);
    report_error(NULL, err.text);
    return USAGE;
}

int manifest_main(const struct options *opts)
{
    const char *const *word = opts->file;
    const int nwords = opts->nfiles;
    bool merging = nwords > 0 && strcmp(word[0], "merge") == 0;
    bool checking = nwords > 0 && strcmp(word[0], "check") == 0;
    struct manifest_index index = { .keep_lines = merging,
                                    .keep_done = checking };
    int status = BAD;
    if (nwords < 2 || (!merging && !checking))
        return fail_usage(word, nwords, merging || checking);
    setvbuf(stderr, NULL, _IOLBF, BUFSIZ); /* for a million messages */
    if (checking)
        sandbox_enter_to_read(opts);
    else
        sandbox_enter_for_files(word + 1, nwords - 1, opts);
    if (read_all(&index, word + 1, nwords - 1) == 0)
        status = merging ? merge(&index) : check(&index, opts);
    manifest_index_free(&index);
    return status;
}
