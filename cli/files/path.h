/* Names of files: their parts, how they are put together, where very many are
 * kept, and how they are hashed. */
#ifndef CLI_FILES_PATH_H
#define CLI_FILES_PATH_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The directory and the last component of a name; both point into it. Slashes
 * at the end of either are left out, but for "/": "a//b/" is "a" and "b", "/b"
 * is "/" and "b", "b" is "" and "b", "/" is "/" and "". */
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

/* Hashes bytes to a number that is spread evenly over 64 bits.
 *
 * FNV-1a of 64 bits, then the last mixing of MurmurHash3, since the low bits of
 * FNV alone are not even. --shard assigns a name to a shard by this number
 * modulo the number of shards: it must not change, since the machines that
 * share the work may have different versions of the program. */
uint64_t hash_bytes(const void *data, size_t size);

/* Very many strings, such as names of files, that are freed together. {0} is
 * empty. */
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
