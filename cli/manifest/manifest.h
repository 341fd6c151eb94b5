/* What became of each file of a batch, a line of JSON for each, so that a batch
 * that was ended can go on, and that several can be put together.
 *
 * Lines are appended, each with one write(), by any number of threads. A job is
 * an input, an output, an operation and options together, or without options
 * where the output is the input; the last line about it is the one that holds,
 * but "skipped", which says that nothing was done, takes nothing back that was,
 * and "failed" does not take back "ready". A line that was cut by the end of the program is
 * passed over when it is read, wherever it stands. */
#ifndef CLI_MANIFEST_MANIFEST_H
#define CLI_MANIFEST_MANIFEST_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "cli/files/resolve.h"
#include "codecs/base/bytes.h"
#include "codecs/base/err.h"

/* A file, whatever it is called, until it is replaced. */
struct inode_id {
    uint64_t device, inode;
    bool known;
};

/* What a line says. Strings are the caller's; NULL is left out. */
struct record {
    const char *input, *output;
    struct root *input_root, *output_root; /* of a job: where they are looked
                                              up, as in struct job */
    const char *directory; /* from where they are, if relative: NULL for the
                              current one, which manifest_note() notes */
    const char *op;      /* canonical: "rotate90" */
    const char *options; /* that bear on what is written: options.shape */
    const char *status;  /* "done", "skipped", "failed"; "ready": it is about to
                            replace its input by what is told here; or
                            "passed_over": it was found, but is not read, and
                            has neither output nor op */
    const char *format;  /* of what was passed over, as "HEIC" */
    const char *how;     /* "lossless" and so on, of what is done */
    const char *error;   /* of what failed */
    uint64_t size;       /* of the input, in bytes, as it was read */
    struct timespec mtime; /* its last modification; both 0: never known */
    struct inode_id file;  /* the input, as it was read */
    uint64_t written;      /* bytes of the output, of "done" and "ready" */
    struct inode_id made;  /* the output, of "done", and */
    struct timespec made_time; /* its last modification, if that is known */
    uint32_t crc;          /* of the output, CRC-32 (ISO 3309), if `summed`, as
                              "ready" has to be */
    bool summed;
};

struct manifest;

/* Opens a manifest to append to; what is there already stays, and has to be one:
 * nothing is appended to a picture. "-" is standard output. Errors name the
 * file. */
int manifest_open(struct manifest **manifest, const char *name,
                  struct err *err);

/* Appends a line. `safe`: it is on the disk when this returns. Errors say no
 * more than the reason. */
int manifest_note(struct manifest *manifest, const struct record *record,
                  bool safe, struct err *err);

/* Errors say that it cannot be written, but not its name. */
int manifest_close(struct manifest *manifest, struct err *err);

/* ---- What was done before: --resume ---- */

struct resume;

/* Reads a manifest. If it `may_lack`, one that is not there counts as one
 * that is empty. What is wrong with a line is said with its number. Errors do
 * not name the file. */
int resume_read(struct resume **resume, const char *name, bool may_lack,
                struct err *err);

/* Looks for jobs that the manifest does not know by their names: it may have
 * been written from another directory, on another machine, or before files were
 * moved. What is found is known to resume_check() from then on. To be called
 * once, with all jobs. -1: the manifest speaks of files that are to be replaced
 * in place, and nobody can tell whether they are these. */
int resume_recognize(struct resume *resume, size_t count,
                     struct record (*job)(void *context, size_t i),
                     void *context, struct err *err);

enum verdict {
    VERDICT_TODO,
    VERDICT_DONE,
    VERDICT_REPLACED, /* it was about to be replaced, and it was: that it is
                         done is still to be noted */
    VERDICT_CHANGED, /* nobody can tell: it was about to be replaced, and is now
                        neither what it was nor what it was to become; or it was
                        replaced, and is not what was written */
};

/* What is to be done of a job, of which input, output, op and options are set;
 * size, mtime and written are filled in if it was replaced.
 * Looks at the files: an output that is gone or has another size, or an input
 * that has changed since, is to be done again; what was replaced in place was
 * its own input and is done once, but has to be as it was written, by this
 * operation or a later one. Why nobody can tell is in `err`. For any number of
 * threads. */
enum verdict resume_check(const struct resume *resume, struct record *job,
                          struct err *err);

void resume_free(struct resume *resume);

/* ---- gimgxf manifest ---- */

/* merge: prints the line that holds of each job, sorted by input. check: says
 * what is done, failed, missing or done twice. Gives an exit status. */
int manifest_main(const char *const *word, int nwords, bool json);

#endif
