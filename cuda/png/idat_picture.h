/* Turning the image data of PNG files without decoding it on the CPU: the main
 * header of cuda/png/.
 *
 * What comes in is a batch of zlib streams, as the chunks IDAT of pictures hold
 * them, or of arrays, with their shapes and one of the eight turns
 * (codecs/image/scan_turner.h); what goes out is a zlib stream of the turned
 * picture for each, or an array. The room knows nothing of files and of chunks.
 * A stream that is odd in any way is refused: the codec on the CPU, which
 * refuses it as well, knows the reason.
 *
 * The headers of this room hold the whole work on a picture, a row or a band,
 * once for GPU and host: functions of blocks of threads, as cuda/gpu/phases.h
 * has it. A batch goes through these steps:
 *
 *   idat_inflate.h  the stream becomes rows with their filters, by what
 *                   idat_decode.h decodes of it
 *   idat_pixels.h   filters are undone, pixels moved, filters chosen, applied;
 *                   arrays begin or end where pixels are moved
 *   idat_lz77.h     bands of the rows become literals and matches,
 *   idat_code.h     and these become Huffman codes, and bits
 *   idat_inflate.h  the bits are decoded again and compared with the rows;
 *   idat_pixels.h   the filters are undone again, and compared with the pixels
 */
#ifndef CUDA_PNG_IDAT_PICTURE_H
#define CUDA_PNG_IDAT_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codecs/image/scan_turner.h"
#include "cuda/gpu/arrays.h"
#include "cuda/gpu/phases.h"

#ifdef __CUDACC__
#define IDAT_FN static inline __host__ __device__
#else
#define IDAT_FN static inline
#endif

enum {
    IDAT_BAND = 64 << 10, /* bytes of rows that become a block of DEFLATE */
    IDAT_LITERALS = 286,  /* symbols of literals, lengths and the end, */
    IDAT_DISTANCES = 30,  /* and of distances */
    IDAT_SYMBOLS = IDAT_LITERALS + IDAT_DISTANCES,
    IDAT_END = 256, /* the symbol of the end */
    IDAT_WINDOW = 32 << 10,
    IDAT_MATCH = 258,            /* the longest one, */
    IDAT_MATCH_LEAST = 3,        /* and the shortest */
    IDAT_HEADER_BITS = 32 * 160, /* the most that a block's header has */
    IDAT_STREAM_HEAD = 2,        /* bytes */
    IDAT_CHECKSUM = 4,
    IDAT_PITCH = 8,     /* bytes: a row without filters begins at a multiple */
    IDAT_ROWS_EACH = 8, /* rows that a block of threads filters, or checks */
    IDAT_SIZE_MAX = 1 << 27, /* bytes of a picture: its bits fit into 32 */

    /* How the filters of a picture are chosen: those of all rows, or for each
     * row the one whose bytes, taken as signed, have the smallest sum. */
    IDAT_CHOICES = 4,
    IDAT_ADAPTIVE = 0,
    IDAT_STRIPS = 8,       /* parts of a picture, on which they are tried, */
    IDAT_STRIP = 16 << 10, /* of so many bytes, or of a row */
};

/* A picture, before or after the turn. */
struct idat_shape {
    uint32_t width, height; /* in pixels */
    uint32_t row;           /* bytes, with the filter's type */
    uint32_t size;          /* of all rows */
    uint32_t pitch;         /* bytes from a row that is not filtered to the
                               next */
};

/* Parts of turned pictures that a block of threads does. */
enum idat_part { IDAT_ROWS, IDAT_TILES, IDAT_PARTS };

/* A picture of a batch. What is at an offset is in struct idat_params.memory.
 */
struct idat_file {
    struct idat_turn of;      /* where its pixels are, as it comes, */
    struct pixel_array array; /* and where they go */
    /* Of the rows of a PNG; an array has none. */
    struct idat_shape from, to;
    uint64_t in; /* where its data begins in the input, and its bytes */
    uint32_t in_size;
    uint64_t rows;               /* before the turn, and then after it */
    uint64_t pixels, turned;     /* rows without filters, before and after */
    uint64_t out;                /* where it goes, all 0 at first */
    uint64_t matches, items;     /* scratch memory of idat_inflate.h */
    uint32_t band;               /* how many there are before it, */
    uint32_t before[IDAT_PARTS]; /* and how many of each part */
    uint32_t job;                /* whose picture it is */
};

/* What becomes of it. */
struct idat_status {
    uint32_t refused; /* not 0: a case for the CPU */
    uint32_t bits;    /* of the stream that was made, without its checksum */
    uint32_t adler;   /* of its rows */
    uint32_t filter;  /* the choice of filters */
    uint32_t literal; /* 256 times the bits of a byte, without matches; 0: not
                         known */
    uint32_t tried[IDAT_CHOICES], literals[IDAT_CHOICES]; /* bits of all strips,
                                                             and without matches
                                                           */
    uint32_t bytes;                                       /* of all strips */
};

/* A band of the turned rows. */
struct idat_band {
    uint32_t file;
    uint32_t tokens;   /* how many there are */
    uint32_t bits;     /* of its block, */
    uint32_t at;       /* which begins there in the stream */
    uint32_t header;   /* bits of its header */
    uint32_t adler[2]; /* the sums of its bytes, and of these times how many
                          bytes of the band follow, and themselves */
};

/* The codes of a band, mirrored as the stream has them, and their bits. */
struct idat_code {
    uint16_t code[IDAT_SYMBOLS];
    uint8_t bits[IDAT_SYMBOLS];
    uint32_t header[IDAT_HEADER_BITS / 32];
};

struct idat_params {
    const struct idat_file *file;
    struct idat_status *status;
    struct idat_band *band;
    struct idat_code *code; /* of each band */
    uint32_t *token;        /* IDAT_BAND of each band */
    const uint8_t *input;
    uint8_t *memory;
    uint32_t files;
};

/* ---- Parts of pictures ---- */

IDAT_FN uint32_t idat_bands(const struct idat_file *f)
{
    return (f->to.size + IDAT_BAND - 1) / IDAT_BAND;
}

/* Returns the most bytes of its stream: codes of nine bits would do for
 * literals and lengths, and of five for distances, and no match takes more than
 * nine bits for each byte then; with room for codes of limited bits, which may
 * be worse.
 */
IDAT_FN uint32_t idat_most_made(const struct idat_file *f)
{
    return idat_bands(f) * (IDAT_BAND / 4 * 5 + IDAT_HEADER_BITS / 8) +
           IDAT_STREAM_HEAD + IDAT_CHECKSUM + sizeof(uint64_t);
}

/* Returns the number of bytes of a band of the picture, from 0. */
IDAT_FN uint32_t idat_band_size(const struct idat_file *f, uint32_t band)
{
    const uint32_t left = f->to.size - band * IDAT_BAND;
    return word_least(left, IDAT_BAND);
}

/* Returns the first row of a strip of the picture: they are spread over it. */
IDAT_FN uint32_t idat_strip_row(const struct idat_file *f, uint32_t strip)
{
    return (uint32_t)((uint64_t)f->to.height * strip / IDAT_STRIPS);
}

/* Returns the most rows of a strip: 0 if one is more than a band. */
IDAT_FN uint32_t idat_strip_most(const struct idat_file *f)
{
    const uint32_t most = f->to.row ? IDAT_STRIP / f->to.row : 0;
    return most ? most : f->to.row <= IDAT_BAND;
}

IDAT_FN uint32_t idat_strip_rows(const struct idat_file *f, uint32_t strip)
{
    const uint32_t all =
        idat_strip_row(f, strip + 1) - idat_strip_row(f, strip);
    const uint32_t most = idat_strip_most(f);
    return word_least(all, most);
}

/* Returns the bytes of memory for a strip. */
IDAT_FN uint32_t idat_strip_bytes(const struct idat_file *f)
{
    const uint32_t all = f->to.height / IDAT_STRIPS + 1;
    const uint32_t most = idat_strip_most(f);
    return word_least(all, most) * f->to.row;
}

/* Returns the file of part n. */
IDAT_FN uint32_t idat_file_of(const struct idat_params *p, enum idat_part part,
                              uint32_t n)
{
    return phase_find(&p->file->before[part], sizeof *p->file, p->files, n);
}

/* ---- Matches ---- */

/* Symbols of lengths and distances: which values begin there, and how many bits
 * follow (RFC 1951, 3.2.5). */
IDAT_FN uint32_t idat_length_extra(uint32_t symbol)
{
    return symbol < 265 || symbol == 285 ? 0 : (symbol - 261) / 4;
}

IDAT_FN uint32_t idat_length_base(uint32_t symbol)
{
    const uint32_t extra = idat_length_extra(symbol);
    return symbol == 285  ? (uint32_t)IDAT_MATCH
           : symbol < 265 ? symbol - 254
                          : 3 + ((4 + (symbol - 265) % 4) << extra);
}

IDAT_FN uint32_t idat_distance_extra(uint32_t symbol)
{
    return symbol < 4 ? 0 : symbol / 2 - 1;
}

IDAT_FN uint32_t idat_distance_base(uint32_t symbol)
{
    return symbol < 4 ? symbol + 1
                      : 1 + ((2 + symbol % 2) << idat_distance_extra(symbol));
}

/* Returns the symbol that stands at place i of the lengths of codes that code
 * lengths: 16 17 18 0 8 7 9 6 10 5 11 4 12 3 13 2 14 1 15. */
IDAT_FN uint32_t idat_length_order(uint32_t i)
{
    return i < 3    ? 16 + i
           : i == 3 ? 0
           : i % 2  ? 8 - (i - 3) / 2
                    : 8 + (i - 4) / 2;
}

/* Returns the lowest n bits, at most 32. */
IDAT_FN uint32_t idat_low_bits(uint32_t n)
{
    return n < 32 ? (1u << n) - 1 : UINT32_MAX;
}

/* Loads eight bytes, the first one lowest. On a GPU they are parts of three
 * words, of which the last may be behind them. */
IDAT_FN uint64_t idat_load(const uint8_t *at)
{
#ifdef __CUDA_ARCH__
    const uint32_t *word = (const uint32_t *)((uintptr_t)at & ~(uintptr_t)3);
    const uint32_t shift = ((uintptr_t)at & 3) * 8;
    const uint32_t a = word[0], b = word[1], c = word[2];
    return (uint64_t)__funnelshift_r(b, c, shift) << 32 |
           __funnelshift_r(a, b, shift);
#else
    uint64_t bytes = 0;
    for (unsigned i = 0; i < 8; i++)
        bytes |= (uint64_t)at[i] << 8 * i;
    return bytes;
#endif
}

IDAT_FN uint32_t idat_length_symbol(uint32_t length)
{
    if (length == IDAT_MATCH)
        return 285;
    if (length < 11)
        return length + 254;
    const uint32_t extra = word_highest(length - 3) - 2;
    return 261 + 4 * extra + ((length - 3) >> extra) - 4;
}

IDAT_FN uint32_t idat_distance_symbol(uint32_t distance)
{
    if (distance < 5)
        return distance - 1;
    const uint32_t extra = word_highest(distance - 1) - 1;
    return 2 * extra + ((distance - 1) >> extra);
}

#endif
