/* Numbers of XMP that are shares of a picture's width or height. */
#ifndef CODECS_METADATA_XMP_RATIO_H
#define CODECS_METADATA_XMP_RATIO_H

#include "codecs/metadata/xml.h"

struct xmp_ratio {
    double value;
    int decimals; /* how many digits follow the point */
};

/* Buffer size for one printed ratio, including its NUL. */
enum { XMP_RATIO_TEXT = 40 };

/* Reads a number such as "0.25", with blanks around it, up to the character
 * `end`, and sets *text behind that. Returns false if it is malformed. */
bool xmp_ratio_read(const char **text, char end, struct xmp_ratio *ratio);

/* Reads a value that is nothing but such a number. Returns false if it is not.
 */
bool xmp_ratio_of(const uint8_t *text, struct xml_span value,
                  struct xmp_ratio *ratio);

/* Copies the value as a string. Returns false if it is too long for numbers. */
bool xmp_ratio_copy(char *to, size_t room, const uint8_t *text,
                    struct xml_span value);

struct xmp_ratio xmp_ratio_scaled(struct xmp_ratio ratio, double by);

/* Returns where a length that begins at `from` begins in the mirrored picture.
 */
struct xmp_ratio xmp_ratio_mirrored(struct xmp_ratio from,
                                    struct xmp_ratio length);

void xmp_ratio_print(char text[XMP_RATIO_TEXT], struct xmp_ratio ratio);

#endif
