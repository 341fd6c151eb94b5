/* The one way to say what went wrong, and what was lost on the way.
 *
 * A function that can fail takes a `struct err *`, and returns 0, or -1 with
 * the reason set where it is known: return fail(err, "%u rows are missing", n);
 * The text has no file name, no newline and no "error:"; cli/report.c adds
 * them. Text that comes from a file may hold any byte: report.c escapes it. */
#ifndef CODECS_BASE_ERR_H
#define CODECS_BASE_ERR_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Room for what a message needs and for some names of files. */
struct err {
    char text[1024];
    bool memory; /* it went wrong for want of memory, and with more it would not
                    have: no reason to do without what was to be done */
    bool full;   /* it went wrong since the disk, or the user's share, is full */
};

/* Sets the reason and returns -1. */
__attribute__((format(printf, 2, 3))) int fail(struct err *err,
                                               const char *format, ...);

/* The same where memory has run out. */
__attribute__((format(printf, 2, 3))) int fail_memory(struct err *err,
                                                      const char *format, ...);

/* The same of a call to the system that failed: `what`, a colon, and what errno
 * means; no more than that if `what` is NULL. */
int fail_system(struct err *err, const char *what);

/* What a picture lost without failing, in order. At most WARNINGS_MAX are
 * kept: a hostile file shall not print without end. {0} is an empty list. */
enum { WARNINGS_MAX = 8 };

struct warnings {
    unsigned count; /* how many were given; those past the last are not kept */
    struct err list[WARNINGS_MAX];
};

__attribute__((format(printf, 2, 3))) void warn(struct warnings *warnings,
                                                const char *format, ...);

#ifdef __cplusplus
}
#endif
#endif
