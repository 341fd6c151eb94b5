/* PNG files as the tests make and read them, by the words of the standard. They
 * use nothing of libpng and of the code under test, and of zlib only crc32()
 * and compress2().
 *
 * A test that runs out of memory ends. */
#ifndef TESTS_SUPPORT_PNG_FILE_H
#define TESTS_SUPPORT_PNG_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codecs/base/byte_order.h"
#include "codecs/base/bytes.h"
#include "codecs/image/image.h"

/* Types of color, as IHDR has them. */
enum { GRAY = 0, RGB = 2, PALETTE = 3, GRAY_ALPHA = 4, RGB_ALPHA = 6 };

/* What IHDR says of a picture. */
struct shape {
    uint32_t width, height;
    unsigned depth, type;
    bool adam7;
};

/* How many samples a pixel has. */
unsigned shape_channels(const struct shape *s);

/* What the tests put into channel c of the pixel at x, y: noise, which differs
 * in all places. */
unsigned shape_sample(const struct shape *s, unsigned c, uint32_t x,
                      uint32_t y);

/* Section 8.2: the pixels of each pass of Adam7; or all of them in one. */
struct pass {
    uint32_t x, y, dx, dy, width, height;
};

/* Returns how many passes there are, without empty ones. */
unsigned shape_passes(const struct shape *s, struct pass pass[7]);

/* Bytes of a row of a pass, without that of its filter. */
size_t pass_row_bytes(const struct shape *s, const struct pass *p);

/* Section 9.4: which of three bytes Paeth takes. */
unsigned plain_paeth(unsigned a, unsigned b, unsigned c);

/* Sections 9.2 and 9.3: filters a row into `out`, or undoes it, given the one
 * above and the bytes of a pixel. */
void plain_filter(unsigned filter, bool undo, const uint8_t *row,
                  const uint8_t *above, size_t size, size_t pixel,
                  uint8_t *out);

/* ---- Making ---------------------------------------------------------------*/

/* Appends a chunk with its length and checksum. */
void add_chunk(struct bytes *file, const char *name, const void *data,
               size_t size);

/* Appends the signature and IHDR. */
void add_head(struct bytes *file, const struct shape *s);

/* All filters in turn, beginning with each. */
enum { FILTER_ALL = 5 };

/* Appends the rows of all passes, filtered. */
void add_rows(struct bytes *raw, const struct shape *s, unsigned filter);

/* Appends a zlib stream of the data. */
void add_deflated(struct bytes *to, const void *data, size_t size);

/* Appends a keyword with its zero, `lead` more zeros, and text, deflated or
 * not. */
void add_words(struct bytes *to, const char *keyword, size_t lead,
               bool deflated, struct bytes text);

/* As IDAT chunks of at most `piece` bytes. */
void add_pixels(struct bytes *file, const struct shape *s, unsigned filter,
                size_t piece);

/* A palette that has a color for each index. */
void add_palette(struct bytes *file, unsigned colors);

/* Appends IEND. */
void add_end(struct bytes *file);

/* A whole file that says nothing more than it must. */
struct bytes make_png(const struct shape *s, unsigned filter, size_t piece);

/* ---- Reading --------------------------------------------------------------*/

struct chunk {
    char name[5];
    const uint8_t *data; /* in the file */
    size_t size;
};

/* The chunks of a file, in their order. */
enum { CHUNKS_MAX = 200 };
struct chunks {
    struct chunk chunk[CHUNKS_MAX];
    size_t count;
};

/* Takes a file apart. Ends the test if it is not a PNG file from its first byte
 * to its last. */
struct chunks read_chunks(struct bytes file);

/* The first chunk of that name, or NULL. */
const struct chunk *find_chunk(const struct chunks *list, const char *name);

/* Whether it is there and holds this. */
bool chunk_is(const struct chunk *chunk, struct bytes data);

/* ---- As the codec has them ------------------------------------------------*/

/* A picture of this shape, of garbage; to be freed by image_free(). */
struct image shape_image(const struct shape *s);

/* Sets the sample of channel c at x, y. */
void image_set_sample(struct image *img, unsigned c, uint32_t x, uint32_t y,
                      unsigned value);

/* Whether the samples are these, side by side. */
bool image_holds(const struct image *img, const uint16_t *cells);

#endif
