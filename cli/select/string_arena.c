/* Very many strings that are freed together. */
#include "cli/select/string_arena.h"

#include <stdlib.h>
#include <string.h>

struct names_block {
    struct names_block *before;
    size_t used, size;
    char text[];
};

/* Of a block: malloc's own overhead and the rest that the last name leaves are
 * little beside it, and a short list costs little. */
enum { BLOCK = 1 << 16 };

const char *string_arena_keep(struct string_arena *names, const char *text,
                              size_t length)
{
    struct names_block *block = names->last;
    if (!block || length >= block->size - block->used) {
        size_t size = length < BLOCK ? BLOCK : length + 1;
        block = malloc(sizeof *block + size);
        if (!block)
            return NULL;
        *block = (struct names_block){ .before = names->last, .size = size };
        names->last = block;
    }
    char *kept = block->text + block->used;
    if (length)
        memcpy(kept, text, length);
    kept[length] = '\0';
    block->used += length + 1;
    return kept;
}

void string_arena_free(struct string_arena *names)
{
    while (names->last) {
        struct names_block *before = names->last->before;
        free(names->last);
        names->last = before;
    }
}
