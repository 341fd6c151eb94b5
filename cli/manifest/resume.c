/* What was done before, according to a manifest and to the files. */
#include "cli/manifest/resume.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/files/files.h"

/* ---- The manifest ------------------------------------------------------- */

/* Fails if files of the manifest that were replaced by this operation are not
 * where they were. */
static int refuse_lost(const struct manifest_index *index, const char *op,
                       struct err *err)
{
    const char *first = NULL;
    size_t lost = 0;
    for (size_t i = 0; i < index->count; i++) {
        const struct entry *entry = &index->entry[i];
        char path[PATH_MAX];
        if (!entry->in_place || entry->facts.status < STATUS_READY ||
            strcmp(entry->op, op) != 0 ||
            !manifest_index_path(entry, entry->input, path) ||
            access(path, F_OK) == 0)
            continue;
        first = lost++ ? first : entry->input;
    }
    if (!lost)
        return 0;
    return fail(
        err,
        "none of these files is in the manifest, and %zu that are, such "
        "as %s, are not where they were; these may be they, turned "
        "already; name them as before, or begin another manifest",
        lost, first);
}

int resume_read(struct resume *resume, const char *name, bool may_lack,
                const struct resume_jobs *jobs, struct err *err)
{
    const size_t count = jobs->count;
    bool absent = may_lack && access(name, F_OK) && errno == ENOENT;
    bool known = false, in_place = false;
    resume->name = name;
    if (!absent && manifest_index_read(&resume->index, name, err))
        return -1;
    resume->found = calloc(count + 1, sizeof *resume->found);
    if (!resume->found)
        return fail(err, "no memory to look up %zu files", count);
    for (size_t i = 0; i < count; i++) {
        const struct record one = jobs->job(jobs->context, i);
        if (manifest_index_find(&resume->index, &one, &resume->found[i], err))
            return -1;
        known = known || resume->found[i];
        in_place = in_place || strcmp(one.input, one.output) == 0;
    }
    return in_place && !known ? refuse_lost(&resume->index,
                                            jobs->job(jobs->context, 0).op, err)
                              : 0;
}

void resume_free(struct resume *resume)
{
    manifest_index_free(&resume->index);
    free(resume->found);
    resume->found = NULL;
}

/* ---- The files --------------------------------------------------------- */

static bool is_at(struct timespec a, struct timespec b)
{
    return manifest_time_compare(a, b) == 0;
}

static bool is_as_long(const struct facts *facts, const struct stat *st)
{
    return S_ISREG(st->st_mode) && (uint64_t)st->st_size == facts->written;
}

/* Returns whether a file has the size and time of the input as it was read. */
static bool is_input(const struct facts *facts, const struct stat *st)
{
    return (uint64_t)st->st_size == facts->size &&
           is_at(st->st_mtim, facts->mtime);
}

/* Returns whether the file has the size and the checksum that the line has;
 * false also if it cannot be read. */
static bool has_sum(const struct facts *facts, struct root *root,
                    const char *name)
{
    uint64_t size;
    uint32_t crc;
    return facts->summed && file_checksum(root, name, &size, &crc) &&
           size == facts->written && crc == facts->crc;
}

/* With --preserve the output may have the size and time of the input, and an
 * original that is restored has them as well. */
bool resume_is_as_written(const struct facts *facts, struct root *root,
                          const char *name, const struct stat *st)
{
    const bool same_time = is_at(st->st_mtim, facts->made_time);
    const bool timed = facts->made_time.tv_sec || facts->made_time.tv_nsec;
    const bool alike =
        facts->size == facts->written && is_at(facts->mtime, facts->made_time);
    if (!is_as_long(facts, st))
        return false;
    if (timed && same_time && !alike)
        return true;
    return facts->summed ? has_sum(facts, root, name) : !timed || same_time;
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
             is_input(facts, st)
                 ? "is as it was before that; it may have been restored"
                 : "has changed since; it may be a new picture, or another "
                   "program has edited it",
             resume->name);
    if (fd >= 0)
        close(fd);
    return VERDICT_CHANGED;
}

/* ---- The verdict ------------------------------------------------------- */

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
    return resume_is_as_written(&entry->facts, job->output_root, job->output,
                                &st)
               ? VERDICT_DONE
               : leave_done(resume, job, &entry->facts, &st, err);
}

enum verdict resume_check(const struct resume *resume, size_t i,
                          struct record *job, struct err *err)
{
    const size_t found = resume->found[i];
    const struct entry *entry = found ? &resume->index.entry[found - 1] : NULL;
    if (entry && entry->facts.status == STATUS_DONE) {
        /* Its input may be gone once its output is there. An input that is the
         * same file under another name was replaced. */
        struct stat in, out;
        if (entry->in_place)
            return of_replaced(resume, job, entry, err);
        if (!resolve_stat(job->output_root, job->output, true, &out))
            return VERDICT_TODO;
        if (resolve_stat(job->input_root, job->input, true, &in)) {
            if (in.st_dev == out.st_dev && in.st_ino == out.st_ino)
                return of_replaced(resume, job, entry, err);
            if (!is_input(&entry->facts, &in))
                return VERDICT_TODO;
        } else if (errno != ENOENT && errno != ENOTDIR) {
            return VERDICT_TODO; /* and then the reason is reported */
        }
        return is_as_long(&entry->facts, &out) ? VERDICT_DONE : VERDICT_TODO;
    }
    if (!entry || entry->facts.status != STATUS_READY)
        return VERDICT_TODO;
    job->facts = entry->facts;
    /* It is "ready": its input became the output, or did not. The bytes decide
     * first, since size and times may be the same before and after. */
    struct stat st;
    if (!resolve_stat(job->output_root, job->output, true, &st))
        return leave_ready(err);
    if (is_as_long(&entry->facts, &st) &&
        has_sum(&entry->facts, job->output_root, job->output))
        return VERDICT_REPLACED;
    bool ambiguous =
        !entry->facts.summed && entry->facts.size == entry->facts.written;
    return is_input(&entry->facts, &st) && !ambiguous ? VERDICT_TODO
                                                      : leave_ready(err);
}
