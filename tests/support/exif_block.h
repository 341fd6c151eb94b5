/* EXIF blocks as the tests build and read them, with nothing of the code under
 * test. */
#ifndef TESTS_SUPPORT_EXIF_BLOCK_H
#define TESTS_SUPPORT_EXIF_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codecs/base/bytes.h"

struct exif_block {
    uint8_t data[1024];
    size_t size;
    bool big;
};

/* Begins an empty block, in this byte order. */
void block_start(struct exif_block *b, bool big);

/* Integers at a place of the block, in its byte order. */
void block_put16(struct exif_block *b, size_t at, unsigned v);
void block_put32(struct exif_block *b, size_t at, uint32_t v);
unsigned block_get16(const struct exif_block *b, size_t at);
uint32_t block_get32(const struct exif_block *b, size_t at);

/* Append to the block, and return the place of what they append. */
size_t block_add16(struct exif_block *b, unsigned v);
size_t block_add32(struct exif_block *b, uint32_t v);
size_t block_add_bytes(struct exif_block *b, const void *data, size_t size);

/* Types of values, as TIFF numbers them. */
enum { U8 = 1, ASCII = 2, U16 = 3, U32 = 4, RATIO = 5, UNDEFINED = 7 };

/* Appends an entry and returns its place. `value` is one number of the type, or
 * an offset. */
size_t block_add_entry(struct exif_block *b, unsigned tag, unsigned type,
                       uint32_t count, uint32_t value);

/* The place of the entry of a tag in a sound directory, or 0. */
size_t block_entry(const struct exif_block *b, size_t ifd, unsigned tag);

/* The value of the entry of a tag. */
uint32_t block_value(const struct exif_block *b, size_t ifd, unsigned tag);

/* A copy in memory of exactly the size of the block, to be freed. */
struct bytes block_bytes(const struct exif_block *b);

/* Marks `size` bytes from `at` on as bytes that may change. */
void block_allow(bool *may, size_t at, size_t size);

/* A block as a camera writes it, but with its directories in an unusual order,
 * and at odd offsets if asked to. */
struct camera_kind {
    bool big, odd;
    unsigned subject;  /* values of SubjectArea: 2, 3, 4 */
    bool thumb_inside; /* before other things, not at the end */
};

/* A block of a camera, and the places of its parts. */
struct camera {
    struct exif_block b;
    size_t ifd0, ifd1, exif, maker, area, thumb;
};

/* The size of its picture; sizes of its maker note and of its thumbnail. */
enum { W = 23, H = 11, MAKER = 24, THUMB = 20 };
extern const uint8_t camera_thumbnail[THUMB];

struct camera camera_block(struct camera_kind kind);

/* A test of every kind of block. */
void each_camera(void (*test)(struct camera_kind kind));
#define EACH_CAMERA(name)                                                      \
    static void name##_of(struct camera_kind kind);                            \
    TEST(name)                                                                 \
    {                                                                          \
        each_camera(name##_of);                                                \
    }                                                                          \
    static void name##_of(struct camera_kind kind)

#endif
