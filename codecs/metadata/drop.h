/* Metadata that is left out because the user asks for that: where a picture was
 * taken, thumbnails. Whole blocks are left out by those who keep them.
 *
 * To tell where a picture was taken is to give coordinates: the GPS directory
 * of EXIF, and in XMP and in texts what is called GPS, latitude or longitude.
 * Names of places are no coordinates. */
#ifndef CODECS_METADATA_DROP_H
#define CODECS_METADATA_DROP_H

#include "codecs/base/bytes.h"
#include "codecs/base/err.h"
#include "codecs/image/meta.h"

/* Takes GPS and thumbnail out of an EXIF block, from its TIFF header on, which
 * owns its memory and may get shorter. Offsets stay; zeros are put in the place
 * of what goes. Fails where something else lies in the same bytes. */
int drop_in_exif(struct bytes *exif, unsigned drop, struct err *err);

/* The same with blanks in an XMP packet, whose size stays. Fails if the packet
 * is malformed so that its end is not to be told. */
int drop_in_xmp(uint8_t *packet, size_t size, unsigned drop, struct err *err);

/* Whether a property, such as "exif:GPSLatitude", is one that goes. */
bool drop_is_place(const char *name, size_t size);

/* Whether bytes that are not understood speak of coordinates: of latitude and
 * longitude, or as films do. */
bool drop_tells_place(const uint8_t *data, size_t size);

/* Frees the portable fields that `drop` leaves out, and marks such blocks as
 * portable, so that none of them is said to be lost. */
void drop_from_meta(struct meta *meta, unsigned drop);

#endif
