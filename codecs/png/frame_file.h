/* A frame of an animated PNG as a file of its own. */
#ifndef CODECS_PNG_FRAME_FILE_H
#define CODECS_PNG_FRAME_FILE_H

#include "codecs/codec.h"
#include "codecs/image/meta.h"

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

/* Appends a file of another frame of an animation that frames_read() has
 * checked: IHDR, PLTE, tRNS, IDAT and IEND. Returns false without memory; then
 * the caller frees what is there. */
bool frame_make_file(struct bytes *file, const struct image *img,
                     struct frame_blocks frame);

/* Decodes another frame as it is stored, by options of which threads, damage
 * and libraries count: the sizes of all frames have been checked with the
 * picture. */
int frame_decode(struct image *frame, const struct image *img,
                 struct frame_blocks blocks, const struct load_opts *opts,
                 struct err *err);

#endif
