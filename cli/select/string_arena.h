/* Very many strings that are freed together, as names of files are. */
#ifndef CLI_SELECT_STRING_ARENA_H
#define CLI_SELECT_STRING_ARENA_H

#include <stddef.h>

/* {0} is empty. */
struct string_arena {
    struct names_block *last;
};

/* Keeps a copy, with a NUL behind it. It stays where it is until
 * string_arena_free(). NULL: no memory. */
const char *string_arena_keep(struct string_arena *names, const char *text,
                              size_t length);

/* Frees them all. Fine on {0}, and twice. */
void string_arena_free(struct string_arena *names);

#endif
