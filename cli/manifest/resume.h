/* What was done before, according to a manifest and to the files: --resume. */
#ifndef CLI_MANIFEST_RESUME_H
#define CLI_MANIFEST_RESUME_H

#include <sys/stat.h>

#include "cli/files/resolve.h"
#include "cli/manifest/manifest_index.h"

/* {0} is empty. */
struct resume {
    struct manifest_index index;
    const char *name;   /* of the manifest */
    const char *op[32]; /* each operation that was done in place */
    size_t ops;
    size_t *found; /* of each job: the number of its entry plus 1, or 0 */
};

/* The jobs of a batch, which are of one operation. */
struct resume_jobs {
    size_t count;
    struct record (*job)(void *context, size_t i);
    void *context;
};

/* Reads a manifest, whose name must live as long, and looks up all jobs in it.
 * If it `may_lack`, a missing file counts as an empty one. Returns 0; or -1
 * with a reason that does not have the name of the manifest, but the number of
 * a bad line; or if files are to be replaced in place of which none is known,
 * while others that were are not where they were: they may be these.
 * resume_free() is needed after both. */
int resume_read(struct resume *resume, const char *name, bool may_lack,
                const struct resume_jobs *jobs, struct err *err);

enum verdict {
    VERDICT_TODO,
    VERDICT_DONE,
    VERDICT_REPLACED, /* it was about to be replaced, and was: that it is done
                         must still be noted */
    VERDICT_CHANGED, /* it cannot be told whether it is done: it was about to be
                        replaced, and is now neither what it was nor what it was
                        to become; or it was replaced, and is not what was
                        written */
};

/* Returns whether the i-th job is still to be done; if it was replaced, fills
 * in job->facts. This looks at the files: a job is to be done again if its
 * output is gone or has another size, or its input has changed since. A file
 * that was replaced in place is done once, but must be as it was written, by
 * this operation or a later one; if it is not, the reason is in `err`. For any
 * number of threads. */
enum verdict resume_check(const struct resume *resume, size_t i,
                          struct record *job, struct err *err);

void resume_free(struct resume *resume);

/* Returns whether a file is what a line with "done" or "ready" says was
 * written: by size and time, and if these do not decide, by the checksum. The
 * name is confined to the root, unless that is NULL; `st` is the file's. */
bool resume_is_as_written(const struct facts *facts, struct root *root,
                          const char *name, const struct stat *st);

#endif
