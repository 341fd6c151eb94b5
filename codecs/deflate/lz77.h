/* Encodes DEFLATE with matches, for rows of pixels and for what the filters of
 * PNG make of them. Data without matches become not much larger than by Huffman
 * codes alone. flate.h says why it stands beside libraries. */
#ifndef CODECS_DEFLATE_LZ77_H
#define CODECS_DEFLATE_LZ77_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codecs/deflate/block_split.h"

/* The tables of one thread, for one band after another. */
struct lz77;

/* For rows of so many bytes: the type of a filter, then pixels. Returns NULL
 * without memory. */
struct lz77 *lz77_new(size_t row, unsigned pixel);
void lz77_free(struct lz77 *m);

/* Which matches are looked for: of so many bytes and more. */
enum lz77_search {
    LZ77_PIXELS, /* of one pixel, from pixels on: the fastest. For noise that is
                    the same in all channels, and for lines with soft edges */
    LZ77_LONG,   /* of any six to eight bytes, by the size of pixels: for
                    repetition, and for what has little */
    LZ77_THREE,  /* of any three, each improved where it can be: the slowest */
};

/* Deflates `size` bytes to `out`, which has flate_bound(size) bytes, to a band
 * as struct flate has them. LZ77_PIXELS needs data that begin with a row.
 * Returns the number of bytes written. */
size_t lz77_deflate(struct lz77 *m, uint8_t *out, const uint8_t *data,
                    size_t before, size_t size, bool final,
                    enum lz77_search search);

/* Returns how many bits that would be, without the headers of blocks. Begins
 * with these costs, unless they are 0, and sets them to those at the end. */
size_t lz77_estimate(struct lz77 *m, const uint8_t *data, size_t before,
                     size_t size, enum lz77_search search,
                     struct symbol_costs *costs);

/* Returns how many positions of chains the last call has looked at: five a byte
 * and 1024 at most, whatever the data. */
size_t lz77_steps(const struct lz77 *m);

#endif
