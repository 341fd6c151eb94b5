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

/* The orientation tag of the picture, 1..8; 1 if there is no good one. */
unsigned exif_orientation(const uint8_t *tiff, size_t size);

/* The same, but 0 if there is no good one; and that of the thumbnail. */
unsigned exif_tag(const uint8_t *tiff, size_t size);
unsigned exif_thumbnail_orientation(const uint8_t *tiff, size_t size);

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

/* Finds the thumbnail, if it is a JPEG file that lies within the block. */
bool exif_thumbnail(const uint8_t *tiff, size_t size, size_t *offset,
                    size_t *length);

/* Whether there is a thumbnail of any kind. One that exif_thumbnail() does not
 * find cannot be turned, only dropped. */
bool exif_has_thumbnail(const uint8_t *tiff, size_t size);

/* Exchanges the axes in the thumbnail's directory alone: of one that was turned
 * another way than the picture. */
void exif_exchange_thumbnail(uint8_t *tiff, size_t size);

/* Puts another JPEG file, from outside of the block, where exif_thumbnail()
 * finds one; does nothing if it finds none. The block, which owns its memory,
 * may grow. -1: no memory for that, and nothing has changed. */
int exif_set_thumbnail(struct bytes *exif, const void *jpeg, size_t length);

/* Takes the thumbnail away, with its directory. The block may get shorter. */
void exif_drop_thumbnail(struct bytes *exif);

/* Puts zeros in the place of the GPS directory and its values, and takes the
 * entries away that lead there. False: that cannot be done without harm to what
 * lies in the same bytes, or it is not to be understood; some of it may be
 * gone. */
bool exif_drop_gps(uint8_t *tiff, size_t size);

/* Makes the tags of the picture's size, where there are any, say this one. It is
 * no larger than it was. */
void exif_set_size(uint8_t *tiff, size_t size, uint32_t width,
                   uint32_t height);

/* Makes exif_orientation() say so where there is no tag that could be set. The
 * block, which owns its memory, grows; an empty one becomes one with this tag
 * alone. -1: no memory, or it is no EXIF block, and nothing has changed. */
int exif_add_orientation(struct bytes *exif, unsigned orientation);

#endif
