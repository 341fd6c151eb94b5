/* stb_image and stb_image_write behind our own types, for the formats that go
 * through them: codecs/bmp.c, tga.c and hdr.c.
 *
 * stb_image is lenient: past the end of a file it reads zeros, leaves memory as
 * it was, or, in an HDR, never returns. So the codecs read the header and make
 * sure that the pixels are there before it sees a file. */
#ifndef CODECS_STB_H
#define CODECS_STB_H

#include "codecs/codec.h"

/* Sets the shape of img, as its header has it, if such a picture may be read:
 * 1 to 4 planes of bytes or floats. */
int stb_shape(struct image *img, uint64_t width, uint64_t height,
              unsigned nplanes, enum cell cell, const struct load_opts *opts,
              struct err *err);

/* Decodes `file`, which holds all pixels, into the planes of img, whose shape
 * is set. */
int stb_read(struct image *img, struct bytes file,
             const struct load_opts *opts, struct err *err);

/* The warning for a picture that tolerant reading has completed with zeros. */
void stb_warn_cut(const struct load_opts *opts);

enum stb_format { STB_BMP, STB_TGA, STB_HDR };

/* Appends img as a file of this format. What an HDR cannot hold is clipped or
 * rounded, with a warning. */
int stb_write(struct bytes *file, const struct image *img,
              enum stb_format format, const struct save_opts *opts,
              struct err *err);

/* Numbers as BMP and TGA have them, the low byte first. */
static inline unsigned little16(const uint8_t *p)
{
    return p[0] | (unsigned)p[1] << 8;
}

static inline uint32_t little32(const uint8_t *p)
{
    return little16(p) | (uint32_t)little16(p + 2) << 16;
}

static inline void put_little16(uint8_t *p, unsigned n)
{
    p[0] = n & 255;
    p[1] = n >> 8 & 255;
}

static inline void put_little32(uint8_t *p, uint32_t n)
{
    put_little16(p, n & 65535);
    put_little16(p + 2, n >> 16);
}

#endif
