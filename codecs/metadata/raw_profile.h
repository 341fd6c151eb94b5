/* A block of metadata as PNG text: "Raw profile type exif", "... APP1".
 *
 * ImageMagick wrote EXIF and XMP into PNG so before there was a chunk for it,
 * and still does: a name, the length in decimal, and the bytes in hexadecimal,
 * each on lines of their own. */
#ifndef CODECS_METADATA_RAW_PROFILE_H
#define CODECS_METADATA_RAW_PROFILE_H

#include "codecs/base/bytes.h"
#include "codecs/base/err.h"

struct raw_profile {
    enum { RAW_PROFILE_NONE, RAW_PROFILE_EXIF, RAW_PROFILE_XMP } kind;
    struct bytes body; /* owned; EXIF from its TIFF header on, or a packet */
    uint8_t sign[32];  /* what the block has before it, as in a JPEG */
    size_t sign_size;
    size_t length;           /* of both, when it was opened */
    size_t number, end, hex; /* in the text: where the length stands and ends,
                                and where the bytes begin */
};

/* Reads the block in such a text, as inflated. A malformed one holds none.
 * Fails only without memory; then there is nothing to free. */
int raw_profile_open(struct raw_profile *profile, const struct bytes *text,
                     struct err *err);

/* Puts the block, which may have changed, back into the text that it was opened
 * in. If its size has not, the size and the line breaks of the text stay. Fails
 * only without memory. */
int raw_profile_close(struct bytes *text, const struct raw_profile *profile,
                      struct err *err);

void raw_profile_free(struct raw_profile *profile);

#endif
