/* Hashes bytes to a number. */
#include "cli/files/hash.h"

uint64_t hash_bytes(const void *data, size_t size)
{
    const uint8_t *byte = data;
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++)
        h = (h ^ byte[i]) * UINT64_C(0x100000001b3);
    h = (h ^ h >> 33) * UINT64_C(0xff51afd7ed558ccd);
    h = (h ^ h >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return h ^ h >> 33;
}

uint64_t hash_pair(uint64_t a, uint64_t b)
{
    const uint64_t pair[2] = { a, b };
    return hash_bytes(pair, sizeof pair);
}
