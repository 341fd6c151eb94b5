/* TIFF and BigTIFF: the main header of codecs/tiff/.
 *
 * What comes in is the directories of a file (codecs/ifd); what goes out is the
 * same file with all its pictures turned, or the first picture for other
 * formats, and the other way round. libtiff codes strips and tiles (libtiff.c),
 * on several threads (strips.c). turn.c turns the pictures of a file, tags.c
 * makes what it says of them true, tiff.c is the codec.
 *
 * Samples are bits that are moved: a pixel is a few cells of a picture
 * (codecs/image), whatever its samples mean. Only JPEG in the old style and
 * subsampled chroma are read as libtiff shows them. */
#ifndef CODECS_TIFF_TIFF_H
#define CODECS_TIFF_TIFF_H

#include "codecs/ifd/directory.h"
#include "codecs/image/rows.h"

enum {
    CODED_NONE = 1,
    CODED_T4 = 3,
    CODED_T6 = 4,
    CODED_LZW = 5,
    CODED_OLD_JPEG = 6,
    CODED_JPEG = 7,
    CODED_DEFLATE = 8,
    CODED_OLD_DEFLATE = 32946,
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
    uint64_t at; /* of its directory */
    struct coding coding;
    struct cut cut;
    struct unit unit;
    bool shown;       /* it is read as libtiff shows it, see strips_show() */
    unsigned quality; /* of JPEG */
    const struct load_opts *opts;
};

/* Reads how the picture of a directory lies in the file, and the shape of img:
 * size, cells and planes, without a meaning. */
int strips_open(struct tiff_strips *s, struct image *img,
                const struct directories *all, const struct directory *dir,
                struct err *err);

/* Lets the samples be read as libtiff shows them, as 8 bits of gray or of red,
 * green and blue, which are coded by Deflate then. */
int strips_show(struct tiff_strips *s, struct err *err);

/* Returns how many rows of so many bytes make a strip of ours. */
static inline uint32_t strips_usual_rows(uint64_t row)
{
    enum { STRIP = 256 << 10 };
    return row < STRIP ? (uint32_t)(STRIP / row) : 1;
}

/* Computes cells and cut of what coding, size and size of the parts say; a part
 * of width 0 is a strip. */
int strips_measure(struct tiff_strips *s, struct err *err);

/* Reads the picture into img, and turns it by t if there is a turner. Without
 * img it is read and not kept. */
int strips_read(const struct tiff_strips *s, struct image *img, enum xform t,
                const struct turner *turner, struct err *err);

/* Appends the parts of img, and lets the tags of a directory lead to them. */
int strips_write(struct tiff_writer *w, struct directory *dir,
                 const struct tiff_strips *s, const struct image *img,
                 struct err *err);

/* ---- Handles of libtiff, each of which one thread uses at a time: one that
 * reads the strips and tiles of a picture, or one that makes them -----------*/

/* Loads libtiff, once. */
int tiff_load(struct err *err);

struct tiff_handle;

/* Opens one to read, or to write, what `s` describes. Returns NULL on failure.
 */
struct tiff_handle *tiff_handle_open(const struct tiff_strips *s, bool writes,
                                     struct err *err);
void tiff_handle_close(struct tiff_handle *handle);

/* Reads coding, size and size of the parts of the picture. */
int tiff_handle_describe(struct tiff_handle *handle, struct tiff_strips *s,
                         struct err *err);

/* Returns the coded bytes of a part, borrowed from the file, in which 4 others
 * follow; none if that is not so. */
struct bytes tiff_handle_coded(struct tiff_handle *handle, uint32_t part);

/* Reads a part of so many bytes; what is missing at its end is 0. Returns 1,
 * with the reason, if it is damaged but was read all the same, as other
 * programs do. */
int tiff_handle_read(struct tiff_handle *handle, uint32_t part, uint8_t *to,
                     size_t size, struct err *err);

/* Reads all rows of `s`, one sample of a pixel after the other, as libtiff
 * shows them. There must be room for 4 bytes a pixel. */
int tiff_handle_show(struct tiff_handle *handle, const struct tiff_strips *s,
                     uint32_t *rows, struct err *err);

/* Makes `made`, which is empty, a part of so many bytes, which change. */
int tiff_handle_write(struct tiff_handle *handle, uint32_t part, void *from,
                      size_t size, struct bytes *made, struct err *err);

/* ---- The pictures of a file turned, and what it says of them ----------------
 */

/* Fails if what a directory says cannot be made true of its picture, which is
 * moved by dir->turn; makes its description true. `pages` is how many the file
 * has. */
int tags_check(struct directory *dir, uint64_t pages,
               const struct save_opts *save, struct err *err);

/* Makes all that a directory says beside its samples true of the turned
 * picture, its size too, and leaves out what is not to be kept. */
int tags_turn(struct directory *dir, const struct save_opts *save,
              struct err *err);

/* Lets a directory say how samples are coded. */
void tags_set_coding(struct directory *dir, const struct coding *coding);

/* struct codec.turn. */
int tiff_turn(struct bytes *out, struct image *img, struct bytes file,
              enum xform t, const struct load_opts *opts, struct err *err);

#endif
