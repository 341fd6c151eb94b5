/* The Huffman coding of sequential JPEG, without libjpeg.
 *
 * What comes in is the entropy-coded data of one scan and how it is coded: its
 * Huffman tables, the blocks of each component in an MCU, the restart interval.
 * What goes out is the list of its blocks, each with the coefficients that are
 * not zero, and from such a list the entropy-coded data of the turned picture.
 * The room knows nothing of files, of segments and of samples: quantization,
 * colors and metadata are the business of codecs/jpeg/.
 *
 * ITU-T T.81, Annexes A, C, F.1.2 and F.2.2. The types and the arithmetic of
 * this header are valid C and C++, with which GPU code shares them. */
#ifndef CODECS_JPEG_ENTROPY_ENTROPY_H
#define CODECS_JPEG_ENTROPY_ENTROPY_H

#include <stddef.h>
#include <stdint.h>

enum {
    ENTROPY_COMPONENTS = 4,  /* of a scan (T.81, B.2.3) */
    ENTROPY_MCU_BLOCKS = 10, /* the most blocks of an MCU (T.81, B.2.3) */
    ENTROPY_TABLES = 4,      /* of each class, DC and AC */
    ENTROPY_DC_MAX = 1024, /* coefficients of 8-bit samples are at least its */
    ENTROPY_AC_MAX = 1023, /* negative, and below it; or up to this */
};

/* A Huffman table as a DHT segment has it (T.81, B.2.4.2): how many codes have
 * 1 to 16 bits, and the symbols in the order of their codes. */
struct huffman_spec {
    uint8_t counts[16];
    uint8_t symbols[256];
};

/* A component of a picture (T.81, B.2.2). */
struct sequential_component {
    uint8_t id, across, down; /* sampling factors */
    uint8_t quantization;     /* its table of steps */
};

/* A component in a scan. */
struct entropy_component {
    uint32_t columns, rows; /* blocks that hold samples of the picture */
    uint8_t across, down;   /* blocks in an MCU */
    uint8_t dc, ac;         /* which Huffman tables */
};

/* One scan. Where it has several components, its last MCUs may have blocks
 * beyond the picture (T.81, A.2.4); where it has one, an MCU is a block. */
struct entropy_scan {
    unsigned components;
    struct entropy_component component[ENTROPY_COMPONENTS];
    uint32_t columns, rows; /* MCUs */
    uint32_t restart; /* MCUs between restart markers; 0: there are none */
    struct huffman_spec dc[ENTROPY_TABLES], ac[ENTROPY_TABLES];
    uint64_t most; /* bits of its data, before stuffing, that its tables may
                      make if they had to get more codes; 0: none may */
};

/* A block: a coefficient that is not zero stands as 1 << size | bits, where
 * `bits` are the `size` bits that follow its code (T.81, F.1.2.1). */
struct entropy_block {
    uint64_t mask; /* which AC coefficients these are: bit k is position k of
                      the zigzag order */
    uint32_t at;   /* of the first of them among the values of its part */
    int16_t dc;    /* the coefficient itself */
    uint16_t part; /* which list of values they stand in */
};

/* Returns the coefficient that 1 << size | bits stands for (T.81, F.1.2.1). */
static inline int entropy_value(uint32_t value)
{
    int top = 1 << (31 - __builtin_clz(value)), bits = (int)value - top;
    return bits >= top >> 1 ? bits : bits - top + 1;
}

/* Which coefficient of a block, row by row, stands at each position of the
 * zigzag order (T.81, figure A.6). */
static const uint8_t entropy_natural[64] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
    12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
    58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
};

/* Which positions of the zigzag order stand in odd columns, or rows: those of
 * which a mirror changes the sign. */
#define ENTROPY_ODD_COLUMNS UINT64_C(0xb56aad55554aa952)
#define ENTROPY_ODD_ROWS    UINT64_C(0xd6ab555aa5552a94)

/* Returns where a coefficient, row by row, stands once rows and columns of its
 * block are exchanged. */
static inline unsigned entropy_exchange(unsigned at)
{
    return at % 8 * 8 + at / 8;
}

/* Returns a / b, rounded up. */
static inline uint32_t entropy_divide_up(uint64_t a, uint32_t b)
{
    return (uint32_t)((a + b - 1) / b);
}

/* Returns how many samples a component has along an axis of so many pixels: it
 * has `factor` of them where the one that has the most has `most`. */
static inline uint32_t entropy_samples(uint32_t pixels, unsigned factor,
                                       unsigned most)
{
    return entropy_divide_up((uint64_t)pixels * factor, most);
}

/* Sets the most samples that a component has across, and down, for as many of
 * the others as their factors say. */
static inline void entropy_most(const struct sequential_component *component,
                                unsigned count, unsigned *across,
                                unsigned *down)
{
    *across = *down = 1;
    for (unsigned i = 0; i < count; i++) {
        *across = component[i].across > *across ? component[i].across : *across;
        *down = component[i].down > *down ? component[i].down : *down;
    }
}

/* Returns how many blocks an MCU has. */
static inline unsigned entropy_mcu_blocks(const struct entropy_scan *scan)
{
    unsigned blocks = 0;
    for (unsigned i = 0; i < scan->components; i++)
        blocks += (unsigned)scan->component[i].across * scan->component[i].down;
    return blocks;
}

#endif
