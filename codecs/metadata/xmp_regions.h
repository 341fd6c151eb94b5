/* Places in the picture of which an XMP packet tells: faces, mostly.
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

/* Makes the packet, which owns its memory, true after the stored picture was
 * changed. If it would be longer than `room` afterwards, or says what is
 * not understood, that stays and is named in a warning. Fails only without
 * memory. */
int xmp_regions_turn(struct bytes *packet, size_t room,
                     const struct change *change, struct warnings *warnings,
                     struct err *err);

#endif
