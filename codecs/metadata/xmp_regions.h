/* Regions of the picture in an XMP packet: faces, mostly.
 *
 * The areas of the Metadata Working Group (mwg-rs, Guidelines for Handling
 * Image Metadata 2.0, 5.9) and the rectangles of Microsoft (MPReg) count in
 * shares of the picture as it is stored, and are moved with it. Crops of
 * Camera Raw are not, and a warning says so. */
#ifndef CODECS_METADATA_XMP_REGIONS_H
#define CODECS_METADATA_XMP_REGIONS_H

#include "codecs/base/bytes.h"
#include "codecs/base/err.h"
#include "codecs/image/image.h"

/* Moves the regions in the packet, which owns its memory, with the picture.
 * Regions that are not understood stay, and so does a packet that would be
 * longer than `room`, with a warning. Fails only without memory. */
int xmp_regions_turn(struct bytes *packet, size_t room,
                     const struct change *change, struct warnings *warnings,
                     struct err *err);

#endif
