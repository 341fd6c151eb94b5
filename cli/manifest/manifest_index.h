/* Manifests in memory: each job once, with the line about it that holds. */
#ifndef CLI_MANIFEST_MANIFEST_INDEX_H
#define CLI_MANIFEST_MANIFEST_INDEX_H

#include "cli/manifest/manifest.h"
#include "cli/select/string_arena.h"

enum manifest_status {
    STATUS_PASSED_OVER, /* its output is its input, its op "" */
    STATUS_SKIPPED,
    STATUS_FAILED,
    STATUS_READY,
    STATUS_DONE,
};

/* What a line says; as struct record has it. */
struct facts {
    enum manifest_status status;
    unsigned manifest;    /* in which it stands, counted from 0 */
    struct timespec time; /* when it was noted */
    uint64_t size, written;
    struct timespec mtime, made_time;
    struct inode_id file, made;
    uint32_t crc;
    bool summed;
    bool placed; /* it says from where its names are, or they are absolute */
};

/* A job. The strings are the index's, and as the first line about it has them.
 */
struct entry {
    const char *input, *output, *op;
    const char *here;    /* from where they are; NULL: it is not noted, and is
                            taken to be the current directory */
    const char *options; /* "" if the line names none */
    const char *error;   /* of the line that holds, or of what failed since it
                            was ready; NULL: there is none */
    const char *line;    /* all of it; NULL unless lines are kept */
    struct facts facts;
    struct facts *done;   /* the last "done"; NULL unless those are kept */
    bool in_place;        /* the output is the input */
    bool twice;           /* it was done again while its input stayed */
    uint64_t hash;
};

/* {0} is an empty one. */
struct manifest_index {
    bool keep_lines; /* to print them */
    bool keep_done;  /* to see what is done twice */
    struct entry *entry;
    size_t count, capacity;
    size_t *slot; /* of a hash table: an index and 1, or 0 */
    size_t slots; /* a power of two */
    unsigned manifests;
    char *here;               /* the current directory */
    struct string_arena names;            /* and all other strings */
    const char *op, *options, *directory; /* the last ones: most are like
                                             them */
};

/* Takes all lines of a manifest, "-" for standard input. Of two lines about a
 * job in one manifest the later one holds, of two in different ones the one
 * that was noted later. -1: a line is no record, though not cut; the reason
 * names its number, or says that all of it is no manifest. */
int manifest_index_read(struct manifest_index *index, const char *name,
                        struct err *err);

/* The entry of a job, found by input, output, op and options; NULL if there is
 * none. It is no matter how names are spelled, as far as path_compare() tells,
 * nor which options there are where the output is the input: what is turned is
 * turned. */
const struct entry *manifest_index_find(const struct manifest_index *index,
                                        const struct record *job);

/* Adds a job, which is not in it, with the facts of this entry. Returns 0, or
 * -1 where memory has run out. */
int manifest_index_adopt(struct manifest_index *index, const struct record *job,
                         const struct entry *like);

/* Has the job of an entry still to be done, whatever was noted. */
void manifest_index_forget(struct manifest_index *index,
                           const struct entry *entry);

/* Where a name of an entry leads: it stands behind the directory that is noted,
 * if it is relative. `path` has PATH_MAX bytes. False: it is too long. */
bool manifest_index_path(const struct manifest_index *index,
                         const struct entry *entry, const char *name,
                         char *path);

/* The order of the places of two outputs, by their names. */
int manifest_index_compare_outputs(const struct manifest_index *index,
                                   const struct entry *a,
                                   const struct entry *b);

void manifest_index_free(struct manifest_index *index);

#endif
