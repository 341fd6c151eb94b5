/* A run of bytes in memory that grows: files, chunks, encoded pictures. */
#ifndef CODECS_BASE_BYTES_H
#define CODECS_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* {0} is empty. Whoever holds one owns its memory, unless the function that
 * gives it says that it is borrowed. */
struct bytes {
    uint8_t *data;
    size_t size;
    size_t capacity; /* of data; 0 if it is borrowed */
};

/* Makes room for `more` bytes behind the end. False: no memory, and nothing
 * has changed. */
bool bytes_reserve(struct bytes *bytes, size_t more);

/* Appends a copy of `size` bytes. False: no memory, nothing has changed. */
bool bytes_append(struct bytes *bytes, const void *data, size_t size);

/* Frees the memory and empties the run. Fine on {0}, and twice. */
void bytes_free(struct bytes *bytes);

#endif
