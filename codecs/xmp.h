/* An XMP packet: what it says about the picture's place in space.
 *
 * A packet is XML text in UTF-8 (XMP specification, part 1, section 7). It
 * comes from a file and may hold anything: what is not understood is left, and
 * nothing is ever read or written outside of it. */
#ifndef CODECS_XMP_H
#define CODECS_XMP_H

#include <stddef.h>
#include <stdint.h>

#include "codecs/xform.h"

/* The first tiff:Orientation that is good, 1..8; 0 if there is none. */
unsigned xmp_orientation(const uint8_t *packet, size_t size);

/* Makes the packet true after the stored pixels were turned by t: sizes and
 * densities. tiff:Orientation, wherever it stands, says `orientation`
 * afterwards, 1..8; 0 leaves it. The size of the packet stays. */
void xmp_turn(uint8_t *packet, size_t size, enum xform t, unsigned orientation);

#endif
