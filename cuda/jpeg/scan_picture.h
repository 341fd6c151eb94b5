/* What the kernels of this room work on: the pictures of a batch, and their
 * arrays in the memory of the device.
 *
 * scan_stuff.h, scan_tile.h, scan_samples.h and scan_encode.h
 * hold what one thread does between two barriers: the same on
 * the GPU and in tests on the host. A batch goes through them in this order:
 *
 *   unstuff   bytes without stuffing, and where restart intervals begin
 *   decode    subsequences find out where their first blocks begin; then
 *             they write struct entropy_block, and lists of values
 *   encode    how many bits the blocks have, in the order of the turned scan;
 *             then these bits
 *   stuff     bytes with stuffing
 *
 * In between, prefix sums over each picture tell where results go.
 * scan_kernels.h has what a block does. */
#ifndef CUDA_JPEG_SCAN_PICTURE_H
#define CUDA_JPEG_SCAN_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codecs/jpeg/entropy/entropy.h"
#include "codecs/jpeg/entropy/huffman_table.h"
#include "cuda/jpeg/scan_pixels.h"
#include "cuda/jpeg/scan_samples.h"
#include "cuda/jpeg/scan_word.h"

enum {
    SCAN_THREADS = 256, /* of a block of most kernels */
    SCAN_VECTOR = 16,   /* bytes that a thread stuffs or unstuffs */
    SCAN_CHUNK = SCAN_THREADS * SCAN_VECTOR,

    /* A thread decodes the blocks that begin in a subsequence. */
    SCAN_SUBSEQUENCE = 1024, /* bits */
    SCAN_WORDS = SCAN_SUBSEQUENCE / 32,
    SCAN_TILE = 256, /* subsequences of a block of threads: the first ones */
    SCAN_BEFORE = 8, /* belong to the tile before, and only help to find where
                        the others begin; */
    SCAN_OWN = SCAN_TILE - SCAN_BEFORE, /* these are its own */
    SCAN_GROUP = 4,                     /* values that are stored at once */
    SCAN_JOIN_THREADS = 32,
    SCAN_JOIN_ROUNDS = 4, /* in which a tile may learn from the one before */

    /* What may be read behind the data, which is 0: a block has up to 1728
     * bits (27 and 63 times 26 at most), and a word more is read. */
    SCAN_PADDING = 256,
    SCAN_STAGED = SCAN_TILE * SCAN_WORDS + SCAN_PADDING / 4, /* words */
    SCAN_CODES = 12 << 10, /* entries of all decoding tables of a picture */

    SCAN_DC_SYMBOLS = 16,
    SCAN_SYMBOLS = ENTROPY_TABLES * (SCAN_DC_SYMBOLS + 256), /* of a picture */
    SCAN_BYTES_MAX = 1 << 28, /* of one scan: bits are counted in 32 bits */
};

/* A decoding table: most codes are looked up by the highest of the next 16
 * bits, without the last `shift` of them, from entry `at` on. Long codes are at
 * the end of all numbers of 16 bits, from `limit` on: they are looked up by the
 * whole number, which is added to `tail`. */
struct scan_code {
    uint32_t limit;
    int32_t tail;
    uint32_t lookup; /* at | shift << 16 | next << 24: which table follows, as
                        in struct scan_picture.code: behind a difference of DC,
                        or behind the last value of a block */
    uint32_t lane;   /* bits: its place in struct scan_counts.dc */
} __attribute__((aligned(16))); /* so that all is loaded at once */

/* An entry: bits 0..4 the bits that the code and its value take, 5..8 those of
 * the value, 9..15 how many coefficients it moves on by, or one of these. */
enum { SCAN_END = 64, SCAN_NO_CODE = 127 };

/* A component after the turn, and where its blocks come from. */
struct scan_component {
    uint32_t columns, rows; /* of blocks that hold samples, after the turn */
    uint8_t across, down;   /* blocks in an MCU */
    uint8_t dc, ac;         /* tables */
    uint8_t first;          /* block in an MCU */
    uint8_t turn;           /* enum xform */
    uint8_t from_across, from_down, from_first, from_blocks;
    bool made;             /* of samples */
    uint32_t from_columns; /* of MCUs */
    uint64_t block;        /* the first of struct scan_params.block, */
    uint64_t value;        /* and that to which their lists refer */
};

struct scan_picture {
    /* The scan as it comes. */
    uint64_t input;         /* where in the input */
    uint32_t raw_size;      /* bytes, stuffed */
    uint32_t chunk, chunks; /* of these bytes */
    uint64_t data;          /* where the bytes without stuffing go */
    uint64_t start;         /* the first interval in struct scan_params.start */
    uint32_t intervals;
    uint32_t interval_blocks;
    uint32_t blocks;       /* all */
    uint32_t tile;         /* the first tile, of SCAN_OWN subsequences */
    uint64_t subsequence;  /* the first one */
    uint64_t block, value; /* the first ones */
    uint32_t values;       /* for how many there is room */
    uint32_t value_bits;   /* that each of them has at least */
    uint32_t mcu_blocks;
    uint64_t codes;      /* the first entry of its tables, */
    uint32_t codes_size; /* of which there are so many */
    /* The tables of each block of an MCU: that of DC, that of AC. */
    struct scan_code code[2 * ENTROPY_MCU_BLOCKS];

    /* The turned scan. */
    struct scan_component to[ENTROPY_COMPONENTS];
    uint8_t to_component[ENTROPY_MCU_BLOCKS];
    uint32_t samples; /* the first component that goes through samples */
    uint32_t to_mcu_blocks;
    uint32_t to_columns; /* of MCUs */
    uint32_t to_mcus;    /* 0: it becomes samples */
    uint32_t restart;    /* MCUs of an interval; all of them without markers */
    uint32_t to_blocks;  /* all */
    uint32_t to_tile, to_tiles; /* of SCAN_THREADS blocks */
    uint64_t length;            /* the first length */
    uint64_t marker;            /* the first restart marker */
    uint64_t symbols;           /* its tables: four of DC, four of AC */
    struct pixels_picture pixels;
};

/* Where a picture goes once its size is known. */
struct scan_output {
    uint64_t word; /* of the joined bits */
    uint32_t chunk, chunks;
    uint32_t size; /* bytes without stuffing */
    uint32_t unused;
};

enum {
    SCAN_OUT = 1,         /* it is refused */
    SCAN_LACKS = 2,       /* its tables lack a code, or are to be made */
    SCAN_LACKS_STILL = 4, /* also those that were made */
};

/* What became of a picture. */
struct scan_status {
    uint32_t flags;
    uint32_t size;     /* bytes without stuffing */
    uint32_t to_bits;  /* of the turned scan, with markers, without stuffing */
    uint32_t out_size; /* bytes of the turned scan */
    uint64_t out;      /* where it is in the output */
};

/* Bytes and restart markers of a chunk; then of those before it. */
struct scan_bytes {
    uint32_t bytes, markers;
};

/* What a subsequence has, or what all before it have together. */
struct scan_counts {
    uint64_t dc;     /* differences of DC: of component c times 2^16c */
    uint32_t blocks; /* if an interval began, from the first of the scan on, */
    bool closed;     /* and the differences from there on */
};

/* Blocks begin at `entry`, and those behind at `exit`: the position in bits,
 * and in the upper half which block of an MCU it is. */
struct scan_subsequence {
    uint64_t entry, exit;
    struct scan_counts counts;
};
#define SCAN_NOWHERE UINT64_C(0xffffffff) /* the scan has ended */

/* Bits of some blocks: `head` up to the end of the first restart interval among
 * them, if there is one (`closed`); and `rest` from behind its marker on. */
struct scan_bits {
    uint32_t head, rest;
    bool closed;
};

/* The parameter of all kernels: arrays in the memory of the device. */
struct scan_params {
    const uint8_t *input;
    const struct scan_picture *picture;
    const uint16_t *codes;
    const uint32_t *symbols; /* code << 8 | its length; or SCAN_NO_SYMBOL */
    const uint32_t *made;    /* SCAN_SYMBOLS of them for each picture */
    const struct scan_output *to;

    struct scan_status *status;
    struct scan_bytes *chunk;
    uint8_t *data;
    uint32_t *start; /* of intervals, in bytes; and behind the last one */
    struct scan_subsequence *subsequence;
    struct entropy_block *block;
    uint16_t *value;
    uint16_t *length; /* bits of each block of the turned scans */
    struct scan_bits *to_tile;
    uint32_t *joined; /* the bits of the turned scans */
    uint32_t *marker; /* where restart markers are among them, in bytes */
    uint32_t *to_chunk;
    uint64_t *cursor; /* the end of the output so far */
    uint8_t *output;
    uint32_t *histogram; /* SCAN_SYMBOLS of each picture */

    struct samples_params samples;
    uint8_t *pixels; /* the arrays that pictures become */
    uint32_t pictures, tiles;
    uint32_t again; /* the tables that were made are in use: only pictures that
                       need them count */
};
#define SCAN_NO_SYMBOL UINT32_C(0x80000000)

/* The picture of a chunk or a tile: `before` is the field of it that tells how
 * many are before it. */
#define SCAN_FIND(p, before, n)                                                \
    phase_find(&(p)->picture->before, sizeof *(p)->picture, (p)->pictures, n)

/* Returns how many subsequences so many bytes have. */
SCAN_INLINE uint32_t scan_subsequences(uint32_t size)
{
    return (size + SCAN_SUBSEQUENCE / 8 - 1) / (SCAN_SUBSEQUENCE / 8);
}

SCAN_INLINE bool scan_is_out(const struct scan_params *p, uint32_t picture)
{
    return (p->status[picture].flags & SCAN_OUT) != 0;
}

/* Returns whether a picture is refused, or not coded with these tables. */
SCAN_INLINE bool scan_is_not_coded(const struct scan_params *p,
                                   uint32_t picture)
{
    uint32_t flags = p->status[picture].flags;
    bool lacks = (flags & SCAN_LACKS) != 0, again = p->again != 0;
    return (flags & SCAN_OUT) != 0 || lacks != again;
}

SCAN_INLINE void scan_refuse(const struct scan_params *p, uint32_t picture)
{
    word_or(&p->status[picture].flags, SCAN_OUT);
}

#endif
