/* Numbers of XMP that are shares of a picture's width or height. */
#ifndef CODECS_METADATA_XMP_RATIO_H
#define CODECS_METADATA_XMP_RATIO_H

#include "codecs/metadata/xml.h"

struct share {
    double value;
    int decimals; /* how many digits follow the point */
};

/* A text of one, with its end. */
enum { SHARE_TEXT = 40 };

/* Reads "0.25" and the like, up to `end`, with blanks around, and goes behind
 * that. */
bool share_read(const char **text, char end, struct share *share);

/* The same of a whole value. */
bool share_of(const uint8_t *text, struct span value, struct share *share);

/* The value as a string; false: it is too long for numbers. */
bool share_copy(char *to, size_t room, const uint8_t *text, struct span value);

struct share share_scaled(struct share share, double by);

/* Where a length that begins at `from` begins in the mirror. */
struct share share_mirrored(struct share from, struct share length);

void share_print(char text[SHARE_TEXT], struct share share);

#endif
