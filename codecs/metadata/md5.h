/* The MD5 digest (RFC 1321), by which Extended XMP names what belongs together.
 * Against anybody with an intent it protects nothing. */
#ifndef CODECS_METADATA_MD5_H
#define CODECS_METADATA_MD5_H

#include <stddef.h>
#include <stdint.h>

enum { MD5_SIZE = 16 };

void md5(uint8_t digest[MD5_SIZE], const uint8_t *data, size_t size);

#endif
