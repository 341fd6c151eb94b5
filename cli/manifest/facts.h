/* What a line of a manifest says of a job and its files, and whether files are
 * still as it says. */
#ifndef CLI_MANIFEST_FACTS_H
#define CLI_MANIFEST_FACTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "cli/files/resolve.h"

enum manifest_status {
    STATUS_PASSED_OVER, /* a file was found whose format is not supported: it
                           has neither output nor op */
    STATUS_SKIPPED,
    STATUS_FAILED,
    STATUS_READY, /* the input is about to be replaced by such an output */
    STATUS_DONE,
};

/* As lines have it: "passed_over", ... */
extern const char *const manifest_status_name[STATUS_DONE + 1];

/* Identifies a file until it is replaced, whatever its name. */
struct inode_id {
    uint64_t device, inode;
    bool known;
};

struct facts {
    enum manifest_status status;
    uint64_t size;             /* of the input as it was read, in bytes */
    struct timespec mtime;     /* its last modification; both 0: not known */
    struct inode_id file;      /* the input as it was read */
    uint64_t written;          /* bytes of the output, of "done" and "ready" */
    struct inode_id made;      /* the output, of "done", and */
    struct timespec made_time; /* its last modification, if that is known */
    uint32_t crc;              /* CRC-32 (ISO 3309) of the output, if */
    bool summed;               /* that is known, as it must be of "ready" */
    bool anew; /* its run did the job whatever earlier lines say */
    /* Of lines that were read: */
    bool placed;       /* the names are absolute, or their directory is noted */
    unsigned manifest; /* the number of the manifest, from 0 */
    struct timespec time; /* when the line was written */
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
 * The name is confined to the root, unless that is NULL; `st` is the file's. */
bool facts_match_output(const struct facts *facts, struct root *root,
                        const char *name, const struct stat *st);

/* Returns whether the file has the size and the checksum that the line has;
 * false also if the line has no checksum, or the file cannot be read. */
bool facts_match_sum(const struct facts *facts, struct root *root,
                     const char *name);

#endif
