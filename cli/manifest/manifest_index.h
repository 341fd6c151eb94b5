/* Manifests in memory: each job once, with the line about it that counts. */
#ifndef CLI_MANIFEST_MANIFEST_INDEX_H
#define CLI_MANIFEST_MANIFEST_INDEX_H

#include "cli/files/path.h"
#include "cli/manifest/manifest.h"
#include "cli/select/file_identity.h"

/* Where a name leads: a directory, as file_identity_directory() has it, and the
 * last component. */
struct place {
    const char *directory, *base;
    size_t nbase;
};

/* A job. Its strings belong to the index, and are as the first line about it
 * has them. */
struct entry {
    const char *input, *output, *op;
    const char *directory; /* that its names start from; NULL: not noted, and
                              taken to be the current directory */
    const char *options;   /* "" if the line has none */
    const char *error;     /* of the line that counts, or of a failure since it
                              was ready; NULL: none */
    const char *line;      /* the whole line; NULL unless lines are kept */
    struct facts facts;    /* of the line that counts */
    struct place in, out;
    bool in_place; /* the output is the input */
    uint64_t hash;
};

/* {0} is empty. */
struct manifest_index {
    bool keep_lines; /* to print them */
    struct entry *entry;
    size_t count, capacity;
    size_t *slot; /* of a hash table: the number of an entry plus 1, or 0 */
    size_t slots; /* a power of two */
    unsigned manifests; /* that were read */
    struct file_identities places;
    struct string_arena strings; /* all of them */
    const char *op, *options,
        *directory; /* the last ones: most are like them */
};

/* Adds all lines of a manifest, "-" for standard input. Of two lines about a
 * job in one manifest the later one counts; in two manifests, the one that was
 * noted later. Returns 0, or -1 if a line is not a record, though not cut
 * short; the reason has its number, or says that the file is not a manifest. */
int manifest_index_read(struct manifest_index *index, const char *name,
                        struct err *err);

/* Finds the entry of a job, given by input, output, op and options: its number
 * plus 1, or 0 if there is none. Spellings of names, and links to directories,
 * do not matter, nor do options if the output is the input. Returns 0; or -1 if
 * a name is too long, or without memory. */
int manifest_index_find(struct manifest_index *index, const struct record *job,
                        size_t *found, struct err *err);

/* Returns the entry of another operation on the file of this one, which was
 * replaced in place; NULL: none. */
const struct entry *manifest_index_other(const struct manifest_index *index,
                                         const struct entry *entry,
                                         const char *op);

/* Writes the path of a name of an entry to `path`, of PATH_MAX bytes. Returns
 * false if it is too long. */
bool manifest_index_path(const struct entry *entry, const char *name,
                         char *path);

/* Compares two places, as strcmp() does. */
int manifest_index_compare(const struct place *a, const struct place *b);

void manifest_index_free(struct manifest_index *index);

#endif
