/* The filters of PNG (Third Edition, section 9), and how they are undone.
 *
 * In all that follows `size` is the number of bytes in a row, which may be any,
 * and `pixel` the number of bytes from one to that which stands for the same
 * sample a pixel to the right: 1, 2, 3, 4, 6 or 8; 1 if pixels are smaller than
 * bytes. `prior` is the row above, as it was before it was filtered, and all
 * zeros above the first row. Rows need not be aligned and do not overlap, and
 * nothing is read or written but them. */
#ifndef CODECS_PNG_FILTER_H
#define CODECS_PNG_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As the byte before each row in a file has them. */
enum {
    FILTER_NONE,
    FILTER_SUB,
    FILTER_UP,
    FILTER_AVERAGE,
    FILTER_PAETH,
    FILTER_TYPES
};

/* Undoes a filter, in place. False: there is none of this type. */
bool filter_undo_row(unsigned type, uint8_t *row, const uint8_t *prior,
                     size_t size, unsigned pixel);

/* Writes 1 + size bytes to `out`: the type of a filter, and what it makes of
 * the row. `type` is one of the five. */
void filter_row_with(unsigned type, uint8_t *out, const uint8_t *row,
                     const uint8_t *prior, size_t size, unsigned pixel);

/* The same with the filter that section 12.7 proposes: that whose bytes, taken
 * as signed, have the smallest sum of absolute values; of several the first. */
void filter_row(uint8_t *out, const uint8_t *row, const uint8_t *prior,
                size_t size, unsigned pixel);

/* ---- The same functions for several kinds of CPU --------------------------*/

/* Tests take each from the table, whichever this machine would choose. */
struct filters {
    const char *name;
    bool (*usable)(void); /* on this machine */
    void (*undo[FILTER_TYPES])(uint8_t *row, const uint8_t *prior, size_t size,
                               unsigned pixel);
    /* `out` is without the type. */
    void (*apply[FILTER_TYPES])(uint8_t *out, const uint8_t *row,
                                const uint8_t *prior, size_t size,
                                unsigned pixel);
    /* The sum of what each filter would make of the row. */
    void (*measure)(uint64_t sum[FILTER_TYPES], const uint8_t *row,
                    const uint8_t *prior, size_t size, unsigned pixel);
};

/* The best first; the last is portable. Ended by NULL. */
extern const struct filters *const filters[];
extern const struct filters filters_avx2, filters_portable;

/* How they are called with the size of a pixel as a constant. */
#define FILTER_BY_PIXEL(function, pixel, ...)                                  \
    do {                                                                       \
        if ((pixel) == 1)                                                      \
            function(__VA_ARGS__, 1);                                          \
        else if ((pixel) == 2)                                                 \
            function(__VA_ARGS__, 2);                                          \
        else if ((pixel) == 3)                                                 \
            function(__VA_ARGS__, 3);                                          \
        else if ((pixel) == 4)                                                 \
            function(__VA_ARGS__, 4);                                          \
        else if ((pixel) == 6)                                                 \
            function(__VA_ARGS__, 6);                                          \
        else                                                                   \
            function(__VA_ARGS__, 8);                                          \
    } while (0)

#endif
