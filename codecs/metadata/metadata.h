/* The metadata stage: makes all that a file says beside its pixels true of the
 * picture that is written.
 *
 * This room knows what EXIF, XMP, MPF, JFIF, the resources of Photoshop and the
 * thumbnails within them say of a picture's place in space. Between turning and
 * encoding, metadata_turn() takes the blocks that a codec has read, turns what
 * they hold, and leaves out what --strip names; the encoder writes the result
 * and knows nothing of turns. Only this file calls what turns a block. The room
 * knows nothing of chunks and segments: each codec says what kind a block is,
 * and how it is opened and closed (codecs/metadata/block_format.h). */
#ifndef CODECS_METADATA_METADATA_H
#define CODECS_METADATA_METADATA_H

#include "codecs/codec.h"

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

/* Makes the meta of img true after img->turned, once, to be written as `to`:
 * the blocks are those of `to` afterwards. What opts->strip and opts->drop name
 * is left out; opts->orientation is what all tags say. One warning names what a
 * picture of another format loses. What cannot be turned is dropped or kept as
 * each header of this room says, with a warning. Fails without memory, or where
 * something cannot be left out, or as opts->edge asks for. */
int metadata_turn(struct image *img, const struct codec *to,
                  const struct save_opts *opts, struct err *err);

/* Appends to `out` the file with all its orientation tags turned on by `op`,
 * and with one in EXIF if there was none and the picture needs one. `img` has
 * the size of the picture, and a meta with the blocks that may hold a tag, in
 * the order of the file, with their positions in it; meta->orientation is read.
 * If a block of EXIF is added, it is put at `exif_at` in the file; 0 if it
 * cannot be put anywhere. */
int metadata_retag(struct bytes *out, struct bytes file, struct image *img,
                   enum xform op, size_t exif_at, struct warnings *warnings,
                   struct err *err);

#endif
