/* The filters of PNG (Third Edition, section 9): applying and undoing them.
 *
 * In all functions `size` is the number of bytes in a row, which may be any,
 * and `pixel` the distance in bytes to the same sample of the pixel to the
 * right: 1, 2, 3, 4, 6 or 8; 1 if pixels are smaller than bytes. `prior` is the
 * row above, unfiltered, and all zeros above the first row. Rows need not be
 * aligned and do not overlap, and nothing beyond their bytes is read or
 * written. */
#ifndef CODECS_PNG_FILTER_H
#define CODECS_PNG_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The values of the byte before each row in a file. */
enum {
    FILTER_NONE,
    FILTER_SUB,
    FILTER_UP,
    FILTER_AVERAGE,
    FILTER_PAETH,
    FILTER_TYPES
};

/* Undoes a filter in place. Returns false if there is no filter of this type.
 */
bool filter_undo_row(unsigned type, uint8_t *row, const uint8_t *prior,
                     size_t size, unsigned pixel);

/* Writes 1 + size bytes to `out`: the type, one of the five, and the filtered
 * row. */
void filter_row_with(unsigned type, uint8_t *out, const uint8_t *row,
                     const uint8_t *prior, size_t size, unsigned pixel);

/* ---- The same functions for several kinds of CPU --------------------------*/

/* `type` is one of the five. */
struct filters {
    const char *name;
    bool (*usable)(void); /* on this machine */
    void (*undo)(unsigned type, uint8_t *row, const uint8_t *prior, size_t size,
                 unsigned pixel);
    void (*apply)(unsigned type, uint8_t *out, const uint8_t *row,
                  const uint8_t *prior, size_t size, unsigned pixel);
    /* Sums how far each filter's predictions of the row are off. */
    void (*measure)(uint64_t sum[FILTER_TYPES], const uint8_t *row,
                    const uint8_t *prior, size_t size, unsigned pixel);
};

/* Call f with `pixel`, or `type`, as the last argument, which is a constant in
 * each call, so that an inlined f is compiled for each of them. */
#define FILTER_BY_PIXEL(pixel, f, ...)                                         \
    ((pixel) == 1   ? f(__VA_ARGS__, 1)                                        \
     : (pixel) == 2 ? f(__VA_ARGS__, 2)                                        \
     : (pixel) == 3 ? f(__VA_ARGS__, 3)                                        \
     : (pixel) == 4 ? f(__VA_ARGS__, 4)                                        \
     : (pixel) == 6 ? f(__VA_ARGS__, 6)                                        \
                    : f(__VA_ARGS__, 8))
#define FILTER_BY_TYPE(type, f, ...)                                           \
    ((type) == FILTER_NONE      ? f(__VA_ARGS__, FILTER_NONE)                  \
     : (type) == FILTER_SUB     ? f(__VA_ARGS__, FILTER_SUB)                   \
     : (type) == FILTER_UP      ? f(__VA_ARGS__, FILTER_UP)                    \
     : (type) == FILTER_AVERAGE ? f(__VA_ARGS__, FILTER_AVERAGE)               \
                                : f(__VA_ARGS__, FILTER_PAETH))

/* The best first; the last is portable. Ended by NULL. Tests take each of them
 * from here, whichever this machine would choose. */
extern const struct filters *const filters[];

/* What is faster in vectors of 16 bytes, by SSE4.1. */
void filter_undo_sse4(unsigned type, uint8_t *row, const uint8_t *prior,
                      size_t size, unsigned pixel);

/* Undoes a filter in plain C from a byte on, where a pixel begins. */
void filter_undo_from(unsigned type, uint8_t *row, const uint8_t *prior,
                      size_t from, size_t size, unsigned pixel);

/* ---- Which filter a row gets ----------------------------------------------*/

/* Which filter each row of a PNG gets: one for all rows, or the one for which
 * the row becomes the simplest, in one of several senses. Which is best no row
 * tells; idat_choice.c tries them. */

/* Behind the five types. */
enum {
    FILTER_LEAST_SUM = FILTER_TYPES, /* of differences: nearly as section 12.7
                                        proposes */
    FILTER_LEAST_ENTROPY,            /* of bytes */
    FILTER_FEWEST_PAIRS, /* of bytes side by side that differ from others: few
                            where letters and lines repeat */
    FILTER_CHOICES
};

/* Filters a row as filter_row_with() does. `spare` has 1 + size bytes for the
 * last two choices, else it may be NULL. */
void filter_row_by(unsigned choice, uint8_t *out, const uint8_t *row,
                   const uint8_t *prior, size_t size, unsigned pixel,
                   uint8_t *spare);

#endif
