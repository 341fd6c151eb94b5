/* SHA-256 by nettle. */
#include "codecs/base/sha256.h"

#include <nettle/sha2.h>
#include <nettle/version.h>

#define TEXT_OF(tokens) #tokens
#define TEXT(macro)     TEXT_OF(macro)

const char *const sha256_nettle =
    TEXT(NETTLE_VERSION_MAJOR) "." TEXT(NETTLE_VERSION_MINOR);

_Static_assert(sizeof(struct sha256_ctx) <= sizeof(struct sha256), "room");

static struct sha256_ctx *context_of(struct sha256 *sum)
{
    return (struct sha256_ctx *)(void *)sum->state;
}

void sha256_begin(struct sha256 *sum)
{
    sha256_init(context_of(sum));
}

void sha256_add(struct sha256 *sum, const void *data, size_t size)
{
    sha256_update(context_of(sum), size, data);
}

void sha256_end(struct sha256 *sum, uint8_t digest[SHA256_SIZE])
{
    sha256_digest(context_of(sum), SHA256_SIZE, digest);
}
