/* A block of metadata as PNG text: "Raw profile type exif", "... APP1".
 *
 * ImageMagick wrote EXIF and XMP into PNG so before there was a chunk for it,
 * and still does: a name, the length in decimal, and the bytes in hexadecimal,
 * each on lines of their own. */
#ifndef CODECS_METADATA_RAW_PROFILE_H
#define CODECS_METADATA_RAW_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include "codecs/base/err.h"
#include "codecs/image/orientation.h"
#include "codecs/image/xform.h"

/* exif_turn() or xmp_turn() for the block in such a text, as inflated. The size
 * of the text and its line breaks stay. Does nothing if the text is malformed.
 * Fails only without memory. */
int raw_profile_turn(uint8_t *text, size_t size, enum xform t,
                     unsigned orientation, uint32_t width, uint32_t height,
                     struct err *err);

/* What such a text holds. */
enum raw_profile { RAW_PROFILE_NONE, RAW_PROFILE_EXIF, RAW_PROFILE_XMP };
int raw_profile_kind(const uint8_t *text, size_t size, enum raw_profile *kind,
                     struct err *err);

/* Leaves out of the block what codecs/metadata/drop.h leaves out. The size of the text
 * stays. */
int raw_profile_drop(uint8_t *text, size_t size, unsigned drop,
                     struct err *err);

/* Takes note of the orientation in such a text. *exif is where EXIF in it
 * counts to be, and TAG_MORE_EXIF afterwards if it was EXIF. Fails only without
 * memory. */
int raw_profile_note(const uint8_t *text, size_t size, struct orientation *o,
                     enum tag_place *exif, struct err *err);

#endif
