/* The parts of a file's name. */
#ifndef CLI_FILES_PATH_H
#define CLI_FILES_PATH_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The directory and the last component of a name; both point into it. Slashes
 * at the end of either are left out, but for "/": "a//b/" is "a" and "b", "/b"
 * is "/" and "b", "b" is
 * "" and "b", "/" is "/" and "". */
struct path {
    const char *directory, *base;
    size_t ndirectory, nbase;
};

struct path path_split(const char *name, size_t length);

/* Returns the suffix of a file's name without its dot; "" if it has none. */
const char *path_suffix(const char *name);

/* Returns whether a name has this component. */
bool path_has(const char *name, const char *component);

/* A name that is put together, of at most PATH_MAX - 1 bytes. */
struct path_text {
    char text[PATH_MAX];
    size_t length;
    bool cut; /* it would be longer */
};

/* Sets the name to this text. */
void path_text_set(struct path_text *name, const char *text);

/* Appends text; the name stays ended by a NUL. */
void path_text_add(struct path_text *name, const char *text, size_t length);

#endif
