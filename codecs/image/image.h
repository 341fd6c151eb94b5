/* A picture as planes of cells: what codecs make and read, and the stage turns.
 *
 * This room, codecs/image, has the types that all others exchange: pictures,
 * the eight turns (xform.h), limits (limit.h) and the metadata of a file
 * (meta.h). Shapes and rows of pixels come in (interleave.h, rows.h), and
 * planes go out. It knows nothing of formats, of files, or of how planes are
 * turned.
 *
 * A plane is one channel: gray, palette index, R, G, B, Y, Cb, Cr, alpha. */
#ifndef CODECS_IMAGE_IMAGE_H
#define CODECS_IMAGE_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "codecs/base/bytes.h"
#include "codecs/base/err.h"
#include "codecs/image/limit.h"
#include "codecs/image/xform.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Samples in native byte order; or blocks of 8 x 8 int16_t, the coefficients of
 * a discrete cosine transform, a row of them after the other (T.81, A.3.3). A
 * block is turned inside as well: transposed, then odd columns negated where
 * columns run backwards, and odd rows where rows do. */
enum cell { CELL_U8, CELL_U16, CELL_F32, CELL_DCT };

static inline size_t cell_size(enum cell cell)
{
    return cell == CELL_DCT ? 8 * 8 * sizeof(int16_t) : (size_t)1 << cell;
}

/* What the planes mean, before an alpha plane if there is one. */
enum color {
    COLOR_GRAY,    /* 1 plane */
    COLOR_INDEXED, /* 1 plane of palette indices; the palette is in the meta */
    COLOR_RGB,     /* 3 planes */
    COLOR_RGBE,    /* 4 planes of bytes: mantissas of R G B, their exponent */
    COLOR_YCC,     /* 3 planes, YCbCr as JFIF has it, full range */
    COLOR_CMYK,    /* 4 planes, as stored */
    COLOR_YCCK,    /* 4 planes, as stored */
    COLOR_OTHER,   /* any number of planes without a meaning known to us */
};
const char *image_color_name(enum color color);

enum {
    IMAGE_PLANES = 64,  /* the most planes that a picture may have */
    IMAGE_STRIDE = 256, /* strides are whole multiples of it, in bytes */
};

struct plane {
    uint8_t *data;          /* the first cell of the first row; aligned to
                               IMAGE_STRIDE. What lies between the end of a row
                               and the next belongs to the plane and means
                               nothing: it may be read and written */
    size_t stride;          /* bytes from one row to the next */
    uint32_t width, height; /* in cells */
};

/* Where the memory of the cells comes from: plain memory, or memory that a
 * backend has prepared. alloc returns NULL when there is none. */
struct mem {
    void *(*alloc)(void *context, size_t size);
    void (*free)(void *context, void *memory);
    void *context;
};
extern const struct mem mem_plain;

/* How samples stand in memory. */
enum packing {
    PACKING_ROWS,   /* in planes whose rows are padded to IMAGE_STRIDE */
    PACKING_PLANES, /* in planes without anything between rows and planes */
    PACKING_PIXELS, /* the channels of a pixel side by side, without padding */
};

/* Where the pixels of a picture are. */
enum pixels_kind {
    PIXELS_NONE,   /* nowhere: it is a shape */
    PIXELS_ROWS,   /* in memory: the planes say where */
    PIXELS_BANDS,  /* in a mapped temporary file: codecs/image/rows.h */
    PIXELS_CODED,  /* coefficients, as the scans of a JPEG code them, which its
                      meta has; or samples as the image data of a PNG, which
                      `coded` has */
    PIXELS_DEVICE, /* samples that a device makes, as struct decode_plan asks
                      for: once they are there, scan_turner_take_samples() sets
                      the planes */
};

/* Bytes before samples of a device that may be written: room for the header of
 * a file. */
enum { IMAGE_LEAD = 256 };

struct pixel_rows {
    uint8_t *cells; /* the one block of memory that holds all planes */
    size_t size;    /* its bytes */
    struct mem mem; /* who allocated it, and frees it */
};

struct device_samples {
    const struct bytes *bytes; /* borrowed; empty until they are made */
    /* As which they are made, gray or RGB: the picture may still be what was
     * decoded (codecs/convert/convert.h). */
    enum packing packing;
    enum cell cell;
    enum color color;
    bool alpha;
};

struct pixels {
    enum pixels_kind kind;
    union {
        struct pixel_rows rows;
        struct bands *bands; /* owned */
        struct device_samples device;
        const struct bytes *coded; /* borrowed; empty until it is made */
    };
};

struct meta; /* all that a file says beside its pixels: codecs/image/meta.h */

struct image {
    enum cell cell;
    enum color color;
    bool alpha;             /* the last plane is alpha, not premultiplied */
    uint32_t width, height; /* in pixels, as stored */
    /* Of the picture in the file, before any turn, if columns or rows of it
     * were trimmed; else 0. */
    uint32_t untrimmed_width, untrimmed_height;
    uint32_t maxval; /* the value of full intensity (for COLOR_INDEXED:
                        2^bits - 1); 0 for CELL_F32 */
    unsigned nplanes;
    struct plane plane[IMAGE_PLANES]; /* may differ in size */
    struct pixels pixels;
    unsigned orientation; /* the tag of the file, 1..8; 1 if it has none */
    enum xform turned;    /* what was done to the pixels since they were read */
    struct meta *meta;    /* NULL if there is nothing to say */
};

/* Pixels in a temporary file: codecs/image/rows.h says how they lie there. */
struct bands {
    struct scratch_map file;
    uint64_t memory; /* bytes that who writes or reads should work with */
    enum xform t;    /* what is done to each band on its way */
    uint32_t width, height; /* of the picture as stored */
    uint32_t rows;          /* of each band but the last */
    struct image kind;      /* of the samples in the file, as turned */
    /* Makes all of `to`, rows of the picture, of `from`, the same rows as they
     * are in the file. NULL: they are the same. */
    void (*convert)(void *converter, const struct image *to,
                    const struct image *from);
    void *converter; /* one block of memory, which image_free() frees */
};

/* Fails if a picture of this shape is beyond the limits. A codec calls it as
 * soon as it knows the size, before it allocates anything by it. It calls
 * limits->reserve(), which may wait. */
int image_check(uint64_t width, uint64_t height, unsigned nplanes,
                enum cell cell, const struct limits *limits, struct err *err);

/* Fails as image_check() does, for planes of different sizes, as image_alloc()
 * takes them. */
int image_check_planes(const struct image *img, const struct limits *limits,
                       struct err *err);

/* Returns the bytes that a row of this width takes in all planes. */
uint64_t image_row_bytes(const struct image *img, uint32_t width);

/* Returns what the pixels of this picture, which is about to be decoded, are to
 * be: PIXELS_BANDS if they need more memory than there may be, else
 * PIXELS_ROWS. image_check() has passed. */
enum pixels_kind image_choose_pixels(const struct image *img,
                                     const struct limits *limits);

static inline bool image_has_bands(const struct image *img)
{
    return img->pixels.kind == PIXELS_BANDS;
}

/* Returns what img is, without its pixels, planes and metadata. */
struct image image_kind(const struct image *img);

/* Returns n columns or rows of a picture in memory, from `first` on. */
struct image image_part(const struct image *img, bool columns, uint32_t first,
                        uint32_t n);

/* Allocates `nplanes` planes whose content is undefined, each of the width and
 * height that are set in it, or of those of the picture where they are 0. cell,
 * width, height and nplanes are set, all else is 0. Planes of CELL_DCT have
 * room for 3 rows and columns more, which is padding like what lies between
 * rows. On failure there is nothing to free. */
int image_alloc(struct image *img, struct mem mem, struct err *err);

/* The same for samples whose rows get no padding, which would be most of a
 * narrow picture. They are read by codecs; nothing turns them. */
int image_alloc_packed(struct image *img, struct err *err);

/* Allocates dst for what t makes of src. Its cells are undefined, and it has no
 * meta: image_take_meta() moves that. */
int image_like(struct image *dst, const struct image *src, enum xform t,
               struct mem mem, struct err *err);

/* How a picture differs from the one that its file stores. */
struct change {
    enum xform turn;
    uint32_t width, height;           /* as it was stored; 0: not known */
    uint32_t kept_width, kept_height; /* of these, from the top left, before the
                                         turn: an edge may have been trimmed */
};
struct change image_change(const struct image *img);

/* The factors by which shares of the stored width and height grow, since the
 * trimmed picture is smaller: 1 if nothing was trimmed. */
static inline double change_scale_x(const struct change *change)
{
    return change->width == change->kept_width
               ? 1
               : (double)change->width / change->kept_width;
}

static inline double change_scale_y(const struct change *change)
{
    return change->height == change->kept_height
               ? 1
               : (double)change->height / change->kept_height;
}

static inline bool change_trims(const struct change *change)
{
    return change->width != change->kept_width ||
           change->height != change->kept_height;
}

/* Who turns pictures that are in memory: a backend, as codecs see it. */
struct turner {
    /* Turns src into dst, which has the shape that image_like() gives; both may
     * be parts of pictures. It keeps no thread busy but the caller's. */
    int (*turn)(void *context, struct image *dst, const struct image *src,
                enum xform t, struct err *err);
    void *context;
    size_t tile;   /* the bytes that are best turned at a time */
    bool parallel; /* several threads may turn at a time */
};

/* Moves the meta from src to dst. */
void image_take_meta(struct image *dst, struct image *src);

/* Frees the pixels and the meta. Fine on {0}, and twice. */
void image_free(struct image *img);

/* Frees the pixels alone. */
void image_free_pixels(struct image *img);

static inline void *plane_row(const struct plane *plane, size_t y)
{
    return plane->data + y * plane->stride;
}

/* Returns the cell, of `size` bytes, that stands in column x and row y of a
 * plane once it is turned. */
static inline void *plane_cell(const struct plane *plane, size_t size,
                               enum xform t, uint32_t x, uint32_t y)
{
    const bool columns = xform_transposes(t);
    if (t & XFORM_MIRROR_X)
        x = (columns ? plane->height : plane->width) - 1 - x;
    if (t & XFORM_MIRROR_Y)
        y = (columns ? plane->width : plane->height) - 1 - y;
    return plane->data + (columns ? x : y) * plane->stride +
           (columns ? y : x) * size;
}

/* Returns the bits of a sample: 8 for a maxval of 255, 10 for 1023, 32 for
 * floats. */
unsigned image_bits(const struct image *img);

#ifdef __cplusplus
}
#endif
#endif
