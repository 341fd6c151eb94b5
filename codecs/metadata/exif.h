/* An EXIF block: what it says about the picture's place in space.
 *
 * A block is a TIFF structure from its header "II*\0" or "MM\0*" on, without
 * the "Exif\0\0" that JPEG puts before it. It comes from a file and may hold
 * anything: what cannot be read counts as absent, and nothing is ever read or
 * written outside of it. Maker notes are never touched. */
#ifndef CODECS_METADATA_EXIF_H
#define CODECS_METADATA_EXIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codecs/base/bytes.h"
#include "codecs/image/xform.h"

/* Returns the orientation tag of the picture, 1..8; 1 if it is missing or has
 * another value. */
unsigned exif_orientation(const uint8_t *tiff, size_t size);

/* Returns the same tag, but 0 if it is missing or has another value. */
unsigned exif_tag(const uint8_t *tiff, size_t size);

/* Makes the block true after the stored pixels, and those of the thumbnail,
 * were turned by t: sizes, densities and the subject's place in the picture,
 * which was width x height before the turn. Orientation tags, where there are
 * any, say `orientation` afterwards, 1..8; 0 leaves them. The size of the block
 * stays. */
void exif_turn(uint8_t *tiff, size_t size, enum xform t, unsigned orientation,
               uint32_t width, uint32_t height);

/* Makes the orientation tags of the picture, where there are any, say
 * `orientation`, 1..8, and turns on that of the thumbnail by t. */
void exif_retag(uint8_t *tiff, size_t size, unsigned orientation, enum xform t);

/* Makes the tags of the picture's size, where there are any, say this one. It
 * is no larger than it was. */
void exif_set_size(uint8_t *tiff, size_t size, uint32_t width, uint32_t height);

/* Adds an orientation tag where there is none that could be set, so that
 * exif_orientation() returns this value. The block, which owns its memory,
 * grows; an empty one becomes one with this tag alone. Returns 0; or -1 without
 * memory or if it is not an EXIF block, and then nothing has changed. */
int exif_add_orientation(struct bytes *exif, unsigned orientation);

#endif
