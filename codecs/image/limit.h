/* Limits of a picture. The message about one that is larger names what it
 * needs, the limit, and the option that raises it. */
#ifndef CODECS_IMAGE_LIMIT_H
#define CODECS_IMAGE_LIMIT_H

#include <stdint.h>

#include "codecs/base/err.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The most columns or rows. */
enum { IMAGE_DIMENSION = 0x7fffffff };

/* The most bytes of memory for a picture that may be a bomb. */
enum { LIMIT_SPARSE = 512 << 20 };

struct account;
struct scratch;

/* What a picture from outside may ask for. */
struct limits {
    uint64_t pixels;
    uint64_t bytes; /* of memory for cells, source and turned together */
    uint64_t file;  /* the bytes of the file whose size has set this limit; 0:
                       --max-memory has set it */
    struct account *account; /* of the file; NULL: its work has no limit */
    /* A picture whose cells are more than this, since its file says next to
     * nothing about each, gets no more than LIMIT_SPARSE bytes; 0: it does. */
    uint64_t sparse_from;
    /* Where the pixels of a picture go that needs more, if they are no more
     * than so many bytes; NULL: it is refused. Set only for codecs that can
     * read and write such. */
    const struct scratch *scratch;
    uint64_t stored;
    /* Called with the number of these bytes before they are allocated; may wait
     * until there is room. NULL: nothing is called. */
    void (*reserve)(void *context, uint64_t bytes);
    void *context;
};

/* Returns the bytes of memory that a picture may take whose cells are so many.
 */
static inline uint64_t limit_bytes(const struct limits *limits, uint64_t cells)
{
    bool sparse = limits->sparse_from && cells > limits->sparse_from;
    if (sparse && limits->bytes > LIMIT_SPARSE)
        return LIMIT_SPARSE;
    return limits->bytes;
}

/* All other functions return -1, with the reason; a check may return 0. */

/* Of a picture with too many pixels, or too many to a side. */
int limit_refuse_pixels(uint64_t width, uint64_t height,
                        const struct limits *limits, struct err *err);

/* Of an animation whose frames have too many pixels together. */
int limit_refuse_frames(uint32_t frames, uint64_t pixels,
                        const struct limits *limits, struct err *err);

/* Of what needs too many bytes, for a limit that the user or the file has set.
 * `what` ends in a verb, as "9 x 9 pixels need". UINT64_MAX: more than can be
 * counted. */
int limit_refuse_memory(const char *what, uint64_t bytes,
                        const struct limits *limits, struct err *err);

/* Fails if so few bytes are left of those that the samples of a damaged file
 * need that hardly anything of a large picture is there, and --max-memory has
 * not set the limit. */
int limit_check_cut(uint64_t left, uint64_t need, const struct limits *limits,
                    struct err *err);

/* Of a file of so many bytes that takes more than the limit, with all that is
 * made of it. */
int limit_refuse_all(uint64_t file, uint64_t limit, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
