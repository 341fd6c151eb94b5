/* The libraries that know deflate and its checksums, for the samples of PNG:
 * zlib, which is always there, and ISA-L's igzip, several times as fast.
 *
 * RFC 1950 (zlib), RFC 1951 (deflate). */
#ifndef CODECS_DEFLATE_FLATE_H
#define CODECS_DEFLATE_FLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct inflater;
struct deflater;

enum flate_status {
    FLATE_MORE, /* all of the input is read, or all of the output is full */
    FLATE_END,  /* the stream has ended, and its checksum is right */
    FLATE_BAD,  /* it is damaged; or goes on behind its end, which not all see */
};

/* Bytes to read, and room for others; what is done is taken off both. */
struct flow {
    const uint8_t *in;
    size_t in_size;
    uint8_t *out;
    size_t out_size;
};

struct flate {
    const char *name;
    const char *(*version)(void); /* of the library, as "1.2.13" */
    /* As zlib's crc32() and adler32(), which start at 0 and at 1. */
    uint32_t (*crc32)(uint32_t crc, const uint8_t *data, size_t size);
    uint32_t (*adler32)(uint32_t adler, const uint8_t *data, size_t size);

    /* A reader of one zlib stream; NULL: no memory. */
    struct inflater *(*inflate_open)(void);
    enum flate_status (*inflate)(struct inflater *inflater, struct flow *flow);
    void (*inflate_close)(struct inflater *inflater);

    /* A writer of bands, of a level from 0 to 9 as zlib has them, for all that
     * the library can; NULL: no memory. */
    struct deflater *(*deflate_open)(int level);
    /* Deflates `size` bytes that follow `before` bytes in memory, which matches
     * may refer to, and returns how many bytes that made; 0: there was not
     * enough room for them. The band ends at a byte: its last block is the
     * final one of the stream, or is followed by an empty stored block. What is
     * written depends on nothing else. At most 1 GiB. */
    size_t (*deflate)(struct deflater *deflater, uint8_t *out, size_t room,
                      const uint8_t *data, size_t before, size_t size,
                      bool final);
    void (*deflate_close)(struct deflater *deflater);
};

/* The best first, ended by NULL; zlib is the last. */
extern const struct flate *const flates[];

extern const struct flate flate_zlib;
extern const struct flate flate_isal; /* in a build with ISA-L */

/* How far back a match reaches. */
enum { FLATE_WINDOW = 32768 };

/* Room that `size` bytes surely fit into, whatever they are and whoever
 * deflates them. */
static inline size_t flate_bound(size_t size)
{
    return size + size / 8 + 4096;
}

#endif
