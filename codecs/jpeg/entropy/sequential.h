/* Files of sequential JPEG with Huffman codes: their frame and their scans.
 *
 * What suits is what SOF0 and SOF1 say of 8-bit samples (T.81, B.2.2), of up to
 * 4 components, each of which stands in one scan. */
#ifndef CODECS_JPEG_ENTROPY_SEQUENTIAL_H
#define CODECS_JPEG_ENTROPY_SEQUENTIAL_H

#include "codecs/base/bytes.h"
#include "codecs/base/thread_pool.h"
#include "codecs/image/image.h"
#include "codecs/image/scan_turner.h"
#include "codecs/image/xform.h"
#include "codecs/jpeg/arithmetic.h"
#include "codecs/jpeg/entropy/entropy.h"
#include "codecs/jpeg/entropy/marker.h"

/* ---- The blocks of a scan: decode.c, encode.c ---------------------------- */

enum {
    ENTROPY_PARTS = 64,
    ENTROPY_BLOCK_VALUES = 80, /* values that one block may write */
};

/* The blocks of a scan, in the order in which it codes them. */
struct entropy_blocks {
    struct entropy_block *block;
    size_t count;
    uint16_t *values[2 * ENTROPY_PARTS]; /* of struct entropy_block.part; the
                          second half is of blocks that have been replaced */
    unsigned parts;
    size_t size; /* bytes of the data that they were decoded from; or 0 */
};

/* Fine on {0}, and twice. */
void entropy_blocks_free(struct entropy_blocks *blocks);

/* A list of values, which grows. */
struct entropy_values {
    uint16_t *value;
    size_t count, room;
};

/* Makes room for about so many values. Returns false without memory. */
bool entropy_values_grow(struct entropy_values *list, size_t room);

/* Makes room for those of one more block. Returns false without memory. */
static inline bool entropy_values_reserve(struct entropy_values *list)
{
    return list->count + ENTROPY_BLOCK_VALUES <= list->room ||
           entropy_values_grow(list, list->room * 2);
}

/* Decodes the data of a scan, from behind its header up to the marker behind
 * it. With `transposes` each block is given transposed. Several threads share
 * the work; the result does not depend on them.
 *
 * Returns 0; or -1 without memory, or if anything is odd about the data: a code
 * that no table has, more coefficients than a block has, bytes that are missing
 * or left over, restart markers that are wrong; or once the time of the file is
 * over. What it is, whoever reads the file with libjpeg can tell. The blocks
 * are to be freed in any case. */
int entropy_decode(struct entropy_blocks *blocks,
                   const struct entropy_scan *scan, struct bytes data,
                   bool transposes, struct thread_pool *pool, struct err *err);

/* How often each symbol is coded, by table. */
struct entropy_statistics {
    uint64_t dc[ENTROPY_TABLES][256], ac[ENTROPY_TABLES][256];
};

/* Where the blocks of a picture come from: decoded from `scan`, transposed if
 * the turn does so, of components that may have been cut to what `columns` and
 * `rows` of struct entropy_component say now. */
struct entropy_source {
    const struct entropy_blocks *blocks;
    const struct entropy_scan *scan;
    enum xform turn;
};

/* Appends the data of scan `to`: its components are those of the source, after
 * the turn. Several threads share the work; what is written does not depend on
 * them. *bits becomes how many bits it has before they are stuffed; or 0 where
 * a table has no code for a symbol that is needed, and what has been appended
 * is of no use. Returns -1 without memory, or once the time is over. */
int entropy_encode(struct bytes *file, const struct entropy_scan *to,
                   const struct entropy_source *from, uint64_t *bits,
                   struct thread_pool *pool, struct err *err);

/* Counts the symbols that this would code. Returns -1 as that does. */
int entropy_count(struct entropy_statistics *counts,
                  const struct entropy_scan *to,
                  const struct entropy_source *from, struct thread_pool *pool,
                  struct err *err);

/* ---- Files ----------------------------------------------------------------
 */

/* A picture: how it is coded, and its blocks where these have been read. */
struct sequential {
    uint8_t frame;          /* the marker: SOF0, SOF1 */
    uint32_t width, height; /* in pixels, as stored */
    unsigned components;
    struct sequential_component component[ENTROPY_COMPONENTS];
    uint16_t steps[4][64]; /* quantization tables, rows of steps */
    enum xform turn; /* what will be done to the blocks of the picture that this
                        is made of, when they are written */
    unsigned scans;
    struct sequential_scan {
        struct entropy_scan coding;
        uint8_t component[ENTROPY_COMPONENTS]; /* which of the frame's */
        struct bytes data; /* borrowed: its coded data, as it was read */
        struct entropy_blocks blocks;
    } scan[ENTROPY_COMPONENTS];
};

/* Reads the headers of a file up to the end of its picture and finds the data
 * of its scans, without decoding them: *end is where what follows EOI begins.
 *
 * Returns -1 if the file is of another kind, if anything is odd about it, or if
 * it has metadata between its scans: libjpeg can tell. */
int sequential_find(struct sequential *s, struct bytes file, size_t *end,
                    struct err *err);

/* Reads the same, and the blocks of all scans; with `transposes` these are
 * given transposed. Returns -1 also without memory. `s` is to be freed in any
 * case. */
int sequential_read(struct sequential *s, struct bytes file, bool transposes,
                    struct thread_pool *pool, size_t *end, struct err *err);

/* Takes the header of a frame of any kind (T.81, B.2.2). Returns false if it is
 * malformed, or the second one. */
bool sequential_read_frame(struct sequential *s, const struct marker *m);

/* Returns which component of the frame has this identifier; -1 if none. */
int sequential_component(const struct sequential *s, uint8_t id);

/* Sets the sizes of all scans by those of the picture and the sampling of its
 * components. */
void sequential_set_sizes(struct sequential *s);

/* Cuts a picture that has been read to its first columns and rows. Writes
 * nothing if it is cut so: a device may be reading it by then. */
void sequential_trim(struct sequential *s, uint32_t width, uint32_t height);

/* Returns the MCUs between restart markers after a turn that makes `now` MCUs a
 * row of `before`. Whole rows stay whole rows, where that can be written:
 * decoders of strips begin at such places. */
uint32_t sequential_restart(uint32_t restart, uint32_t before, uint32_t now);

/* Makes `to` what `from` is after a turn, without its blocks. */
void sequential_turn(struct sequential *to, const struct sequential *from,
                     enum xform turn);

/* Who computes with blocks one by one: with that of component c of the picture
 * in column x and row y, as rows of coefficients, transposed where all are.
 * Several threads call it, for different rows. */
struct block_visitor {
    bool wants[ENTROPY_COMPONENTS];
    void (*visit)(void *context, unsigned c, uint32_t x, uint32_t y,
                  int16_t block[64]);
    void *context;
};

/* Shows the blocks of those components that are wanted. */
void sequential_show(const struct sequential *s,
                     const struct block_visitor *visitor,
                     struct thread_pool *pool);

/* Makes them what the visitor writes, or if there are none, which is {0}, all
 * of them. They can be replaced once. Returns -1 without memory, or if a
 * coefficient is out of the range of 8-bit samples. */
int sequential_replace(struct sequential *s,
                       const struct block_visitor *visitor,
                       struct thread_pool *pool, struct err *err);

/* Makes the blocks of all scans out of those of img: planes of CELL_DCT, one a
 * component; or writes all blocks, which are not transposed, to such planes.
 * Returns -1 without memory, or if a coefficient is out of range. */
int sequential_take_planes(struct sequential *s, const struct image *img,
                           struct thread_pool *pool, struct err *err);
void sequential_give_planes(const struct sequential *s, const struct image *img,
                            struct thread_pool *pool);

/* Appends the picture `to`, which is `from` after to->turn, from its first
 * quantization table to EOI: all of a file but SOI and the segments that stand
 * before. The Huffman tables of a scan stay if they have every code that is
 * needed. Else they get the codes that they lack, as far as scan.coding.most
 * lets them. Else, and if `optimize`, they become the shortest. Returns -1
 * without memory, or if a coefficient is out of range. */
int sequential_write(struct bytes *file, struct sequential *to,
                     const struct sequential *from, bool optimize,
                     struct thread_pool *pool, struct err *err);

/* Such a picture after a turn that is made elsewhere. */
struct sequential_turned {
    struct sequential to;
    struct scan_turn scan[ENTROPY_COMPONENTS];
    struct scan_samples samples[ENTROPY_COMPONENTS][ENTROPY_COMPONENTS];
    struct scan_pixels pixels;
    struct upsampling upsampling[3];
};

/* Appends what it has made, as sequential_write() does, with the steps that it
 * has chosen. Returns -1 without memory. */
int sequential_write_turned(struct bytes *file,
                            struct sequential_turned *turned, struct err *err);

/* Fine on {0}, and twice. */
void sequential_free(struct sequential *s);

#endif
