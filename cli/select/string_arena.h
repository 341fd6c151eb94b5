/* Keeps very many strings, such as names of files, that are freed together. */
#ifndef CLI_SELECT_STRING_ARENA_H
#define CLI_SELECT_STRING_ARENA_H

#include <stddef.h>

/* {0} is empty. */
struct string_arena {
    struct arena_block *last;
};

/* Returns a copy of `length` bytes, followed by a NUL. It stays where it is
 * until string_arena_free(). Returns NULL if there is no memory. */
const char *string_arena_keep(struct string_arena *arena, const char *text,
                              size_t length);

/* Frees all strings. Fine on {0}, and twice. */
void string_arena_free(struct string_arena *arena);

#endif
