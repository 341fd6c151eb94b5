/* Very many strings that are freed together, as names of files are. */
#ifndef CLI_SELECT_STRING_ARENA_H
#define CLI_SELECT_STRING_ARENA_H

#include <stddef.h>

/* {0} is empty. */
struct names {
    struct names_block *last;
};

/* Keeps a copy, with a NUL behind it. It stays where it is until names_free().
 * NULL: no memory. */
const char *names_keep(struct names *names, const char *text, size_t length);

/* Frees them all. Fine on {0}, and twice. */
void names_free(struct names *names);

#endif
