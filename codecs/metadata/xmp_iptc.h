/* Image regions of IPTC (Photo Metadata Standard, Iptc4xmpExt:ImageRegion) in
 * an XMP packet: rectangles, circles and polygons, in shares of the picture as
 * it is stored. */
#ifndef CODECS_METADATA_XMP_IPTC_H
#define CODECS_METADATA_XMP_IPTC_H

#include "codecs/base/bytes.h"
#include "codecs/base/err.h"
#include "codecs/image/image.h"

/* Moves the regions in the packet with the picture, as xmp_regions_turn() does.
 */
int xmp_iptc_turn(struct bytes *packet, size_t room,
                  const struct change *change, struct warnings *warnings,
                  struct err *err);

#endif
