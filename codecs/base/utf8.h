/* Text in UTF-8, and text that is not. */
#ifndef CODECS_BASE_UTF8_H
#define CODECS_BASE_UTF8_H

#include "codecs/base/bytes.h"

/* How many bytes of `text` are one UTF-8 character (RFC 3629); 0 if its first
 * bytes are none, or the text ends. */
unsigned utf8_length(const char *text);

/* Appends `size` bytes of text up to the first zero, as UTF-8: what is not that
 * already is taken for Latin-1, whose characters are the first 256 of Unicode.
 * False: no memory. */
bool utf8_append(struct bytes *to, const uint8_t *text, size_t size);

#endif
