/* Image resources of Photoshop, as a JPEG holds them: IPTC, thumbnail, paths
 * (Adobe Photoshop File Formats Specification, "Image Resources Section"). */
#ifndef CODECS_METADATA_PHOTOSHOP_H
#define CODECS_METADATA_PHOTOSHOP_H

#include "codecs/codec.h"

/* Makes the resources true of img: resolution, paths, and the thumbnail, which
 * is dropped with a warning if it cannot be turned. All else, IPTC among it,
 * stays byte for byte. `block` grows to no more than `room` bytes. Fails only
 * without memory. */
int photoshop_turn(struct bytes *block, size_t room, const struct image *img,
                   const struct save_opts *opts, struct err *err);

/* Leaves out what opts->drop names: thumbnails, profile, and the EXIF and XMP
 * that may stand here as well. A resource that continues in the next block
 * stays, with a warning. */
int photoshop_drop(struct bytes *block, const struct save_opts *opts,
                   struct err *err);

#endif
