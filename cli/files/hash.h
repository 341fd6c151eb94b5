/* Hashes bytes to a number that is spread evenly over 64 bits. */
#ifndef CLI_FILES_HASH_H
#define CLI_FILES_HASH_H

#include <stddef.h>
#include <stdint.h>

/* FNV-1a of 64 bits, then the last mixing of MurmurHash3, since the low bits of
 * FNV alone are not even. --shard assigns a name to a shard by this number
 * modulo the number of shards: it must not change, since the machines that
 * share the work may have different versions of the program. */
uint64_t hash_bytes(const void *data, size_t size);

/* Hashes two numbers, in this order. */
uint64_t hash_pair(uint64_t a, uint64_t b);

#endif
