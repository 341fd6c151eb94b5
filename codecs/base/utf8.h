/* UTF-8, and text that is not UTF-8.
 *
 * The C library decodes UTF-8 only in a locale that uses it, and this must not
 * depend on the locale: files written anywhere are to be equal. */
#ifndef CODECS_BASE_UTF8_H
#define CODECS_BASE_UTF8_H

#include "codecs/base/bytes.h"

/* Returns the number of bytes of the UTF-8 character (RFC 3629) that `text`
 * begins with; 0 if it does not begin with one, or is empty. `text` ends with a
 * NUL. */
unsigned utf8_length(const char *text);

/* Appends `size` bytes of text, up to the first NUL, as UTF-8. Text that is not
 * UTF-8 is taken for Latin-1, whose characters are the first 256 of Unicode.
 * Returns false without memory. */
bool utf8_append(struct bytes *to, const uint8_t *text, size_t size);

#endif
