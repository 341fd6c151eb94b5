/* Which filter each row of a PNG gets: one for all rows, or the one for which
 * the row becomes the simplest, in one of several senses. Which is best no row
 * tells; idat_choice.h tries them. */
#ifndef CODECS_PNG_FILTER_CHOICE_H
#define CODECS_PNG_FILTER_CHOICE_H

#include <stddef.h>
#include <stdint.h>

#include "codecs/png/filter.h"

/* Behind the five types. */
enum {
    FILTER_LEAST_SUM = FILTER_TYPES, /* of absolute values: see filter_row() */
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
