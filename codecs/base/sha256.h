/* The SHA-256 digest (FIPS 180-4), of bytes that come in pieces. It is written
 * here because no library that is linked has it. */
#ifndef CODECS_BASE_SHA256_H
#define CODECS_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_SIZE = 32, SHA256_BLOCK = 64 };

struct sha256 {
    uint32_t state[8];
    uint64_t size;               /* bytes so far */
    uint8_t block[SHA256_BLOCK]; /* the last of them, which fill no block */
};

void sha256_begin(struct sha256 *sum);
void sha256_add(struct sha256 *sum, const void *data, size_t size);
void sha256_end(struct sha256 *sum, uint8_t digest[SHA256_SIZE]);

#endif
