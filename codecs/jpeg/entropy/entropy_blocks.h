/* The blocks of a scan, and lists of the values in them. */
#ifndef CODECS_JPEG_ENTROPY_ENTROPY_BLOCKS_H
#define CODECS_JPEG_ENTROPY_ENTROPY_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>

#include "codecs/jpeg/entropy/entropy.h"

enum {
    ENTROPY_PARTS = 64,
    ENTROPY_BLOCK_VALUES = 80, /* values that one block may write */
};

/* The blocks of a scan, in the order in which it codes them. */
struct entropy_blocks {
    struct entropy_block *block;
    size_t count;
    uint16_t *values[2 * ENTROPY_PARTS]; /* of struct entropy_block.part; the
                          second half is of blocks that have been replaced */
    unsigned parts;
    size_t size; /* bytes of the data that they were decoded from; or 0 */
};

/* Fine on {0}, and twice. */
void entropy_blocks_free(struct entropy_blocks *blocks);

/* A list of values, which grows. */
struct entropy_values {
    uint16_t *value;
    size_t count, room;
};

/* Makes room for about so many values. Returns false without memory. */
bool entropy_values_grow(struct entropy_values *list, size_t room);

/* Makes room for those of one more block. Returns false without memory. */
static inline bool entropy_values_reserve(struct entropy_values *list)
{
    return list->count + ENTROPY_BLOCK_VALUES <= list->room ||
           entropy_values_grow(list, list->room * 2);
}

#endif
