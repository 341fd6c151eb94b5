/* What was done before, according to a manifest and to the files: --resume. */
#ifndef CLI_MANIFEST_RESUME_H
#define CLI_MANIFEST_RESUME_H

#include "cli/manifest/manifest.h"

struct resume;

/* Reads a manifest. If it `may_lack`, a missing file counts as an empty one.
 * Returns 0, or -1 with a reason that has the number of a bad line, but not the
 * name of the file. */
int resume_read(struct resume **resume, const char *name, bool may_lack,
                struct err *err);

/* Recognizes jobs that the manifest has under other names, because it was
 * written from another directory, on another machine, or before files were
 * moved; resume_check() then knows them. To be called once, with all `count`
 * jobs. Returns 0; or -1 if the manifest has files that are to be replaced in
 * place, and it cannot be told whether they are these. */
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
 * done; if it was replaced, fills in size, mtime and written. This looks at the
 * files: a job is to be done again if its output is gone or has another size,
 * or its input has changed since. A file that was replaced in place is done
 * once, but must be as it was written, by this operation or a later one; if it
 * is not, the reason is in `err`. For any number of threads. */
enum verdict resume_check(const struct resume *resume, struct record *job,
                          struct err *err);

void resume_free(struct resume *resume);

#endif
