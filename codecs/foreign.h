/* Formats that are recognized, but neither read nor written. */
#ifndef CODECS_FOREIGN_H
#define CODECS_FOREIGN_H

#include <stdbool.h>

#include "codecs/base/bytes.h"
#include "codecs/base/err.h"

enum { FOREIGN_MAGICS = 6 };

struct foreign {
    const char *title;    /* "WebP" */
    const char *what;     /* "a WebP picture" */
    const char *suffixes; /* lower case, with a space between them */
    struct magic {
        unsigned at, size;
        const char *bytes; /* that tell it for certain; NULL: no more */
    } magic[FOREIGN_MAGICS];
    bool (*is)(struct bytes head); /* by other signs; or NULL */
    const char *package; /* of a library with which it is read; NULL: none */
};

/* Returns the format of a file by its first bytes, of which 4096 are enough;
 * NULL if it is not one of these. A file that a codec reads may look like one,
 * so codec_probe() must be asked first. */
const struct foreign *foreign_probe(struct bytes head);

/* Returns a format by a suffix without its dot, in either case; NULL if there
 * is none. */
const struct foreign *foreign_by_suffix(const char *suffix);

/* Fails for a file that no codec reads: says what it is, as far as its first
 * bytes tell. Returns -1. */
int foreign_refuse_input(struct bytes head, struct err *err);

/* Fails for an output of such a format. Returns -1. */
int foreign_refuse_output(const struct foreign *foreign, struct err *err);

#endif
