/* GIF (GIF89a), within this room: a screen, and blocks one after the other.
 *
 * Files come in as bytes, and go out turned: each frame's rectangle within the
 * screen and the pixels in it, and nothing else (turn.c); or the first frame
 * becomes a picture, and a picture a file (gif.c). blocks.c finds the parts of
 * a file. */
#ifndef CODECS_GIF_GIF_H
#define CODECS_GIF_GIF_H

#include "codecs/codec.h"
#include "codecs/image/frames.h"

/* Bytes of the head, of a palette's entry, and of what begins an image. */
enum { GIF_HEAD = 13, GIF_COLOR = 3, GIF_IMAGE = 10 };

/* What begins a block; of an extension with its label. */
enum gif_kind {
    GIF_ZEROS = 0, /* which no standard knows, but many files have */
    GIF_EXTENSION = 0x21,
    GIF_FRAME = 0x2c,
    GIF_TRAILER = 0x3b,
    GIF_TEXT = 0x2101,
    GIF_CONTROL = 0x21f9,
    GIF_COMMENT = 0x21fe,
    GIF_APPLICATION = 0x21ff,
    GIF_NOTHING = 0x10000, /* the file is over */
};

/* Positions in the file. */
struct gif_part {
    unsigned kind;
    size_t begin, end;
    size_t body;     /* its sub-blocks; of a frame the byte before them */
    bool cut;        /* a frame whose sub-blocks go on to the end of the file */
    int transparent; /* of a frame: an index, or -1 */
};

struct gif {
    struct bytes file;       /* borrowed */
    uint32_t width, height;  /* of the screen, which holds all frames */
    struct gif_part *frame;  /* all else stays as it is, but for metadata */
    struct frames_size size; /* of the frames */
    size_t begin, end;       /* of all blocks, without a trailer */
    const uint8_t *control;  /* what is said of the next frame; or NULL */
    bool cut;                /* what follows `end` is lost */
    uint32_t outside;        /* frames behind the first that enlarge it */
};

/* Finds the part that begins at `at`. */
int gif_find_part(struct gif_part *part, struct bytes file, size_t at,
                  struct err *err);

/* Finds the frames and the metadata, which meta gets, and what it says of the
 * animation. Tolerant, it ends before a damaged block. The caller frees
 * gif->frame, also on failure. */
int gif_scan(struct gif *gif, struct meta *meta, struct bytes file,
             const struct load_opts *opts, struct err *err);

struct frame_place gif_place_of(const struct gif *gif,
                                const struct gif_part *frame);

/* Returns the bytes of the palette that flags tell of. */
static inline size_t gif_palette_size(unsigned flags)
{
    return flags & 0x80 ? (size_t)GIF_COLOR << ((flags & 7) + 1) : 0;
}

/* Append what sub-blocks hold that begin at `at`, with room for 4 bytes more;
 * or make sub-blocks, and the empty one that ends them. Return false without
 * memory. */
bool gif_join(struct bytes *to, struct bytes file, size_t at);
bool gif_split(struct bytes *to, const struct bytes *from);

/* Reads the pixels of a frame, which may be none, into img, which is {0}; or
 * finds only whether all are there, if that is NULL. Tolerant, those that are
 * missing are transparent, or have index 0, and *anew is set, which the caller
 * has set if the frame is to be coded anew in any case. */
int gif_read_frame(struct image *img, bool *anew, const struct gif *gif,
                   const struct gif_part *frame, const struct load_opts *opts,
                   struct err *err);

/* Appends a plane of pixels as a frame has them, from the byte before its
 * sub-blocks on. Returns false without memory. */
bool gif_write_frame(struct bytes *out, const struct plane *pixels,
                     bool interlaced);

/* struct codec.turn. */
int gif_turn(struct bytes *out, struct image *img, struct bytes file,
             enum xform t, const struct load_opts *opts, struct err *err);

#endif
