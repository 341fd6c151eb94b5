/* Names of files. */
#include "cli/files/path.h"

#include <stdlib.h>
#include <string.h>

struct path path_split(const char *name, size_t length)
{
    while (length > 1 && name[length - 1] == '/')
        length--;
    const char *slash = memrchr(name, '/', length);
    size_t at = slash ? (size_t)(slash - name) + 1 : 0;
    struct path path = { name, name + at, at, length - at };
    while (path.ndirectory > 1 && name[path.ndirectory - 1] == '/')
        path.ndirectory--;
    return path;
}

bool path_has(const char *name, const char *component)
{
    size_t length = strlen(component);
    while (*name) {
        size_t n = strcspn(name, "/");
        if (n == length && memcmp(name, component, n) == 0)
            return true;
        name += n;
        name += strspn(name, "/");
    }
    return false;
}

const char *path_suffix(const char *name)
{
    const char *slash = strrchr(name, '/');
    const char *base = slash ? slash + 1 : name;
    const char *dot = strrchr(base, '.');
    return dot && dot != base ? dot + 1 : "";
}

/* ---- Names that are put together, and kept ------------------------------- */

void path_text_set(struct path_text *name, const char *text)
{
    name->length = 0;
    name->cut = false;
    path_text_add(name, text, strlen(text));
}

void path_text_add(struct path_text *name, const char *text, size_t length)
{
    size_t room = sizeof name->text - 1 - name->length;
    if (length > room) {
        name->cut = true;
        length = room;
    }
    memcpy(name->text + name->length, text, length);
    name->length += length;
    name->text[name->length] = '\0';
}

struct arena_block {
    struct arena_block *before;
    size_t used, size;
    char text[];
};

/* Bytes of a block: much more than malloc's overhead and the rest that the last
 * name leaves, and little for a short list. */
enum { BLOCK = 1 << 16 };

const char *string_arena_keep(struct string_arena *arena, const char *text,
                              size_t length)
{
    struct arena_block *block = arena->last;
    if (!block || length >= block->size - block->used) {
        size_t size = length < BLOCK ? BLOCK : length + 1;
        block = malloc(sizeof *block + size);
        if (!block)
            return NULL;
        *block = (struct arena_block){ .before = arena->last, .size = size };
        arena->last = block;
    }
    char *kept = block->text + block->used;
    if (length)
        memcpy(kept, text, length);
    kept[length] = '\0';
    block->used += length + 1;
    return kept;
}

void string_arena_free(struct string_arena *arena)
{
    while (arena->last) {
        struct arena_block *before = arena->last->before;
        free(arena->last);
        arena->last = before;
    }
}

/* ---- Hashes -------------------------------------------------------------- */

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
