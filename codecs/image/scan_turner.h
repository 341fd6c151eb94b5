/* Pictures that are turned elsewhere, by a device that does many of them at
 * once: the scans of JPEG files, the image data of PNG files, and arrays.
 *
 * Whoever reads a file offers what it codes, and says what that is to become.
 * Of scans it becomes, byte for byte, what sequential_write() makes; of a PNG
 * the pixels that idat_read() and idat_write() make at the level LEVEL_FAST,
 * but not the same bytes; and of both the samples that the CPU would make. */
#ifndef CODECS_IMAGE_SCAN_TURNER_H
#define CODECS_IMAGE_SCAN_TURNER_H

#include "codecs/base/bytes.h"
#include "codecs/image/image.h"

/* An array that a picture becomes, turned: of samples of 8 or 16 bits, which
 * become cells as codecs/convert/convert.h has it. */
struct scan_pixels {
    unsigned channels;
    bool joined;    /* the channels of a pixel are side by side; else there is a
                       plane after the other */
    enum cell cell; /* not CELL_DCT; of floats 1 is the highest sample */
    uint32_t width, height; /* after the turn */
    size_t stride, size;    /* bytes from a row to the next; and of all */
    bool to_rgb; /* components of a JPEG are YCbCr, and become RGB, */
    const struct upsampling *upsampling; /* and get full resolution so */
};

/* The pixels that are in the image data of a PNG, or in an array of which that
 * is to be made. */
struct idat_turn {
    uint32_t width, height; /* before the turn */
    unsigned pixel;         /* bytes, whole ones, as a PNG has them, */
    bool wide;              /* two for each sample, the higher one first */
    bool any_size; /* it may also become larger than the CPU makes it, as
                      pictures do that repeat much */
    /* Of an array: the bytes from a pixel to the next one of its row and of its
     * column, and to each of its own as a PNG has them. x_step 0: it is image
     * data, a zlib stream with a window of 32 KiB, and the rest is said by
     * `pixel`. */
    uint32_t x_step, y_step, byte[8];
    /* What else becomes of pixels in an array: indices become colors, of three
     * or four channels; those that are the key get an alpha of 0, others the
     * highest one. */
    bool indexed, keyed;
    uint8_t key[8];
    uint8_t palette[256][4];
};

/* A picture of more bytes is turned on the CPU. */
enum { IDAT_TURN_MOST = 1 << 26 };

struct entropy_scan;
struct scan_samples;

/* One scan of a JPEG; or all of a picture that `idat` describes. */
struct scan_turn {
    const struct idat_turn *idat; /* NULL: it is a scan */
    /* Of a scan; `to`: the same after the turn, whose tables may be replaced:
     * see sequential_write(). */
    const struct entropy_scan *from;
    struct entropy_scan *to;
    bool optimize;
    struct scan_samples *samples; /* of each component; NULL: none goes through
                                     samples */
    enum xform turn;
    const struct scan_pixels *pixels; /* it becomes these, a scan with the steps
                                         of `samples`, and `to` is NULL; NULL:
                                         it becomes a scan, or image data */
    struct bytes coded;  /* borrowed: from behind the header of a scan up to the
                            marker behind it; what the chunks IDAT hold, one
                            after the other; or an array */
    struct bytes turned; /* borrowed: the same after the turn, or samples behind
                            IMAGE_LEAD bytes of room, once it is turned */
};

struct scan_turner {
    /* Begins to turn the scans of a picture, which stay where they are until it
     * is done; `coded` is read before this returns. Returns false if it does
     * not: then whoever asks has to do it. If it begins and fails later, the
     * file is to be read again without it: whoever gave the turner is told. */
    bool (*begin)(void *context, struct scan_turn *scans, unsigned count);
    /* The same of a picture of a PNG or an array, all of which is copied.
     * Returns where `turned` will be, empty until then; or NULL. */
    const struct bytes *(*begin_idat)(void *context,
                                      const struct scan_turn *picture);
    void *context;
    bool optimize;   /* as struct save_opts will have it */
    bool no_restart; /* the same */
    bool samples; /* it takes components that go through samples, and pictures
                     that become samples */
};

/* Offers a picture of a PNG or an array, which is to become image data; or
 * samples, unless they are NULL, which says all but where they will be. Returns
 * whether it is taken: then img has its shape after the turn, and its pixels
 * are PIXELS_CODED, or PIXELS_DEVICE. */
bool scan_turner_offer(const struct scan_turner *turner, struct image *img,
                       const struct scan_turn *picture,
                       const struct device_samples *samples);

/* ---- Samples that a device makes ---------------------------------------- */

/* Gives img, which a device turns, the shape that it has then, and sets `made`
 * to what the samples are to be. */
void scan_turner_shape(struct image *img, enum xform t,
                       const struct device_samples *samples,
                       struct scan_pixels *made);

/* Sets the planes to the samples that a device has made: all planes, but one
 * for PACKING_PIXELS, which has the rows of pixels. Fine for other pixels. */
void scan_turner_take_samples(struct image *img);

/* Returns whether a device has made samples packed so. Of one channel there is
 * but one way to pack them. */
bool scan_turner_has_samples(const struct image *img, enum packing packing);

/* Appends these samples to what is the header of a file. Where it has room
 * before them it is moved there, and the file is borrowed. */
int scan_turner_append_samples(struct bytes *file, const struct image *img,
                               struct err *err);

#endif
