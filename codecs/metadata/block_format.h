/* How a format keeps metadata in blocks: what the rest of this room needs of a
 * codec to read and rewrite what its chunks or segments hold. */
#ifndef CODECS_METADATA_BLOCK_FORMAT_H
#define CODECS_METADATA_BLOCK_FORMAT_H

#include "codecs/codec.h"

struct block_format {
    /* What block_open() does, which is to be called instead. */
    int (*open)(struct bytes *body, const struct metadata_block *block,
                struct err *err);
    /* Makes the block hold this body, which is no longer than `room` says.
     * Fails only without memory. */
    int (*close)(struct metadata_block *block, const struct bytes *body,
                 struct err *err);
    /* The most bytes that the body of a block of this kind may have. */
    size_t (*room)(enum block_kind kind);
    /* Inserts a block of EXIF, which is empty, where readers look for it.
     * Returns NULL if there is no memory. */
    struct metadata_block *(*insert_exif)(struct meta *meta);
    /* Appends the block to `file` in the form that files have. Returns false
     * without memory. */
    bool (*frame)(struct bytes *file, const struct metadata_block *block);
    /* Adds to `made`, which has no blocks, those that say what the portable
     * fields of `from` say. */
    int (*from_portable)(struct meta *made, const struct meta *from,
                         struct warnings *warnings, struct err *err);
    /* Turns the frames of an animation as img was turned, and encodes them
     * anew. NULL: the format has no animations. */
    int (*turn_frames)(const struct image *img, const struct save_opts *opts,
                       struct err *err);
};

/* Fills `body`, which is empty, with what the block holds: without a head, and
 * inflated; its bytes are counted. On failure, without memory, of a damaged
 * block, or of one that takes more work than is left for the file, it stays
 * empty. The budget may be NULL. */
int block_open(struct bytes *body, const struct metadata_block *block,
               const struct block_format *format, struct budget *budget,
               struct err *err);

#endif
