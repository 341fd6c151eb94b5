/* Keeps very many strings that are freed together. */
#include "cli/select/string_arena.h"

#include <stdlib.h>
#include <string.h>

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
