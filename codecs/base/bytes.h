/* Bytes in memory that grow: files, chunks, encoded pictures. */
#ifndef CODECS_BASE_BYTES_H
#define CODECS_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* {0} is empty. The holder owns the memory, unless the function that returned
 * it says that it is borrowed. */
struct bytes {
    uint8_t *data;
    size_t size;
    size_t capacity; /* of data; 0 if it is borrowed */
};

/* Makes room for `more` bytes after the end. Returns false without memory, and
 * then changes nothing. */
bool bytes_reserve(struct bytes *bytes, size_t more);

/* Appends a copy of `size` bytes. Returns false without memory, and then
 * changes nothing. */
bool bytes_append(struct bytes *bytes, const void *data, size_t size);

/* Makes *padded at least `size` bytes: it borrows `bytes` if that has so many,
 * else it owns a copy with zeros at its end. Returns false without memory. */
bool bytes_pad(struct bytes *padded, struct bytes bytes, size_t size);

/* Frees the memory. Fine on {0}, and twice. */
void bytes_free(struct bytes *bytes);

#endif
