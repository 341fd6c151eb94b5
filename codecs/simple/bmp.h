/* BMP: what its header says, and how its pixels are read. */
#ifndef CODECS_SIMPLE_BMP_H
#define CODECS_SIMPLE_BMP_H

#include "codecs/codec.h"

enum bmp_coding { BMP_PLAIN, BMP_RLE8, BMP_RLE4, BMP_MASKS };

struct bmp_head {
    uint32_t size;         /* of the header itself */
    uint32_t coding;       /* one of enum bmp_coding */
    int32_t width, height; /* a negative height: the top row comes first */
    unsigned bits;         /* of a pixel: 1, 4, 8, 16, 24 or 32 */
    unsigned ncolors;      /* of the palette; 0: as many as there may be */
    size_t palette_at, pixels_at;
    uint32_t mask[4];        /* red, green, blue, alpha; 0: there is no alpha */
    uint8_t palette[256][3]; /* blue, green, red */
};

/* The masks of pixels whose 4 bytes are blue, green, red and alpha. */
extern const uint32_t bmp_byte_masks[4];

/* Checks that the rows of img, whose shape is set, are all there. Tolerant, a
 * warning will do. Where runs end is seen by reading them. */
int bmp_check_size(const struct image *img, const struct bmp_head *h,
                   struct bytes file, const struct load_opts *opts,
                   struct err *err);

/* Allocates the planes of img, whose shape is set, and fills them. */
int bmp_read_pixels(struct image *img, const struct bmp_head *h,
                    struct bytes file, const struct load_opts *opts,
                    struct err *err);

#endif
