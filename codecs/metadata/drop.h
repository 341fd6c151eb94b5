/* Takes out of blocks what --strip names: coordinates and thumbnails. Whole
 * blocks are left out by metadata_turn().
 *
 * Coordinates are the GPS directory of EXIF, and properties of XMP and texts
 * whose names say GPS, latitude or longitude. Names of places stay. */
#ifndef CODECS_METADATA_DROP_H
#define CODECS_METADATA_DROP_H

#include "codecs/base/bytes.h"
#include "codecs/base/err.h"
#include "codecs/image/meta.h"

/* Takes GPS and thumbnail out of an EXIF block, from its TIFF header on, which
 * owns its memory and may get shorter. Offsets stay, and zeros stand where
 * something was taken out. Fails if other data lies in the same bytes. */
int drop_in_exif(struct bytes *exif, unsigned drop, struct err *err);

/* Puts blanks in the place of GPS and thumbnail in an XMP packet, whose size
 * stays. Fails if the packet is so malformed that the end of an element cannot
 * be found. */
int drop_in_xmp(uint8_t *packet, size_t size, unsigned drop, struct err *err);

/* Returns whether the name of a property, such as "exif:GPSLatitude", is one of
 * coordinates. */
bool drop_is_place(const char *name, size_t size);

/* Returns whether bytes of an unknown format seem to hold coordinates. */
bool drop_tells_place(const uint8_t *data, size_t size);

/* Frees the portable fields that `drop` leaves out, and marks such blocks as
 * portable, so that none of them is said to be lost. */
void drop_from_meta(struct meta *meta, unsigned drop);

#endif
