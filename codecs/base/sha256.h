/* The SHA-256 digest (FIPS 180-4), of bytes that come in pieces: by nettle,
 * which uses the processor's SHA instructions, or in a build without it by
 * sha256_own.c, which is some ten times as slow. */
#ifndef CODECS_BASE_SHA256_H
#define CODECS_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_SIZE = 32 };

/* What is known of the bytes so far. */
struct sha256 {
    uint64_t state[16];
};

void sha256_begin(struct sha256 *sum);
void sha256_add(struct sha256 *sum, const void *data, size_t size);
void sha256_end(struct sha256 *sum, uint8_t digest[SHA256_SIZE]);

/* The version of nettle that this was built with, or NULL. */
extern const char *const sha256_nettle;

#endif
