/* What was done before, according to a manifest and to the files: --resume. */
#ifndef CLI_MANIFEST_RESUME_H
#define CLI_MANIFEST_RESUME_H

#include <sys/stat.h>

#include "cli/files/path.h"
#include "cli/files/resolve.h"
#include "cli/manifest/manifest.h"
#include "cli/select/file_identity.h"

/* ---- A manifest in memory (manifest_index.c) ----
 *
 * Each job once, with the line about it that counts. */

/* Where a name leads: a directory, as file_identity_directory() has it, and the
 * last component. */
struct place {
    const char *directory, *base;
    size_t nbase;
};

/* A job. Its strings belong to the index, and are as the first line about it
 * has them. */
struct entry {
    const char *input, *output, *op;
    const char *directory; /* that its names start from; NULL: not noted, and
                              taken to be the current directory */
    const char *options;   /* "" if the line has none */
    const char *error;     /* of the line that counts, or of a failure since it
                              was ready; NULL: none */
    const char *line;      /* the whole line; NULL unless lines are kept */
    struct facts facts;    /* of the line that counts */
    struct place in, out;
    bool in_place; /* the output is the input */
    uint64_t hash;
};

/* {0} is empty. */
struct manifest_index {
    bool keep_lines; /* to print them */
    struct entry *entry;
    size_t count, capacity;
    size_t *slot; /* of a hash table: the number of an entry plus 1, or 0 */
    size_t slots; /* a power of two */
    unsigned manifests; /* that were read */
    struct file_identities places;
    struct string_arena strings; /* all of them */
    const char *op, *options,
        *directory; /* the last ones: most are like them */
};

/* Adds all lines of a manifest, "-" for standard input. Of two lines about a
 * job in one manifest the later one counts; in two manifests, the one that was
 * noted later. Returns 0, or -1 if a line is not a record, though not cut
 * short; the reason has its number, or says that the file is not a manifest. */
int manifest_index_read(struct manifest_index *index, const char *name,
                        struct err *err);

/* Finds the entry of a job, given by input, output, op and options: its number
 * plus 1, or 0 if there is none. Spellings of names, and links to directories,
 * do not matter, nor do options if the output is the input. Returns 0; or -1 if
 * a name is too long, or without memory. */
int manifest_index_find(struct manifest_index *index, const struct record *job,
                        size_t *found, struct err *err);

/* Writes the path of a name of an entry to `path`, of PATH_MAX bytes. Returns
 * false if it is too long. */
bool manifest_index_path(const struct entry *entry, const char *name,
                         char *path);

/* Compares two places, as strcmp() does. */
int manifest_index_compare(const struct place *a, const struct place *b);

void manifest_index_free(struct manifest_index *index);

/* ---- What was done before ---- */

/* {0} is empty. */
struct resume {
    struct manifest_index index;
    const char *name; /* of the manifest */
    size_t *found;    /* of each job: the number of its entry plus 1, or 0 */
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
 * that was replaced in place is done once, but must be as it was written; if it
 * is not, also where a later operation has replaced it once more, the reason is
 * in `err`. For any number of threads. */
enum verdict resume_check(const struct resume *resume, size_t i,
                          struct record *job, struct err *err);

void resume_free(struct resume *resume);

/* Returns whether a file is what a line with "done" or "ready" says was
 * written: by size and time, and if these do not decide, by the checksum. The
 * name is confined to the root, unless that is NULL; `st` is the file's. */
bool resume_is_as_written(const struct facts *facts, struct root *root,
                          const char *name, const struct stat *st);

#endif
