/* BMP: what its header says, and reading its pixels. */
#ifndef CODECS_SIMPLE_BMP_H
#define CODECS_SIMPLE_BMP_H

#include "codecs/simple/simple.h"

enum bmp_compression { BMP_PLAIN, BMP_RLE8, BMP_RLE4, BMP_MASKS };

/* The state of the codec: the header of the file that was read. */
struct bmp_header {
    uint32_t size;         /* of the header itself */
    uint32_t compression;  /* one of enum bmp_compression */
    int32_t width, height; /* a negative height: the top row comes first */
    unsigned bits;         /* of a pixel: 1, 4, 8, 16, 24 or 32 */
    unsigned ncolors;      /* of the palette; 0: as many as there may be */
    size_t palette_at, pixels_at;
    uint32_t mask[4];        /* red, green, blue, alpha; 0: there is no alpha */
    uint8_t palette[256][3]; /* blue, green, red */
};

/* The masks of pixels whose 4 bytes are blue, green, red and alpha. */
extern const uint32_t bmp_byte_masks[4];

/* Fails if not all rows of img, whose shape is set, are in the file; tolerant,
 * it warns. Whether runs are complete is known only when they are read. */
int bmp_check_size(const struct image *img, const struct bmp_header *h,
                   struct bytes file, const struct load_opts *opts,
                   struct err *err);

/* Allocates the planes of img, whose shape is set, and reads the pixels. */
int bmp_read_pixels(struct image *img, const struct bmp_header *h,
                    struct bytes file, const struct load_opts *opts,
                    struct err *err);

#endif
