/* An EXIF block: what it says about the picture's place in space.
 *
 * A block is a TIFF structure from its header "II*\0" or "MM\0*" on, without
 * the "Exif\0\0" that JPEG puts before it. It comes from a file and may hold
 * anything: what cannot be read counts as absent, and nothing is ever read or
 * written outside of it. Maker notes are never touched. */
#ifndef CODECS_METADATA_EXIF_H
#define CODECS_METADATA_EXIF_H

#include "codecs/base/bytes.h"
#include "codecs/base/err.h"
#include "codecs/image/image.h"

/* ---- Orientation and size -------------------------------------------------*/

/* Returns the orientation tag of the picture, 1..8; 0 if it is missing or has
 * another value. */
unsigned exif_tag(const uint8_t *exif, size_t size);

/* Returns where the block begins in an item of HEIF or a box of JPEG XL, which
 * is `size` if there is none. The first four bytes say where, counted from
 * behind them; but some files have "Exif" before it all the same, or no such
 * bytes. */
size_t exif_item_begin(const uint8_t *data, size_t size);

/* Makes the block true after the stored pixels, and those of the thumbnail,
 * were changed: sizes, densities and the subject's place in the picture.
 * Orientation tags, where there are any, say `orientation` afterwards, 1..8; 0
 * leaves them. The size of the block stays. */
void exif_turn(uint8_t *exif, size_t size, const struct change *change,
               unsigned orientation);

/* Makes the orientation tags of the picture, where there are any, say
 * `orientation`, 1..8, and turns on that of the thumbnail by t. */
void exif_retag(uint8_t *exif, size_t size, unsigned orientation, enum xform t);

/* Adds an orientation tag where there is none that could be set, so that
 * exif_tag() returns this value. The block, which owns its memory,
 * grows; an empty one becomes one with this tag alone. Returns 0; or -1 without
 * memory or if it is not an EXIF block, and then nothing has changed. */
int exif_add_orientation(struct bytes *exif, unsigned orientation);

/* ---- The thumbnail --------------------------------------------------------*/

struct exif_thumbnail {
    bool exists;          /* there is one of any kind */
    size_t at, length;    /* of one that is a JPEG file and lies within the
                             block; else 0: it cannot be turned, only dropped */
    unsigned orientation; /* its tag, 1..8; 0: missing or another value */
};

/* Finds the thumbnail. */
struct exif_thumbnail exif_thumbnail_find(const uint8_t *exif, size_t size);

/* Exchanges the axes in the directory of the thumbnail alone, which was turned
 * another way than the picture. */
void exif_thumbnail_exchange(uint8_t *exif, size_t size);

/* Puts another JPEG file, from outside of the block, where
 * exif_thumbnail_find() finds one; does nothing if it finds none. The block,
 * which owns its memory, may grow. Returns 0; or -1 without memory, and then
 * nothing has changed. */
int exif_thumbnail_set(struct bytes *exif, const void *jpeg, size_t length);

/* Takes the thumbnail away, with its directory. The block may get shorter. */
void exif_thumbnail_drop(struct bytes *exif);

/* ---- What --strip names ---------------------------------------------------*/

/* Takes GPS and thumbnail, as `drop` says, out of a block, which owns its
 * memory and may get shorter. Offsets stay, and zeros stand where something was
 * taken out. Fails if other data lies in the same bytes. */
int exif_drop(struct bytes *exif, unsigned drop, struct err *err);

#endif
