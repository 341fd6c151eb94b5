/* Bytes in memory that grow. */
#include "codecs/base/bytes.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "codecs/base/memory.h"
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

bool bytes_map(struct bytes *bytes, int fd, size_t size)
{
    void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED)
        return false;
    *bytes = (struct bytes){ data, size, SIZE_MAX };
    return true;
}

struct bytes_passed bytes_passed_begin(struct bytes bytes)
{
    const uint8_t *begin = bytes.data;
    return bytes_are_mapped(bytes)
               ? (struct bytes_passed){ begin, begin + bytes.size, begin }
               : (struct bytes_passed){ NULL, NULL, NULL };
}

void bytes_unload(const uint8_t *from, size_t size)
{
    /* madvise() begins at a page. */
    uintptr_t page = (uintptr_t)from & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
    (void)madvise((void *)page, (uintptr_t)from + size - page, MADV_DONTNEED);
}

/* The system maps the pages around one that is read, too, also behind it: so
 * some more are unloaded than were passed. */
void bytes_pass(struct bytes_passed *passed, const uint8_t *at)
{
    const ptrdiff_t step = 1 << 20, around = 1 << 17;
    if (!passed->at || (at - passed->at < step && passed->at - at < step))
        return;
    const uint8_t *from = at < passed->at ? at : passed->at;
    const uint8_t *to = at < passed->at ? passed->at : at;
    from = from - passed->begin > around ? from - around : passed->begin;
    to = passed->end - to > around ? to + around : passed->end;
    bytes_unload(from, (size_t)(to - from));
    passed->at = at;
}

void bytes_free(struct bytes *bytes)
{
    if (bytes_are_mapped(*bytes))
        munmap(bytes->data, bytes->size);
    else if (bytes->capacity)
        page_cache_free(bytes->data);
    *bytes = (struct bytes){ 0 };
}

/* ---- Temporary files ----------------------------------------------------- */

int scratch_fail(struct err *err)
{
    return fail_system(err, "it is more than --max-memory, and its temporary "
                            "file cannot be written");
}

int scratch_write(const struct scratch_map *file, uint64_t at, const void *data,
                  size_t size, struct err *err)
{
    const uint8_t *from = data;
    for (size_t done = 0; done < size;) {
        ssize_t n = TEMP_FAILURE_RETRY(
            pwrite(file->fd, from + done, size - done, (off_t)(at + done)));
        if (n < 0)
            return scratch_fail(err);
        done += (size_t)n;
    }
    return 0;
}

void scratch_close(struct scratch_map *file)
{
    bytes_free(&file->bytes);
    close(file->fd);
}

/* ---- UTF-8 ----------------------------------------------------------------*/

unsigned utf8_length(const char *text)
{
    const uint8_t *p = (const uint8_t *)text;
    unsigned n = p[0] < 0x80 ? 1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    if (p[0] == 0 || (p[0] >= 0x80 && p[0] < 0xc2) || p[0] > 0xf4)
        return 0;
    for (unsigned i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    /* No form longer than needed, no surrogates, nothing above U+10FFFF. */
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
        (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
        return 0;
    return n;
}

bool utf8_append(struct bytes *to, const uint8_t *text, size_t size)
{
    struct bytes copy = { 0 };
    bool good = bytes_append(&copy, text, size) && bytes_append(&copy, "", 1);
    const char *line = (const char *)copy.data;
    size_t size_of_utf8 = 0;
    for (unsigned n = 1; good && n > 0; size_of_utf8 += n)
        n = utf8_length(line + size_of_utf8);
    if (good && !line[size_of_utf8]) {
        good = bytes_append(to, line, size_of_utf8);
    } else {
        for (; good && *line; line++) {
            uint8_t c = (uint8_t)*line;
            uint8_t two[2] = { 0xc0 | c >> 6, 0x80 | (c & 0x3f) };
            good =
                c < 0x80 ? bytes_append(to, &c, 1) : bytes_append(to, two, 2);
        }
    }
    bytes_free(&copy);
    return good;
}
