/* The MD5 digest (RFC 1321), by which Extended XMP names its packets; it
 * protects against nobody. It is written here because no library that is linked
 * has it, and a library of cryptography for one digest is more to install than
 * this is to read. */
#ifndef CODECS_METADATA_MD5_H
#define CODECS_METADATA_MD5_H

#include <stddef.h>
#include <stdint.h>

enum { MD5_SIZE = 16 };

void md5(uint8_t digest[MD5_SIZE], const uint8_t *data, size_t size);

#endif
