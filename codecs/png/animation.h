/* The chunks of an animated PNG: acTL tells of the animation, fcTL of a frame,
 * and fdAT has its samples, as IDAT has those of the picture itself (Third
 * Edition, 11.3.2 and 11.3.8). */
#ifndef CODECS_PNG_ANIMATION_H
#define CODECS_PNG_ANIMATION_H

#include "codecs/codec.h"
#include "codecs/image/frames.h"
#include "codecs/image/meta.h"

enum {
    ACTL = 8, /* bytes of its data */
    FCTL = 26,
    SEQUENCE = 4, /* bytes of the number that leads fcTL and fdAT */
};

/* Reads the place in an fcTL of FCTL bytes. */
struct frame_place frame_place_read(const uint8_t *fctl);

/* Writes it into one. */
void frame_place_write(uint8_t *fctl, struct frame_place place);

/* What the chunks so far have said; {.width, .height} of the canvas at first.
 */
struct animation_parser {
    uint32_t width, height;
    bool lenient; /* numbers of chunks and of frames need not be right */
    struct animation found; /* frames: as many as acTL says */
    uint32_t frames;        /* as many as there are so far */
    uint32_t sequence;      /* the next number */
    bool declared;          /* there was an acTL */
    bool after_idat;
    bool open;        /* a frame has begun to which fdAT may belong */
    bool empty;       /* a frame has begun that has no samples so far */
    size_t at;        /* the caller's: which chunk comes */
    size_t begun_at;  /* which one has begun the last frame */
    size_t wrong_at;  /* on failure: which one is wrong */
    struct err wrong; /* lenient: what of the numbers was wrong first */
};

/* Takes the next chunk acTL, fcTL or fdAT. Returns -1, with the reason, if it
 * is wrong, or if an fcTL shows that the frame before has no samples. Then the
 * rest can be taken without that chunk: in the latter case this one again. */
int animation_take(struct animation_parser *p, const char *name,
                   const uint8_t *data, size_t size, bool after_idat,
                   struct err *err);

/* To be called behind the last chunk: fails if the last frame has no samples,
 * or if there are more or fewer frames than acTL says. */
int animation_end(struct animation_parser *p, struct err *err);

/* ---- A frame as a file of its own -----------------------------------------*/

/* Returns whether a block is a chunk of this name that is kept, of kind
 * BLOCK_FRAME. */
bool is_frame_block(const struct metadata_block *block, const char *name);

/* The blocks of a frame: its fcTL, and those up to the next. */
struct frame_blocks {
    size_t begin, end;
};

/* Finds the next frame from block *at on, and sets *at behind it. Returns false
 * if there is none. */
bool frame_find(struct frame_blocks *frame, const struct meta *meta,
                size_t *at);

/* Returns whether the default image is the frame. */
bool frame_is_default(const struct meta *meta, struct frame_blocks frame);

/* Decodes another frame, by options of which memory, threads, damage and
 * libraries count: the pixels of all frames have been checked with the picture,
 * and frames_read() has checked their chunks. */
int frame_decode(struct image *frame, const struct image *img,
                 struct frame_blocks blocks, const struct load_opts *opts,
                 const struct decode_plan *plan, struct err *err);

#endif
