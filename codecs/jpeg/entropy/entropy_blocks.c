/* The blocks of a scan, and lists of the values in them. */
#include "codecs/jpeg/entropy/entropy_blocks.h"

#include "codecs/base/page_cache.h"

/* A block has the index of its first value in 32 bits. */
bool entropy_values_grow(struct entropy_values *list, size_t room)
{
    uint16_t *value = NULL;
    room += 1 << 12;
    if (room <= UINT32_MAX)
        value = page_cache_realloc(list->value, list->count * sizeof *value,
                                   room * sizeof *value);
    if (!value)
        return false;
    list->value = value;
    list->room = room;
    return true;
}

void entropy_blocks_free(struct entropy_blocks *blocks)
{
    for (unsigned i = 0; i < blocks->parts; i++)
        page_cache_free(blocks->values[i]);
    page_cache_free(blocks->block);
    *blocks = (struct entropy_blocks){ 0 };
}
