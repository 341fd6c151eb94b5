/* gimgxf manifest: merges several manifests, and checks them. */
#include "cli/manifest/manifest.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/json/json.h"
#include "cli/manifest/resume.h"
#include "cli/options/options.h"
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

/* ---- check ------------------------------------------------------------- */

struct manifest_check {
    const struct manifest_index *index;
    char here[PATH_MAX]; /* the current directory */
    size_t status[STATUS_DONE + 1];
    size_t lost; /* outputs that are gone, or not what was written */
};

/* Reports something of a file by its name as it was given; with the directory
 * that it started from, unless that is the current one. */
static void report_file(const struct manifest_check *c,
                        const struct entry *entry, const char *name,
                        const char *text)
{
    char path[PATH_MAX];
    bool elsewhere = entry->directory && strcmp(entry->directory, c->here) != 0;
    report_error(elsewhere && manifest_index_path(entry, name, path) ? path
                                                                     : name,
                 text);
}

/* Looks for the output below the directory that is noted; or, if that does not
 * exist, as on another machine, below the current one. Writes the name by which
 * it was found to `path`, of PATH_MAX bytes. Returns false and sets errno if it
 * is not there. */
static bool find_output(const struct entry *entry, char *path, struct stat *st)
{
    if (!manifest_index_path(entry, entry->output, path)) {
        errno = ENAMETOOLONG;
        return false;
    }
    if (stat(path, st) == 0)
        return true;
    int why = errno;
    if (entry->directory && *entry->output != '/' &&
        access(entry->directory, F_OK) && stat(entry->output, st) == 0) {
        snprintf(path, PATH_MAX, "%s", entry->output);
        return true;
    }
    errno = why;
    return false;
}

/* Checks the output of a job that is done: that it has the size that was
 * written, or, if it replaced its input, all that --resume looks at. */
static void check_output(struct manifest_check *c, const struct entry *entry)
{
    char path[PATH_MAX];
    struct stat st;
    struct err why;
    if (!find_output(entry, path, &st))
        fail(&why, "the output is gone: %s", strerror(errno));
    else if (!S_ISREG(st.st_mode) ||
             (uint64_t)st.st_size != entry->facts.written)
        fail(&why,
             "the output has %jd bytes, not the %" PRIu64 " that were written",
             (intmax_t)st.st_size, entry->facts.written);
    else if (!entry->in_place ||
             resume_is_as_written(&entry->facts, NULL, path, &st))
        return;
    else
        fail(&why,
             "the output is not what %s has written; it has changed since",
             entry->op);
    c->lost++;
    report_file(c, entry, entry->output, why.text);
}

/* Orders outputs by their places, and those of one place by time. */
static int by_output(const void *left, const void *right)
{
    const struct entry *a = *(const struct entry *const *)left;
    const struct entry *b = *(const struct entry *const *)right;
    int order = manifest_index_compare(&a->out, &b->out);
    order = order ? order : manifest_time_compare(a->facts.time, b->facts.time);
    return order ? order : by_job(a, b);
}

/* Checks the last output in each place, if it is known to be done. */
static int check_outputs(struct manifest_check *c)
{
    const struct entry **output =
        malloc((c->index->count + 1) * sizeof *output);
    size_t count = 0;
    if (!output)
        return -1;
    for (size_t i = 0; i < c->index->count; i++)
        if (c->index->entry[i].facts.status >= STATUS_READY)
            output[count++] = &c->index->entry[i];
    qsort(output, count, sizeof *output, by_output);
    for (size_t i = 0; i < count; i++)
        if (output[i]->facts.status == STATUS_DONE &&
            (i + 1 == count ||
             manifest_index_compare(&output[i]->out, &output[i + 1]->out)))
            check_output(c, output[i]);
    free(output);
    return 0;
}

static void print_counts(const struct manifest_check *c, bool as_json)
{
    const struct {
        const char *name;
        size_t count;
    } counts[] = {
        { "done", c->status[STATUS_DONE] },
        { "skipped", c->status[STATUS_SKIPPED] },
        { "failed", c->status[STATUS_FAILED] },
        { "ready", c->status[STATUS_READY] },
        { "lost", c->lost },
        { "passed_over", c->status[STATUS_PASSED_OVER] },
    };
    enum { COUNTS = sizeof counts / sizeof *counts };
    size_t shown = c->status[STATUS_PASSED_OVER] ? COUNTS : COUNTS - 1;
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
    struct manifest_check c = { .index = index };
    if (!getcwd(c.here, sizeof c.here))
        *c.here = '\0';
    sort(index);
    struct err text;
    for (size_t i = 0; i < c.index->count; i++) {
        const struct entry *entry = &c.index->entry[i];
        const char *error = entry->error;
        c.status[entry->facts.status]++;
        if (entry->facts.status == STATUS_FAILED)
            fail(&text, "%s failed: %s", entry->op,
                 error ? error : "no reason is noted");
        else if (entry->facts.status == STATUS_READY)
            fail(&text,
                 "%s was about to replace it%s%s; it is not noted "
                 "whether it did",
                 entry->op, error ? ", and failed: " : "", error ? error : "");
        else
            continue;
        report_file(&c, entry, entry->input, text.text);
    }
    if (check_outputs(&c)) {
        report_error(NULL, "no memory");
        return BAD;
    }
    print_counts(&c, opts->json);
    return c.status[STATUS_FAILED] || c.status[STATUS_READY] || c.lost ? BAD
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

int manifest_main(const struct options *opts)
{
    const char *const *word = opts->file;
    const int nwords = opts->nfiles;
    bool merging = nwords > 0 && strcmp(word[0], "merge") == 0;
    bool checking = nwords > 0 && strcmp(word[0], "check") == 0;
    struct manifest_index index = { .keep_lines = merging };
    int status = BAD;
    if (nwords < 2 || (!merging && !checking)) {
        const bool known = merging || checking;
        struct err err;
        if (nwords == 0)
            fail(&err,
                 "a command is missing: gimgxf manifest merge|check FILE...");
        else if (!known)
            fail(&err, "unknown command '%s'; expected merge or check",
                 word[0]);
        else
            fail(&err, "a manifest is missing: gimgxf manifest %s FILE...",
                 word[0]);
        report_error(NULL, err.text);
        return USAGE;
    }
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
