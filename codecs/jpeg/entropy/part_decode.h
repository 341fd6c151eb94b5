/* A run of blocks that one thread decodes: the loop in which the time of
 * reading a picture goes. */
#ifndef CODECS_JPEG_ENTROPY_PART_DECODE_H
#define CODECS_JPEG_ENTROPY_PART_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codecs/jpeg/entropy/entropy_blocks.h"
#include "codecs/jpeg/entropy/huffman_table.h"

/* A block takes up to 27 bits for the DC coefficient, and 26 for each of 63
 * others: so many bytes may be read behind the end, and 8 more at once. */
enum { PART_PADDING = 256 };

/* Where each position of the zigzag order goes, and the bit of that; those that
 * no block has go to 64, and have none. */
struct part_order {
    uint8_t at[256];
    uint64_t bit[256];
};

/* What the blocks of an MCU are coded by, one after the other. */
struct part_coding {
    unsigned blocks;
    uint8_t component[ENTROPY_MCU_BLOCKS];
    const struct huffman_decoder *dc[ENTROPY_MCU_BLOCKS];
    const struct huffman_decoder *ac[ENTROPY_MCU_BLOCKS];
    struct huffman_decoder dc_table[ENTROPY_TABLES], ac_table[ENTROPY_TABLES];
    bool alike; /* all blocks are coded by the same tables */
    struct part_order order;
};

/* Bits of bytes without stuffing, of which the next one is the highest. */
struct bit_reader {
    uint64_t bits;
    unsigned count;    /* how many of them are there for certain */
    const uint8_t *at; /* the byte after them */
};

/* What one thread decodes. */
struct part {
    const struct part_coding *coding;
    struct bit_reader in;
    unsigned next;        /* which block of an MCU comes next */
    const uint8_t *base;  /* from where positions count */
    const uint8_t *limit; /* no block starts behind it */
    struct entropy_block *block;
    size_t count, room; /* of the blocks; room 0: they are the picture's own */
    struct entropy_values values;
    uint16_t index;
    int64_t dc[ENTROPY_COMPONENTS]; /* the last ones */
    bool odd; /* one of them was out of range, which a guess may be */
    bool failed, no_memory;
    bool late;        /* the time was over, and so it has failed */
    size_t unchecked; /* blocks since the clock was looked at */

    /* Of a part that begins with a guess. */
    uint64_t begin, end; /* positions, in bits */
    uint32_t *start;     /* of the first blocks, from `begin` on */
    size_t nstarts;
    size_t first; /* which of the blocks is the first that is right, */
    size_t place; /* and where in the picture it belongs */
    int64_t offset[ENTROPY_COMPONENTS]; /* to the true DC coefficients */
};

/* Sets what the blocks of a scan are coded by. Returns false if a table is
 * none, or has what no sequential scan of 8 bits has. `coding` is {0} before.
 */
bool part_set_coding(struct part_coding *coding,
                     const struct entropy_scan *scan, bool transposes);

/* Returns whether a DC coefficient is one of 8-bit samples. */
static inline bool part_dc_is_sound(int64_t dc)
{
    return dc >= -ENTROPY_DC_MAX && dc < ENTROPY_DC_MAX;
}

/* Lets the next block, the first of an MCU, start at a position; the DC
 * coefficients before it are 0. */
void part_seek(struct part *p, uint64_t position);

/* Returns where the next block starts, in bits from `base`. */
uint64_t part_position(const struct part *p);

/* Appends up to n blocks, as far as they start before position `end`. At damage
 * the part fails, and appends no more; without memory likewise. */
void part_append(struct part *p, size_t n, uint64_t end);

#endif
