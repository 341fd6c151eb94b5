/* What was done before, according to a manifest, and to the files. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/manifest/manifest_index.h"
#include "cli/manifest/recognize.h"
#include "cli/manifest/timestamp.h"
#include "cli/manifest/written.h"

enum { OPS_MAX = 32 };

struct resume {
    struct manifest_index ledger;
    char *name;
    const char *op[OPS_MAX]; /* what was done in place, each operation once */
    size_t ops;
};

/* There are fewer operations than OPS_MAX; a manifest that tells of more was
 * not written by this program. */
static void list_ops(struct resume *history)
{
    const struct manifest_index *ledger = &history->ledger;
    for (size_t i = 0; i < ledger->count; i++) {
        const struct entry *entry = &ledger->entry[i];
        size_t k = 0;
        if (!entry->in_place || entry->held.told < TOLD_READY)
            continue;
        while (k < history->ops && strcmp(history->op[k], entry->op) != 0)
            k++;
        if (k == history->ops && k < OPS_MAX)
            history->op[history->ops++] = entry->op;
    }
}

int resume_read(struct resume **history, const char *name, bool may_lack,
                struct err *err)
{
    struct resume *h = calloc(1, sizeof *h);
    if (!h)
        return fail_memory(err, "no memory");
    h->name = strdup(name);
    if (!h->name) {
        resume_free(h);
        return fail_memory(err, "no memory");
    }
    bool absent = may_lack && access(name, F_OK) && errno == ENOENT;
    if (!absent && manifest_index_read(&h->ledger, name, err)) {
        resume_free(h);
        return -1;
    }
    list_ops(h);
    *history = h;
    return 0;
}

int history_recognize(struct resume *history, size_t count,
                      struct record (*job)(void *context, size_t i),
                      void *context, struct err *err)
{
    const struct jobs jobs = { count, job, context };
    return recognize(&history->ledger, &jobs, err);
}

void resume_free(struct resume *history)
{
    if (!history)
        return;
    manifest_index_free(&history->ledger);
    free(history->name);
    free(history);
}

/* ---- The files --------------------------------------------------------- */

/* As the input was when it was read. */
static bool is_as_read(const struct stat *st, const struct telling *telling)
{
    return (uint64_t)st->st_size == telling->size &&
           timestamp_compare(st->st_mtim, telling->mtime) == 0;
}

static bool is_as_long_as_written(const struct stat *st,
                                  const struct telling *telling)
{
    return S_ISREG(st->st_mode) && (uint64_t)st->st_size == telling->written;
}

/* Whether a later operation has replaced the file once more, and it is as that
 * has written it: so nobody else has changed it. */
static bool was_turned_on(const struct resume *history,
                          const struct record *job, const struct entry *entry,
                          const struct stat *st)
{
    for (size_t i = 0; i < history->ops; i++) {
        struct record other = *job;
        other.op = history->op[i];
        const struct entry *next =
            manifest_index_find(&history->ledger, &other);
        if (next && next != entry && next->held.told >= TOLD_READY &&
            timestamp_compare(next->held.time, entry->held.time) >= 0 &&
            written_matches(&next->held, job->output_root, job->output, st))
            return true;
    }
    return false;
}

/* ---- What nobody can tell ---------------------------------------------- */

static enum verdict leave_ready(struct err *err)
{
    fail(err, "a run was ended while it replaced this file, which has changed "
              "since: it may be turned or not; --resume leaves it alone");
    return VERDICT_CHANGED;
}

/* What was done, and yet is not as it was written. */
static enum verdict leave_done(const struct resume *history,
                               const struct record *job,
                               const struct telling *held,
                               const struct stat *st, struct err *err)
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
             is_as_read(st, held)
                 ? "is as it was before that; it may have been restored"
                 : "has changed since; it may be a new picture, or another "
                   "program has edited it",
             history->name);
    if (fd >= 0)
        close(fd);
    return VERDICT_CHANGED;
}

/* ---- The verdict ------------------------------------------------------- */

/* Between "ready" and "done" the input became the output, or did not. By its
 * bytes first: its size and times may be the same before and after. */
static enum verdict of_ready(const struct record *job,
                             const struct telling *held, struct err *err)
{
    struct stat st;
    if (!resolve_stat(job->output_root, job->output, true, &st))
        return leave_ready(err);
    if (is_as_long_as_written(&st, held) &&
        written_has_sum(held, job->output_root, job->output))
        return VERDICT_REPLACED;
    bool ambiguous = !held->summed && held->size == held->written;
    return is_as_read(&st, held) && !ambiguous ? VERDICT_TODO
                                               : leave_ready(err);
}

/* The input became the output. If it is gone, nothing is left to be turned; if
 * there is another one, it must be neither turned nor passed over in silence.
 */
static enum verdict of_replaced(const struct resume *history,
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
    if (written_matches(&entry->held, job->output_root, job->output, &st) ||
        was_turned_on(history, job, entry, &st))
        return VERDICT_DONE;
    return leave_done(history, job, &entry->held, &st, err);
}

/* An input may be gone once its output is there. One that is the same file
 * under another name was replaced. */
static enum verdict of_done(const struct resume *history,
                            const struct record *job, const struct entry *entry,
                            struct err *err)
{
    struct stat in, out;
    if (entry->in_place)
        return of_replaced(history, job, entry, err);
    if (!resolve_stat(job->output_root, job->output, true, &out))
        return VERDICT_TODO;
    if (resolve_stat(job->input_root, job->input, true, &in)) {
        if (in.st_dev == out.st_dev && in.st_ino == out.st_ino)
            return of_replaced(history, job, entry, err);
        if (!is_as_read(&in, &entry->held))
            return VERDICT_TODO;
    } else if (errno != ENOENT && errno != ENOTDIR) {
        return VERDICT_TODO; /* and it will be said why it cannot be read */
    }
    return is_as_long_as_written(&out, &entry->held) ? VERDICT_DONE
                                                     : VERDICT_TODO;
}

enum verdict resume_says(const struct resume *history, struct record *job,
                         struct err *err)
{
    const struct entry *entry = manifest_index_find(&history->ledger, job);
    if (entry && entry->held.told == TOLD_DONE)
        return of_done(history, job, entry, err);
    if (!entry || entry->held.told != TOLD_READY)
        return VERDICT_TODO;
    job->size = entry->held.size;
    job->mtime = entry->held.mtime;
    job->file = entry->held.file;
    job->written = entry->held.written;
    job->crc = entry->held.crc;
    job->summed = entry->held.summed;
    return of_ready(job, &entry->held, err);
}
