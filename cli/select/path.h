/* The parts of a file's name. */
#ifndef CLI_SELECT_PATH_H
#define CLI_SELECT_PATH_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Both point into the name. Slashes at the end of either belong to neither, but
 * for the root: of "a//b/" they are "a" and "b", of "/b" "/" and "b", of "b" ""
 * and "b", of "/" "/" and "". */
struct path {
    const char *directory, *base;
    size_t ndirectory, nbase;
};

struct path path_split(const char *name, size_t length);

/* The suffix of a file's name without its dot; "" if it has none. */
const char *path_suffix(const char *name);

/* Whether this component stands in the name. */
bool path_has(const char *name, const char *component);

/* Names as they are once they are absolute and clean: each with its directory
 * before it if it is relative, without "." and needless slashes. That is as far
 * as one comes without a look at the disk, so ".." stays. The order, as of
 * strcmp(), is by components; names that are the same have the same hash. With
 * "" for a directory relative names stay so. */
int path_compare(const char *here_a, const char *a, const char *here_b,
                 const char *b);
uint64_t path_hash(const char *here, const char *name);

/* A name under way, of at most PATH_MAX - 1 bytes. */
struct path_text {
    char text[PATH_MAX];
    size_t length;
    bool cut; /* it would have been longer */
};

/* Empties the name and puts this text into it. */
void path_text_set(struct path_text *name, const char *text);

/* Appends; the name stays ended by a NUL. */
void path_text_add(struct path_text *name, const char *text, size_t length);

/* Appends a slash unless the name is empty or ends in one. */
void path_text_add_slash(struct path_text *name);

#endif
