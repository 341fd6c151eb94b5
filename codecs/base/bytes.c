/* Bytes in memory that grow. */
#include "codecs/base/bytes.h"

#include <string.h>

#include "codecs/base/page_cache.h"

bool bytes_reserve(struct bytes *bytes, size_t more)
{
    size_t need;
    if (__builtin_add_overflow(bytes->size, more, &need))
        return false;
    if (need <= bytes->capacity)
        return true;
    /* Half as much again: appending stays linear in all. */
    size_t capacity = bytes->capacity + bytes->capacity / 2;
    if (capacity < need)
        capacity = need;
    uint8_t *data = page_cache_realloc(bytes->data, bytes->size, capacity);
    if (!data)
        return false;
    bytes->data = data;
    bytes->capacity = capacity;
    return true;
}

bool bytes_append(struct bytes *bytes, const void *data, size_t size)
{
    if (!bytes_reserve(bytes, size))
        return false;
    if (size)
        memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
    return true;
}

bool bytes_pad(struct bytes *padded, struct bytes bytes, size_t size)
{
    *padded = (struct bytes){ .data = bytes.data, .size = bytes.size };
    if (bytes.size >= size)
        return true;
    *padded = (struct bytes){ 0 };
    if (!bytes_reserve(padded, size))
        return false;
    memcpy(padded->data, bytes.data, bytes.size);
    memset(padded->data + bytes.size, 0, size - bytes.size);
    padded->size = size;
    return true;
}

void bytes_free(struct bytes *bytes)
{
    if (bytes->capacity)
        page_cache_free(bytes->data);
    *bytes = (struct bytes){ 0 };
}
