/* The metadata stage: makes all that a file says beside its pixels true of the
 * picture that is written.
 *
 * This room knows what EXIF, XMP, MPF, JFIF, the resources of Photoshop and the
 * thumbnails within them say of a picture's place in space. Between turning and
 * encoding, metadata_turn() takes the blocks that a codec has read, turns what
 * they hold, and leaves out what --strip names; the encoder writes the result
 * and knows nothing of turns. Only turn.c calls what turns a block. The room
 * knows nothing of chunks and segments: each codec says what kind a block is,
 * and how it is opened and closed (struct block_format). A JPEG file within a
 * block or behind the picture goes through the stage itself, once more. */
#ifndef CODECS_METADATA_METADATA_H
#define CODECS_METADATA_METADATA_H

#include "codecs/codec.h"

/* ---- What the stage needs of a codec --------------------------------------*/

/* How a format keeps metadata in blocks. */
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

/* ---- What it does for others ----------------------------------------------*/

/* Reads the orientation out of the blocks of a picture into img->orientation
 * and its meta. Fails only without memory. */
int metadata_read_orientation(struct image *img,
                              const struct block_format *format,
                              struct err *err);

/* Fills EXIF, XMP, comment and, unless it is there already, the profile of the
 * meta out of its blocks, and marks these as portable. A damaged block is an
 * error, or, tolerant, left with a warning. */
int metadata_read_portable(struct meta *meta, const struct block_format *format,
                           const struct load_opts *opts, struct err *err);

/* Frees the portable fields that `drop` leaves out, and marks such blocks as
 * portable, so that none of them is said to be lost. */
void metadata_drop_portable(struct meta *meta, unsigned drop);

/* Returns whether opts->strip or opts->drop leave a block out. */
bool metadata_is_dropped(const struct metadata_block *block,
                         const struct save_opts *opts);

/* Warns of a block that seems to tell coordinates where they are dropped. */
void metadata_warn_of_place(const struct metadata_block *block,
                            struct warnings *warnings);

/* Makes the meta of img true after img->turned, once, to be written as `to`:
 * the blocks are those of `to` afterwards. What opts->strip and opts->drop name
 * is left out; opts->orientation is what all tags say. One warning names what a
 * picture of another format loses. What cannot be turned is dropped or kept as
 * each header of this room says, with a warning. Fails without memory, or where
 * something cannot be left out, or as opts->edge asks for. */
int metadata_turn(struct image *img, const struct codec *to,
                  const struct save_opts *opts, struct err *err);

/* How tags alone are turned: the pixels stay as stored. */
struct retag {
    enum xform op;
    size_t exif_at; /* where a block of EXIF is put in the file, if one is
                       added; 0 if it cannot be put anywhere */
    struct warnings *warnings;
};

/* Appends to `out` the file with all its orientation tags turned on, and with
 * one in EXIF if there was none and the picture needs one. `img` has the size
 * of the picture, and a meta with the blocks that may hold a tag, in the order
 * of the file, with their positions in it; meta->orientation is read. */
int metadata_retag(struct bytes *out, struct bytes file, struct image *img,
                   const struct retag *retag, struct err *err);

/* ---- What the files of this room share ------------------------------------*/

/* Pictures behind the first one whose lengths have changed, in order. */
enum { LENGTHS_MAX = 64 };
struct lengths {
    size_t count;
    struct length {
        size_t was, is;
    } list[LENGTHS_MAX];
};

/* A picture that was turned, and how it is to be written. */
struct turned {
    struct image *img;
    const struct save_opts *opts;
    const struct block_format *format; /* of the blocks in its meta */
    struct lengths lengths;            /* of the pictures behind it */
    const struct retag *retag;         /* NULL: not only tags change */
};

/* Fills `body`, which is empty, with what the block holds: without a head, and
 * inflated; its bytes are counted. On failure, without memory, of a damaged
 * block, or of one that takes more work than is left for the file, it stays
 * empty. The account may be NULL. */
int block_open(struct bytes *body, const struct metadata_block *block,
               const struct block_format *format, struct account *account,
               struct err *err);

/* Exchanges two runs of `size` bytes: what is said of x, and of y. */
static inline void axes_exchange(uint8_t *a, uint8_t *b, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        uint8_t byte = a[i];
        a[i] = b[i];
        b[i] = byte;
    }
}

#endif
