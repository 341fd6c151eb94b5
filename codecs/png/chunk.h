/* The chunks of a PNG as they stand in a file: length, type, data and CRC
 * (Third Edition, section 5.3). */
#ifndef CODECS_PNG_CHUNK_H
#define CODECS_PNG_CHUNK_H

#include <stdbool.h>
#include <string.h>

#include "codecs/base/byte_order.h"
#include "codecs/base/bytes.h"
#include "codecs/deflate/flate.h"

enum {
    PNG_SIGNATURE = 8, /* bytes of the file before the first chunk */
    CHUNK_HEAD = 8,    /* bytes of the length and the type */
    CHUNK_AROUND = 12, /* of these and the CRC */
};

struct chunk {
    const uint8_t *type, *data;
    size_t size; /* of the data */
};

/* Returns what follows the signature of a file: its chunks. */
static inline struct bytes chunk_bytes(struct bytes file)
{
    const size_t head = file.size < PNG_SIGNATURE ? file.size : PNG_SIGNATURE;
    file.data += head;
    file.size -= head;
    return file;
}

/* Takes the first chunk off the bytes that are left of a file. Returns false,
 * and takes nothing, if there is not a whole one: of less than 2 GiB, with four
 * letters as its type. */
static inline bool chunk_next(struct chunk *chunk, struct bytes *left)
{
    const uint8_t *at = left->data;
    if (left->size < CHUNK_AROUND || read_be32(at) > INT32_MAX ||
        read_be32(at) > left->size - CHUNK_AROUND)
        return false;
    for (unsigned i = 4; i < CHUNK_HEAD; i++)
        if ((at[i] | 0x20) < 'a' || (at[i] | 0x20) > 'z')
            return false;
    *chunk = (struct chunk){ at + 4, at + CHUNK_HEAD, read_be32(at) };
    left->data += chunk->size + CHUNK_AROUND;
    left->size -= chunk->size + CHUNK_AROUND;
    return true;
}

static inline bool chunk_is(const struct chunk *chunk, const char *type)
{
    return memcmp(chunk->type, type, 4) == 0;
}

/* Returns whether the CRC of the type and the data is right. */
static inline bool chunk_is_sound(const struct chunk *chunk)
{
    return flates[0]->crc32(0, chunk->type, chunk->size + 4) ==
           read_be32(chunk->data + chunk->size);
}

#endif
