/* libtiff: what it is told of a picture, and handles of it, which one thread
 * uses at a time: one that reads the strips and tiles of a picture, or one that
 * makes them. */
#ifndef CODECS_TIFF_LIBTIFF_H
#define CODECS_TIFF_LIBTIFF_H

#include "codecs/codec.h"

enum {
    CODED_NONE = 1,
    CODED_RLE = 2,
    CODED_T4 = 3,
    CODED_T6 = 4,
    CODED_LZW = 5,
    CODED_OLD_JPEG = 6,
    CODED_JPEG = 7,
    CODED_DEFLATE = 8,
    CODED_OLD_DEFLATE = 32946,
    CODED_LERC = 34887,
    CODED_WEBP = 50001,
};

enum {
    MEANS_WHITE_IS_ZERO = 0,
    MEANS_BLACK_IS_ZERO = 1,
    MEANS_RGB = 2,
    MEANS_PALETTE = 3,
    MEANS_CMYK = 5,
    MEANS_YCC = 6,
};

/* Loads libtiff, once. */
int tiff_load(struct err *err);

/* How samples are coded. */
struct coding {
    unsigned compression, predictor, photometric;
    unsigned bits, samples, format; /* of a sample; of a pixel; their kind */
    unsigned fill_order, options;   /* those of T.4 or T.6 */
    unsigned sub_x, sub_y;          /* of chroma */
    bool big_endian;
    bool separate; /* each sample has strips of its own */
};

/* How a picture is cut into strips or tiles, in pixels. */
struct cut {
    uint32_t width, height;             /* of the picture */
    uint32_t chunk_width, chunk_height; /* of each part */
    uint32_t across, down;
    unsigned planes; /* that are cut so, one after the other */
    bool tiled;
    size_t row; /* bytes of a row of a part */
};

/* What cells a pixel becomes, of each of the planes that are cut. */
struct unit {
    enum cell cell;
    unsigned count; /* of cells */
    unsigned bits;  /* of each; all of them, or bits that are unpacked */
};

/* A picture as it lies in a file. */
struct tiff_strips {
    struct bytes file;
    uint64_t at;            /* of its directory */
    uint32_t width, height; /* of the picture, whatever a pixel is here */
    struct coding coding;
    struct cut cut;
    struct unit unit;
    bool spread;        /* blocks become pixels of a sample each */
    unsigned order[18]; /* which plane each cell of a block of luma goes to */
    unsigned quality;   /* of JPEG */
    const struct load_opts *opts;
};

/* Returns whether a pixel is a block of luma with its chroma. */
bool strips_have_blocks(const struct coding *coding);

struct tiff_handle;

/* Opens one to read, or to write, what `s` describes. Returns NULL on failure.
 */
struct tiff_handle *tiff_handle_open(const struct tiff_strips *s, bool writes,
                                     struct err *err);
void tiff_handle_close(struct tiff_handle *handle);

/* Reads coding, size and size of the parts of the picture. */
int tiff_handle_describe(struct tiff_handle *handle, struct tiff_strips *s,
                         struct err *err);

/* Reads a part of so many bytes. Returns 1, with the reason, if it is damaged
 * but was read all the same, as other programs do. */
int tiff_handle_read(struct tiff_handle *handle, uint32_t part, void *to,
                     size_t size, struct err *err);

/* Makes `made`, which is empty, a part of so many bytes, which change. */
int tiff_handle_write(struct tiff_handle *handle, uint32_t part, void *from,
                      size_t size, struct bytes *made, struct err *err);

/* Reads all of the picture as 8 bits of red, green, blue and alpha. */
int tiff_handle_read_rgba(struct tiff_handle *handle, uint32_t *to,
                          const struct tiff_strips *s, unsigned orientation,
                          struct err *err);

#endif
