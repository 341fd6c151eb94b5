/* What was done before, according to a manifest and to the files: --resume. */
#ifndef CLI_MANIFEST_RESUME_H
#define CLI_MANIFEST_RESUME_H

#include "cli/manifest/manifest_index.h"

/* {0} is empty. */
struct resume {
    struct manifest_index index;
    const char *name;           /* of the manifest */
    const struct options *opts; /* to decode what was replaced; needed where
                                   the manifest has digests */
    const char *op[32];         /* each operation that was done in place */
    size_t ops;
};

/* Reads a manifest, whose name must live as long. If it `may_lack`, a missing
 * file counts as an empty one. Returns 0, or -1 with a reason that has the
 * number of a bad line, but not the name of the file; resume_free() is needed
 * after both. */
int resume_read(struct resume *resume, const char *name, bool may_lack,
                struct err *err);

/* Recognizes jobs that the manifest has under other names, because it was
 * written from another directory, on another machine, or before files were
 * moved; resume_check() then knows them. To be called once, with all `count`
 * jobs, all of one operation. Returns 0; or -1 if it cannot be told what a file
 * is that is to be replaced in place, or if none of the files is known while
 * the manifest has others that are not where they were. */
int resume_recognize(struct resume *resume, size_t count,
                     struct record (*job)(void *context, size_t i),
                     void *context, struct err *err);

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

/* Returns whether a job, given by input, output, op and options, is still to be
 * done; if it was replaced, fills in job->facts. This looks at the
 * files: a job is to be done again if its output is gone or has another size,
 * or its input has changed since. A file that was replaced in place is done
 * once, but must be as it was written, by this operation or a later one, or
 * show what was written, where that is noted; if it is not, the reason is in
 * `err`. For any number of threads. */
enum verdict resume_check(const struct resume *resume, struct record *job,
                          struct err *err);

void resume_free(struct resume *resume);

#endif
