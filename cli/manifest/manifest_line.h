/* Reads a line of a manifest. */
#ifndef CLI_MANIFEST_MANIFEST_LINE_H
#define CLI_MANIFEST_MANIFEST_LINE_H

#include "cli/json/json_read.h"
#include "cli/manifest/manifest.h"

enum manifest_status {
    STATUS_PASSED_OVER, /* the output is the input, the op "" */
    STATUS_SKIPPED,
    STATUS_FAILED,
    STATUS_READY,
    STATUS_DONE,
};

/* What a line says of a job and its files, as struct record has it. */
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

/* Reads a line: the names of the job and the error into `record`, whose strings
 * are those of `root`, all else into `facts`. Returns 0, or -1 with the reason.
 */
int manifest_line_read(const struct json_value *root, struct record *record,
                       struct facts *facts, struct err *err);

#endif
