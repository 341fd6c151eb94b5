/* GIF (GIF89a), within this room: a screen, and blocks one after the other.
 *
 * Files come in as bytes, and go out turned: each frame's rectangle within the
 * screen and the pixels in it, and nothing else (turn.c); or the first frame
 * becomes a picture, and a picture a file (gif.c). blocks.c finds the blocks,
 * lzw.h codes pixels. */
#ifndef CODECS_GIF_GIF_H
#define CODECS_GIF_GIF_H

#include "codecs/codec.h"
#include "codecs/gif/lzw.h"
#include "codecs/metadata/metadata.h"

/* Bytes of the head, of a palette's entry, and of what begins an image. */
enum { GIF_HEAD = 13, GIF_COLOR = 3, GIF_IMAGE = 10 };

/* What a block is: an introducer, or the label of an extension. */
enum gif_kind {
    GIF_ZEROS = 0, /* which no standard knows, but many files have */
    GIF_TEXT = 0x01,
    GIF_EXTENSION = 0x21,
    GIF_FRAME = 0x2c,
    GIF_TRAILER = 0x3b,
    GIF_CONTROL = 0xf9,
    GIF_COMMENT = 0xfe,
    GIF_APPLICATION = 0xff,
    GIF_NOTHING = 0x100, /* the file is over */
};

/* Positions in the file. */
struct gif_block {
    unsigned kind;
    size_t begin, end;
    size_t body; /* its sub-blocks; of a frame the byte before them */
    bool cut;    /* a frame whose sub-blocks go on to the end of the file */
    /* What a control has said of the frame that is this one or comes next. */
    int transparent; /* an index, or -1 */
    unsigned delay;  /* in hundredths of a second */
};

struct gif_rect {
    uint32_t x, y, width, height;
};

struct gif {
    struct bytes file;        /* borrowed */
    uint32_t width, height;   /* of the screen, which holds the first frame */
    size_t begin, end;        /* of the blocks, without a trailer */
    struct gif_block first;   /* frame */
    uint32_t frames, outside; /* all, and those that reach over its edges */
    bool texts, cut;          /* it has plain text; what follows `end` is lost
                               */
    struct gif_sums {
        uint64_t pixels,
            cells;      /* with what pads rows, before and after turns */
        uint64_t most;  /* bytes that a frame takes while it is turned */
        uint64_t coded; /* bytes in the file */
    } sums;             /* of all frames */
};

/* Goes on to the next block; from gif_before() to the first. Fails if it is
 * damaged. */
int gif_next(struct gif_block *block, struct bytes file, struct err *err);

static inline struct gif_block gif_before(const struct gif *gif)
{
    return (struct gif_block){ .end = gif->begin, .transparent = -1 };
}

/* Finds all blocks, of which the meta, unless it is NULL, gets those that are
 * metadata, and the animation. Tolerant, it ends before a damaged one. */
int gif_scan(struct gif *gif, struct meta *meta, struct bytes file,
             const struct load_opts *opts, struct err *err);

/* Returns whether a block is one of those. */
bool gif_is_metadata(const struct gif_block *block);

/* Returns the part of a frame that lies on the screen; if that is none, all of
 * it, with x beyond all screens. */
struct gif_rect gif_rect_of(const struct gif *gif,
                            const struct gif_block *frame);

/* Reads the pixels of that part, which there is, into img, which is {0}; or
 * finds only whether all of the frame are there, if that is NULL. Tolerant,
 * those that are missing are transparent, or have index 0, and *mended is set.
 */
int gif_read_frame(struct image *img, bool *mended, const struct gif *gif,
                   const struct gif_block *frame, const struct load_opts *opts,
                   struct err *err);

int gif_turn(struct bytes *out, struct image *img, struct bytes file,
             enum xform t, const struct load_opts *opts, struct err *err);

extern const struct block_format gif_blocks;

#endif
