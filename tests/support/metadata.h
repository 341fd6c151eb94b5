/* Makers of metadata blocks: EXIF, XMP, and either of them as PNG text. A
 * maker is told what the block says, so that a turned block is made of
 * turned values. */
#ifndef TESTS_SUPPORT_METADATA_H
#define TESTS_SUPPORT_METADATA_H

#include <stdbool.h>
#include <stdint.h>

#include "codecs/base/byte_order.h"
#include "codecs/base/bytes.h"

/* What a block says of its picture. */
struct says {
    unsigned orientation;
    uint32_t width, height;
};

/* What is said after a turn that exchanges axes, or does not. */
struct says says_after(struct says s, bool exchanged, unsigned orientation);

/* Appends an integer of so many bytes, the lowest or the highest first. */
void add_little(struct bytes *to, uint32_t value, unsigned bytes);
void add_big(struct bytes *to, uint32_t value, unsigned bytes);

/* Appends an entry of an IFD with one value. */
void add_tag(struct bytes *to, unsigned tag, unsigned type, uint32_t value);

/* Where things lie in the block that add_exif() makes, from its begin on. */
enum {
    EXIF_IFD0 = 8,
    EXIF_IFD = EXIF_IFD0 + 2 + 4 * 12 + 4,
    EXIF_IFD1 = EXIF_IFD + 2 + 2 * 12 + 4,
    EXIF_THUMBNAIL = EXIF_IFD1 + 2 + 3 * 12 + 4,
};

/* An EXIF block from its TIFF header on, and its thumbnail, a JPEG file, if it
 * has any size. */
void add_exif(struct bytes *to, struct says s, struct bytes thumbnail);

/* Appends a text without its NUL. */
void add_text(struct bytes *to, const char *text);

/* An XMP packet. */
void add_xmp(struct bytes *to, struct says s);

/* Any block as ImageMagick puts it into a text of PNG. */
void add_raw_profile(struct bytes *to, const char *name, struct bytes block);

#endif
