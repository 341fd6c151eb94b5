/* stb_image and stb_image_write behind our own types, for the formats that go
 * through them: codecs/bmp.c, tga.c and hdr.c. */
#ifndef CODECS_STB_H
#define CODECS_STB_H

#include "codecs/codec.h"

/* Decodes `file` into 1 to 4 planes of img: 8 bits each, or floats if it is an
 * HDR. Its size is checked before, and reading past its end is an error, though
 * stb_image takes it for zeros. img->meta is set, all else is 0. */
int stb_read(struct image *img, struct bytes file, bool floats,
             const struct load_opts *opts, struct err *err);

enum stb_format { STB_BMP, STB_TGA, STB_HDR };

/* Appends img as a file of this format. */
int stb_write(struct bytes *file, const struct image *img,
              enum stb_format format, struct err *err);

/* Numbers as BMP and TGA have them, the low byte first. */
static inline unsigned little16(const uint8_t *p)
{
    return p[0] | (unsigned)p[1] << 8;
}

static inline uint32_t little32(const uint8_t *p)
{
    return little16(p) | (uint32_t)little16(p + 2) << 16;
}

#endif
