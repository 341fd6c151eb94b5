/* Bytes in memory that grow: files, chunks, encoded pictures; and in mapped
 * files. */
#ifndef CODECS_BASE_BYTES_H
#define CODECS_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codecs/base/err.h"

/* {0} is empty. The holder owns the memory, unless the function that returned
 * it says that it is borrowed. */
struct bytes {
    uint8_t *data;
    size_t size;
    size_t capacity; /* of data; 0 if it is borrowed, SIZE_MAX if it is a file
                        that is mapped */
};

static inline bool bytes_are_mapped(struct bytes bytes)
{
    return bytes.capacity == SIZE_MAX;
}

/* Makes room for `more` bytes after the end. Returns false without memory, and
 * then changes nothing. */
bool bytes_reserve(struct bytes *bytes, size_t more);

/* Appends a copy of `size` bytes. Returns false without memory, and then
 * changes nothing. */
bool bytes_append(struct bytes *bytes, const void *data, size_t size);

/* Makes *padded at least `size` bytes: it borrows `bytes` if that has so many,
 * else it owns a copy with zeros at its end. Returns false without memory. */
bool bytes_pad(struct bytes *padded, struct bytes bytes, size_t size);

/* Maps the first `size` bytes of an open file, at least one, which nobody may
 * cut short meanwhile, to be read. Returns false, with errno, if that is
 * impossible. */
bool bytes_map(struct bytes *bytes, int fd, size_t size);

/* Says that these bytes of a mapped file are not needed soon: their pages no
 * longer count as memory of this process, and are read anew from the file, with
 * what was written there, when they are needed. */
void bytes_unload(const uint8_t *from, size_t size);

/* How far mapped bytes have been gone through, from either end. {0} for bytes
 * in memory: then bytes_pass() does nothing. */
struct bytes_passed {
    const uint8_t *begin, *end; /* of them */
    const uint8_t *at;          /* where its pages were given back last */
};
struct bytes_passed bytes_passed_begin(struct bytes bytes);

/* Says that `at` has been reached, and unloads what is between here and where
 * it was before. */
void bytes_pass(struct bytes_passed *passed, const uint8_t *at);

/* Frees the memory, or the mapping. Fine on {0}, and twice. */
void bytes_free(struct bytes *bytes);

/* ---- Temporary files ----------------------------------------------------- */

/* For what is more than memory is to hold: what codecs/ needs of them, which
 * opens no files. */

/* A temporary file without a name, mapped to be read. It is written by calls,
 * not through the mapping: they say if the disk is full, and no page is cleared
 * before it is written. */
struct scratch_map {
    struct bytes bytes; /* 0 where nothing was written. They are mapped
                           privately, which on Linux shows what is written as
                           long as nobody writes through the mapping. Who has
                           read some calls bytes_unload(): they are memory */
    int fd;
};

/* All functions return 0, or -1 with the reason. */

struct scratch {
    /* Makes a file of `size` bytes, at least one; fails at once if the disk is
     * too full for them, where the system can tell. */
    int (*make)(void *context, uint64_t size, struct scratch_map *file,
                struct err *err);
    void *context;
    uint64_t memory; /* bytes that who writes or reads should work with */
};

/* Writes bytes of the file. Several threads may. */
int scratch_write(const struct scratch_map *file, uint64_t at, const void *data,
                  size_t size, struct err *err);

/* Fails with the reason of the system, since a temporary file cannot be
 * written. */
int scratch_fail(struct err *err);

/* Removes the file. */
void scratch_close(struct scratch_map *file);

/* ---- UTF-8 ----------------------------------------------------------------*/

/* UTF-8, and text that is not UTF-8.
 *
 * The C library decodes UTF-8 only in a locale that uses it, and this must not
 * depend on the locale: files written anywhere are to be equal. */

/* Returns the number of bytes of the UTF-8 character (RFC 3629) that `text`
 * begins with; 0 if it does not begin with one, or is empty. `text` ends with a
 * NUL. */
unsigned utf8_length(const char *text);

/* Appends `size` bytes of text, up to the first NUL, as UTF-8. Text that is not
 * UTF-8 is taken for Latin-1, whose characters are the first 256 of Unicode.
 * Returns false without memory. */
bool utf8_append(struct bytes *to, const uint8_t *text, size_t size);

#endif
