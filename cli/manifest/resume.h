/* What was done before, according to a manifest and to the files: --resume. */
#ifndef CLI_MANIFEST_RESUME_H
#define CLI_MANIFEST_RESUME_H

#include "cli/files/path.h"
#include "cli/files/resolve.h"
#include "cli/manifest/manifest.h"
#include "cli/select/file_identity.h"
#include "codecs/base/bytes.h"

/* A manifest in memory: each job once, with the line about it that counts. {0}
 * is empty. */
struct resume {
    const char *name; /* of the manifest */
    void *by_key;     /* the jobs that it has, as tsearch() has them */
    struct resume_entry **found; /* the entry of each job of a batch, or NULL */
    struct file_identities places;
    struct string_arena strings;
    struct bytes key; /* of the job that was looked for last */
    /* Of the first files that were replaced in place, and how many of them are
     * not there any more. */
    unsigned replaced, gone;
};

/* The jobs of a batch, which are of one operation. */
struct resume_jobs {
    size_t count;
    struct record (*job)(void *context, size_t i);
    void *context;
};

/* Reads a manifest, whose name must live as long, and
 * looks up all jobs in it. Spellings of names, and links to directories, do not
 * matter, nor do options if the output is the input. If it `may_lack`, a
 * missing file counts as an empty one. Returns 0; or -1 with a reason that does
 * not have the name of the manifest: a line is not a record, though not cut
 * short. resume_free() is needed after both. */
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
 * that was replaced in place is done once, but must be as it was written; if it
 * is not, also where a later operation has replaced it once more, the reason is
 * in `err`. For any number of threads. */
enum verdict resume_check(const struct resume *resume, size_t i,
                          struct record *job, struct err *err);

void resume_free(struct resume *resume);

#endif
