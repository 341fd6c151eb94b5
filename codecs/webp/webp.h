/* WebP (Google, "WebP Container Specification"; VP8 is RFC 6386).
 *
 * What comes in is the bytes of a file: one picture, or the frames of an
 * animation, each lossy (VP8, with its alpha beside it) or lossless (VP8L), and
 * chunks of metadata. What goes out is the same file, turned; or its first
 * picture, to be converted; and a file of a converted picture.
 *
 * Ours are the container, which keeps all chunks in their order, and what
 * becomes of the frames of an animation. libwebp decodes and encodes a frame.
 * The room knows nothing of how pictures are turned, and of metadata only in
 * which chunks it stands. codec_webp is in webp.c; this header is for the files
 * of the room. */
#ifndef CODECS_WEBP_WEBP_H
#define CODECS_WEBP_WEBP_H

#include "codecs/codec.h"
#include "codecs/image/frames.h"

/* ---- The container: container.c ------------------------------------------ */

/* The most columns or rows of a frame. */
enum { WEBP_SIDE = 16383 };

/* In the VP8X chunk: what the file has. */
enum {
    WEBP_ANIMATED = 2,
    WEBP_XMP = 4,
    WEBP_EXIF = 8,
    WEBP_ALPHA = 16,
    WEBP_ICC = 32,
};

/* Of a frame: whether its place is cleared behind it, and whether it replaces
 * what is there, instead of being laid over it. */
enum { WEBP_CLEARED = 1, WEBP_REPLACES = 2 };

/* Where a block stands: behind so many of ANIM and the frames. */
enum {
    WEBP_AT_FRONT = 0,
    WEBP_BEHIND_FRAMES = 0x7ffffffe,
    WEBP_BEHIND_FILE = 0x7fffffff, /* these bytes are no chunk */
};

struct webp_frame {
    struct frame_place place; /* x and y are even in a file */
    uint32_t duration;
    uint8_t flags;
    bool lossless, alpha;
    /* Borrowed: what libwebp decodes, chunks from ALPH or VP8 on, or VP8L; in
     * it the data of VP8 or VP8L; and the unknown chunks behind. */
    const uint8_t *data, *image, *rest;
    size_t size, image_size, rest_size;
};

struct webp_file {
    uint32_t width, height; /* of the canvas */
    bool extended;          /* there is a VP8X */
    uint8_t vp8x[4];        /* its flags, and three bytes that are reserved */
    uint8_t anim[6];        /* background and loops of an animation */
    struct webp_frame *frame;
    size_t nframes;
    size_t end; /* of the file as RIFF; other bytes may follow */
    bool cut;   /* the last chunk is not all there */
};

static inline bool webp_is_animated(const struct webp_file *webp)
{
    return (webp->vp8x[0] & WEBP_ANIMATED) != 0;
}

/* Reads the chunks of a file. All but pictures become blocks of the meta,
 * unless that is NULL. Who calls frees webp->frame, which is NULL on failure.
 */
int webp_read(struct webp_file *webp, struct meta *meta, struct bytes file,
              const struct load_opts *opts, struct err *err);

/* Appends the file, with the blocks of the meta. */
int webp_write(struct bytes *out, const struct webp_file *webp,
               const struct meta *meta, struct err *err);

extern const struct block_format webp_blocks;

/* ---- Frames, by libwebp: frame.c ----------------------------------------- */

int webp_load(struct err *err);

/* Gives img its samples: one plane of pixels, which are ARGB in a cell of 4
 * bytes; or as a lossy frame has them, Y, U, V, and A if it has alpha. */
int webp_decode(struct image *img, const struct webp_frame *frame, bool argb,
                const struct load_opts *opts, struct err *err);

/* Encodes such an image as frame->lossless and frame->alpha say, to `made`,
 * which the frame borrows then. A lossy one gets this quality, or more, so that
 * its PSNR is at least so many decibels. */
int webp_encode(struct bytes *made, struct webp_frame *frame,
                const struct image *img, float quality, float least,
                struct err *err);

/* Estimates with which quality, 0 to 100, libwebp would have encoded a lossy
 * frame. */
float webp_quality(const struct webp_frame *frame);

/* ---- All frames: turn.c -------------------------------------------------- */

int webp_turn(struct bytes *out, struct image *img, struct bytes file,
              enum xform t, const struct load_opts *opts, struct err *err);

#endif
