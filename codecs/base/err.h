/* Reasons of failure, and warnings.
 *
 * This room, codecs/base, is what all others stand on: errors, bytes in memory,
 * byte order, UTF-8, the clock, memory and the thread pool. It knows nothing of
 * pictures, formats or files.
 *
 * A function that can fail takes a `struct err *`, and returns 0, or -1 with
 * the reason set where it is known: return fail(err, "%u rows are missing", n);
 * The text has no file name, no newline and no "error:"; cli/report.c adds
 * them. Text that comes from a file may have any byte: report.c escapes it. */
#ifndef CODECS_BASE_ERR_H
#define CODECS_BASE_ERR_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Its text has room for a message and some names of files. */
struct err {
    char text[1024];
    bool memory; /* memory has run out, and with more it would not have failed:
                    not a reason to go on without it */
    bool full;   /* the disk, or the user's quota, is full */
    bool unread; /* a limit or the system has kept a file from being read to its
                    end: it may be sound */
};

/* Sets the reason. Returns -1. */
__attribute__((format(printf, 2, 3))) int fail(struct err *err,
                                               const char *format, ...);

/* Sets the reason, and that the file may be sound. Returns -1. */
__attribute__((format(printf, 2, 3))) int fail_unread(struct err *err,
                                                      const char *format, ...);

/* Sets the reason, and that memory has run out. Returns -1. */
__attribute__((format(printf, 2, 3))) int fail_memory(struct err *err,
                                                      const char *format, ...);

/* Sets the reason why a system call failed: `what`, a colon, and the text of
 * errno; only that text if `what` is NULL. Returns -1. */
int fail_system(struct err *err, const char *what);

/* Sets the reason, which tells of another one, and is of the same kind. Returns
 * -1. */
__attribute__((format(printf, 3, 4))) int
fail_with(struct err *err, const struct err *other, const char *format, ...);

/* What a picture lost without failing, in order. At most WARNINGS_MAX are kept,
 * so that a hostile file cannot print without end. {0} is an empty list. */
enum { WARNINGS_MAX = 8 };

struct warnings {
    unsigned count; /* of all, also of those that were not kept */
    struct err list[WARNINGS_MAX];
};

/* Adds a warning. */
__attribute__((format(printf, 2, 3))) void warn(struct warnings *warnings,
                                                const char *format, ...);

#ifdef __cplusplus
}
#endif
#endif
