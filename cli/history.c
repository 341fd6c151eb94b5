/* What was done before, according to a manifest, and to the files. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/checksum.h"
#include "cli/ledger.h"
#include "cli/recognize.h"
#include "cli/stamp.h"

struct history {
    struct ledger ledger;
};

int history_read(struct history **history, const char *name, bool may_lack,
                 struct err *err)
{
    struct history *h = calloc(1, sizeof *h);
    if (!h)
        return fail(err, "no memory");
    bool absent = may_lack && access(name, F_OK) && errno == ENOENT;
    if (!absent && ledger_read(&h->ledger, name, err)) {
        history_free(h);
        return -1;
    }
    *history = h;
    return 0;
}

int history_recognize(struct history *history, size_t count,
                      struct record (*job)(void *context, size_t i),
                      void *context, struct err *err)
{
    const struct jobs jobs = { count, job, context };
    return recognize(&history->ledger, &jobs, err);
}

void history_free(struct history *history)
{
    if (history)
        ledger_free(&history->ledger);
    free(history);
}

/* ---- The files --------------------------------------------------------- */

/* As the input was when it was read. */
static bool is_as_read(const struct stat *st, const struct telling *telling)
{
    return (uint64_t)st->st_size == telling->size &&
           stamp_compare(st->st_mtim, telling->mtime) == 0;
}

static bool is_as_long_as_written(const struct stat *st,
                                  const struct telling *telling)
{
    return S_ISREG(st->st_mode) && (uint64_t)st->st_size == telling->written;
}

static bool is_what_was_written(const char *name, const struct telling *telling)
{
    uint64_t size;
    uint32_t crc;
    return checksum_file(name, &size, &crc) && size == telling->written &&
           telling->summed && crc == telling->crc;
}

/* ---- The verdict ------------------------------------------------------- */

/* Between "ready" and "done" the input became the output, or did not. By its
 * bytes first: its size and times may be the same before and after. */
static enum verdict of_ready(const struct record *job,
                             const struct telling *held)
{
    struct stat st;
    if (stat(job->output, &st))
        return VERDICT_CHANGED;
    if (is_as_long_as_written(&st, held) &&
        is_what_was_written(job->output, held))
        return VERDICT_REPLACED;
    bool ambiguous = !held->summed && held->size == held->written;
    return is_as_read(&st, held) && !ambiguous ? VERDICT_TODO : VERDICT_CHANGED;
}

/* An input may be gone once its output is there. One that is the same file
 * under another name was replaced. */
static enum verdict of_done(const struct record *job,
                            const struct entry *entry)
{
    struct stat in, out;
    if (entry->in_place)
        return VERDICT_DONE;
    if (stat(job->output, &out))
        return VERDICT_TODO;
    if (stat(job->input, &in) == 0) {
        if (in.st_dev == out.st_dev && in.st_ino == out.st_ino)
            return VERDICT_DONE;
        if (!is_as_read(&in, &entry->held))
            return VERDICT_TODO;
    } else if (errno != ENOENT && errno != ENOTDIR) {
        return VERDICT_TODO; /* and it will be said why it cannot be read */
    }
    return is_as_long_as_written(&out, &entry->held) ? VERDICT_DONE
                                                     : VERDICT_TODO;
}

enum verdict history_says(const struct history *history, struct record *job)
{
    const struct entry *entry = ledger_find(&history->ledger, job);
    if (entry && entry->held.told == TOLD_DONE)
        return of_done(job, entry);
    if (!entry || entry->held.told != TOLD_READY)
        return VERDICT_TODO;
    job->size = entry->held.size;
    job->mtime = entry->held.mtime;
    job->file = entry->held.file;
    job->written = entry->held.written;
    job->crc = entry->held.crc;
    job->summed = entry->held.summed;
    return of_ready(job, &entry->held);
}
