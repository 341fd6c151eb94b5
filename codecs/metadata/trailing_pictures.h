/* The pictures behind the first one in a JPEG file, turned.
 *
 * The list in MPF, or else the container directory in XMP, says where pictures
 * are in the trailer: gain maps, previews, other views. Those that lie as the
 * first one does are turned as it was. All other bytes of the trailer stay what
 * they are, and in their order, so that what is counted from the end of the
 * file, as the film of a motion photo is, stays true as well. */
#ifndef CODECS_METADATA_TRAILING_PICTURES_H
#define CODECS_METADATA_TRAILING_PICTURES_H

#include "codecs/metadata/block_format.h"
#include "codecs/metadata/xmp_container.h"

/* Turns the pictures, whose lengths change, and says so in the list of MPF as
 * if the picture before them had kept its length: the encoder, which knows by
 * how much that has changed, sets it right. XMP is read even if it is dropped.
 * Adds to `lengths` what has changed. A picture that cannot be turned stays,
 * with a warning. Fails without memory, or as opts->edge asks for. */
int trailing_pictures_turn(struct meta *meta, const struct block_format *format,
                           const struct image *img,
                           const struct save_opts *opts,
                           struct lengths *lengths, struct err *err);

#endif
