/* Files that are recognized, but neither read nor written: what they are called
 * and which program makes a picture of another format of them. */
#ifndef CODECS_FOREIGN_H
#define CODECS_FOREIGN_H

#include <stdbool.h>

#include "codecs/base/bytes.h"
#include "codecs/base/err.h"

struct foreign {
    const char *title;           /* "WebP" */
    const char *what;            /* "a WebP picture" */
    const char *const *suffixes; /* lower case, ended by NULL */
    const char *to_png; /* a command that makes a PNG or PNM of one; or NULL */
    const char *from_png; /* a command that makes one of a PNG; or NULL */
};

/* Tells a file by its first bytes; 4096 are enough. Returns NULL if it is none
 * of these. A file that a codec reads has to be told by codec_probe() before.
 */
const struct foreign *foreign_probe(struct bytes head);

/* Finds a format by a suffix without its dot, in either case. Returns NULL if
 * there is none. */
const struct foreign *foreign_by_suffix(const char *suffix);

/* Says of a file that no codec reads what it is, and what to do with it, as far
 * as its first bytes tell. Returns -1. */
int foreign_refuse_input(struct bytes head, struct err *err);

/* Says that a format, which is not written, is not. Returns -1. */
int foreign_refuse_output(const struct foreign *foreign, struct err *err);

#endif
