/* Manifests: what became of each file of a batch.
 *
 * This room writes a line of JSON for each job of a batch, so that a batch that
 * was interrupted can be resumed (resume.h); manifests one behind the other are
 * a manifest. Jobs and their results come in as struct record; lines, and
 * verdicts about what is done, go out. It knows nothing of how jobs are run,
 * and of pictures nothing at all.
 *
 * Lines are appended, each with one write(), by any number of threads. A job is
 * identified by its input, output, operation and options; without the options
 * if the output is the input. The last line about a job counts, but "skipped",
 * which says that nothing was done, does not override what was done before, and
 * "failed" does not override "ready". A line that is cut short, because the
 * program was ended, is ignored wherever it stands. */
#ifndef CLI_MANIFEST_MANIFEST_H
#define CLI_MANIFEST_MANIFEST_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "codecs/base/err.h"

enum manifest_status {
    STATUS_SKIPPED,
    STATUS_FAILED,
    STATUS_READY, /* the input is about to be replaced by such an output */
    STATUS_DONE,
};

/* As lines have it: "skipped", ... */
extern const char *const manifest_status_name[STATUS_DONE + 1];

/* What a line says of a job and its files. Times are 0 where not known. */
struct facts {
    enum manifest_status status;
    uint64_t size;             /* of the input as it was read, in bytes */
    struct timespec mtime;     /* its last modification */
    uint64_t written;          /* bytes of the output, of "done" and "ready" */
    struct timespec made_time; /* its last modification, of "done" */
    uint32_t crc;              /* CRC-32 (ISO 3309) of the output, if */
    bool summed;               /* that is known, as it must be of "ready" */
};

/* What a line says. Strings are the caller's; NULL is left out. */
struct record {
    const char *input, *output;
    struct root *input_root, *output_root; /* of a job: where names are looked
                                              up, as in struct job */
    const char *directory; /* that relative names start from; NULL: the current
                              one, which manifest_note() writes */
    const char *op;        /* canonical: "rotate90" */
    const char *options;   /* that affect the output: options.shape */
    const char *how;       /* of a job that is done: "lossless" and so on */
    const char *error;     /* of a job that failed */
    struct facts facts;
};

struct manifest;

/* Opens a manifest to append to it. The name must live
 * as long. A file that exists must be a manifest: nothing is appended to a
 * picture. It is locked until it is closed, also by processes that inherit it,
 * as two runs at once would not know what the other one replaces. Returns 0,
 * with a warning if the file system has no locks; or -1 with a reason that
 * names the file. */
int manifest_open(struct manifest **manifest, const char *name,
                  struct warnings *warnings, struct err *err);

/* Keeps others from writing to a manifest that is only read, until the program
 * ends. Returns as manifest_open() does. */
int manifest_hold(const char *name, struct warnings *warnings, struct err *err);

/* Appends a line. If `safe`, it is on the disk on return. Returns 0, or -1 with
 * a reason that does not name the file. For any number of threads. */
int manifest_note(struct manifest *manifest, const struct record *record,
                  bool safe, struct err *err);

/* Closes and frees. Returns as manifest_note() does. */
int manifest_close(struct manifest *manifest, struct err *err);

/* Reads a point in time, "2026-11-21T20:07:21.123456789Z". Returns false if a
 * text is not what writing makes of a time. */
bool manifest_time_read(const char *text, struct timespec *time);

#endif
