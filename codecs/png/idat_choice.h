/* How the bands of a PNG are filtered and deflated: by what is tried.
 *
 * The filter is chosen for all bands before any is deflated, since matches
 * refer to what the rows before a band have become. Usually one is chosen for
 * all, by strips of the picture, and more are tried if all of these repeat
 * much; where size counts, one for each band, by what optimal.h would make of
 * parts of it.
 *
 * The strips also tell which matches are worth looking for. Whether any are is
 * asked of a part of each band: many photographs have next to none, so that
 * Huffman codes alone do, at twice the speed and more; screenshots are made of
 * matches. */
#ifndef CODECS_PNG_IDAT_CHOICE_H
#define CODECS_PNG_IDAT_CHOICE_H

#include "codecs/png/idat_bands.h"

/* Chooses the filter of each band. Returns -1 with the reason if rows cannot be
 * read. */
int idat_choice_make(struct idat_bands *b, struct err *err);

/* Filters and deflates band i to `out`. Returns the number of bytes, or 0 on
 * failure, and sets *filtered to its filtered rows in the scratch memory. */
size_t idat_choice_deflate(const struct idat_bands *b,
                           struct idat_scratch *scratch, uint32_t i,
                           uint8_t *out, const uint8_t **filtered);

#endif
