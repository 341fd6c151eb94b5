/* What a line of a manifest says of a job and its files, and whether files are
 * still as it says. */
#ifndef CLI_MANIFEST_FACTS_H
#define CLI_MANIFEST_FACTS_H

#include <sys/stat.h>

#include "cli/manifest/manifest.h"

enum manifest_status {
    STATUS_PASSED_OVER, /* the output is the input, the op "" */
    STATUS_SKIPPED,
    STATUS_FAILED,
    STATUS_READY,
    STATUS_DONE,
};

/* As struct record has it. */
struct facts {
    enum manifest_status status;
    unsigned manifest;    /* the number of the manifest, from 0 */
    struct timespec time; /* when the line was written */
    uint64_t size, written;
    struct timespec mtime, made_time;
    struct inode_id file, made;
    uint32_t crc;
    bool summed;
    bool placed; /* its names are absolute, or their directory is noted */
};

/* Returns whether a file has the size and time of the input as it was read. */
bool facts_fit_input(const struct facts *facts, const struct stat *st);

/* Returns whether a file has the size of the output, and its time if that is
 * noted. */
bool facts_fit_output(const struct facts *facts, const struct stat *st);

/* Returns whether input and output have the same size and time, as with
 * --preserve. */
bool facts_are_alike(const struct facts *facts);

/* Returns whether a file is what a line with "done" or "ready" says was
 * written: by inode, size and time, and only if these do not decide, by the
 * checksum. A line of an older version may have neither; then the size decides.
 * The name is confined to the root, unless that is NULL; `st` is of this file.
 */
bool facts_match_output(const struct facts *facts, struct root *root,
                        const char *name, const struct stat *st);

/* Returns whether the file has the size and the checksum that the line has;
 * false also if the line has no checksum, or the file cannot be read. */
bool facts_match_sum(const struct facts *facts, struct root *root,
                     const char *name);

#endif
