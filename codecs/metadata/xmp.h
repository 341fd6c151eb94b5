/* An XMP packet: what it says about the picture's place in space.
 *
 * A packet is XML text in UTF-8 (XMP specification, part 1, section 7). It
 * comes from a file and may hold anything: what is not understood is left, and
 * nothing is ever read or written outside of it. */
#ifndef CODECS_METADATA_XMP_H
#define CODECS_METADATA_XMP_H

#include "codecs/base/bytes.h"
#include "codecs/base/err.h"
#include "codecs/image/orientation.h"
#include "codecs/image/xform.h"

/* Returns the first tiff:Orientation that is 1..8; 0 if there is none. */
unsigned xmp_orientation(const uint8_t *packet, size_t size);

/* Adds every tiff:Orientation that is 1..8 to `o`. */
void xmp_note(const uint8_t *packet, size_t size, struct orientation *o);

/* Makes the packet true after the stored pixels were turned by t: sizes and
 * densities. tiff:Orientation, wherever it stands, says `orientation`
 * afterwards, 1..8; 0 leaves it. The size of the packet stays. */
void xmp_turn(uint8_t *packet, size_t size, enum xform t, unsigned orientation);

/* Makes the sizes of the picture in a packet, which owns its memory, say this
 * one, unless they are smaller already. If it would be longer than `room`
 * afterwards, they stay, and there is a warning. Fails only without memory. */
int xmp_set_size(struct bytes *packet, size_t room, uint32_t width,
                 uint32_t height, struct warnings *warnings, struct err *err);

#endif
