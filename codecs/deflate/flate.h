/* DEFLATE: the libraries that implement it, and this program's own encoder.
 *
 * This room compresses and decompresses bytes as PNG and ZIP store them (RFC
 * 1950, zlib; RFC 1951, DEFLATE) and makes their checksums. It knows nothing of
 * pictures or files.
 *
 * All decompression, and compression by the lowest levels, is done by
 * libraries, each behind one `struct flate`: zlib, which is always there, and
 * ISA-L's igzip, which is several times as fast.
 *
 * The encoder (lz77.h, deflate_block.h, optimal.h, and what they stand on)
 * exists because no library does what PNG needs most. Filtered photographs have
 * next to no matches: Huffman codes alone, in blocks of 64 KiB, make them as
 * small as libpng's default at 1 to 2 GB/s a core, where zlib's fastest such
 * strategy, Z_RLE, does 0.13. Screenshots need matches: lz77.c makes them as
 * small as zlib's level 6 at several times its speed, and ISA-L only larger
 * ones. Where size counts, optimal.c does what libdeflate's highest level does,
 * which makes 12 of 14 classes of pictures up to 1.4 % larger from the same
 * rows (level 12 of 1.14). libdeflate also ends whatever it writes with a final
 * block and cannot refer to bytes before it, so that it cannot write the bands
 * of one stream, which are what several threads work on. */
#ifndef CODECS_DEFLATE_FLATE_H
#define CODECS_DEFLATE_FLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum flate_status {
    FLATE_MORE, /* all input is read, or all output is full */
    FLATE_END,  /* the stream has ended, and its checksum is right */
    FLATE_BAD,  /* the stream is damaged, or data follow its end, which not all
                   libraries notice */
};

/* Input and room for output; a call advances both past what it has done. */
struct flate_io {
    const uint8_t *in;
    size_t in_size;
    uint8_t *out;
    size_t out_size;
};

/* One library. */
struct flate {
    const char *name;
    const char *(*version)(void); /* of the library, as "1.2.13" */
    /* As zlib's crc32() and adler32(), which start at 0 and at 1. */
    uint32_t (*crc32)(uint32_t crc, const uint8_t *data, size_t size);
    uint32_t (*adler32)(uint32_t adler, const uint8_t *data, size_t size);

    /* Opens a reader of one zlib stream, or without its header and checksum of
     * the DEFLATE within. Returns NULL without memory. */
    void *(*inflate_open)(bool raw);
    enum flate_status (*inflate)(void *inflater, struct flate_io *io);
    void (*inflate_close)(void *inflater); /* fine on NULL */

    /* Opens a writer for one band after another, of the level that comes
     * nearest to zlib's `level` from 0 to 9. Returns NULL without memory. */
    void *(*deflate_open)(int level);
    /* Deflates `size` bytes, at most 1 GiB. Matches may refer to the `before`
     * bytes that stand before them in memory. The band ends at a byte: its last
     * block is the final one of the stream, or is followed by an empty stored
     * block. The output depends on nothing but the data and these arguments.
     * Returns the number of bytes written, or 0 if `room` is too small. */
    size_t (*deflate)(void *deflater, uint8_t *out, size_t room,
                      const uint8_t *data, size_t before, size_t size,
                      bool final);
    void (*deflate_close)(void *deflater); /* fine on NULL */
};

/* The fastest first, ended by NULL; zlib is the last. */
extern const struct flate *const flates[];

extern const struct flate flate_zlib;
extern const struct flate flate_isal; /* in a build with ISA-L */

/* Libraries count bytes in 32 bits, so they are given at most this many at a
 * time. */
enum { FLATE_STEP = 1 << 30 };

static inline uint32_t flate_step(size_t size)
{
    return (uint32_t)(size < FLATE_STEP ? size : FLATE_STEP);
}

/* How far back a match reaches. */
enum { FLATE_WINDOW = 32768 };

/* Returns how many bytes of room any library, and the encoder of this room,
 * needs at most to deflate `size` bytes. */
static inline size_t flate_bound(size_t size)
{
    return size + size / 8 + 4096;
}

#endif
