/* Boxes, of which the files of HEIF, AVIF, JPEG XL and CR3 consist
 * (ISO/IEC 14496-12, 4.2): a size, a type, and what is in it, other boxes
 * perhaps. */
#ifndef CODECS_BASE_BOX_H
#define CODECS_BASE_BOX_H

#include <string.h>

#include "codecs/base/bytes.h"
#include "codecs/base/err.h"

/* Positions in the file. */
struct box {
    size_t begin, body, end; /* of its size, of what is in it, and its end */
    char type[5];            /* ended by a NUL */
    bool open;               /* its size is 0: it goes on to the end */
};

/* Reads the box that begins at `at`, within what ends at `end`, which is no
 * more than the size of the file. Returns false if there is none, or if it does
 * not end there. */
bool box_read(struct box *box, struct bytes file, size_t at, size_t end);

/* Finds the first box of this type from `at` up to `end`. Returns false if
 * there is none before one that is malformed. */
bool box_find(struct box *box, const char *type, struct bytes file, size_t at,
              size_t end);

/* Writes the new size of a box where a copy of it begins. Fails if the field of
 * the box is too short for it. */
int box_resize(uint8_t *to, const struct box *box, uint64_t size,
               struct err *err);

static inline bool box_is(const struct box *box, const char *type)
{
    return memcmp(box->type, type, 4) == 0;
}

#endif
