/* Files without a name, for what memory need not hold. They stand in the
 * directory of the output, or, where that is missing, in the one that it will
 * be made in; or, where that takes none, in TMPDIR or /tmp. Whatever ends the
 * program, nothing of them is left. */
#ifndef CLI_FILES_SCRATCH_FILE_H
#define CLI_FILES_SCRATCH_FILE_H

#include "cli/files/resolve.h"
#include "codecs/base/bytes.h"

/* Returns the directory for those that have none beside the output. */
const char *scratch_file_apart(void);

/* What takes an output while it is encoded; and others stand beside it. */
struct scratch_file {
    const char *beside; /* the name of the output; "-": standard output */
    struct root *root;  /* that name is confined to it, unless it is NULL */
    uint64_t mapped;    /* bytes of all others, that were mapped */
    mode_t mode;        /* with which it may get the name, before the umask; 0:
                           it never gets it */
    bool is_output;     /* scratch_file_make_output() has made it */
    bool made;
    int fd;
    uint64_t size; /* bytes, so far */
};

/* Returns how codecs make others, with so many bytes of memory. It must stay.
 */
struct scratch scratch_access(struct scratch_file *file, uint64_t memory);

/* Makes the file so that it may become the output: returns false, and makes
 * none, where that is no regular file, or no file can get a name later. */
bool scratch_file_make_output(struct scratch_file *file);

/* Append bytes to a struct scratch_file, and empty them; or write over bytes of
 * it: struct flush. */
int scratch_file_append(void *file, struct bytes *bytes, struct err *err);
int scratch_file_replace(void *file, uint64_t at, const void *data, size_t size,
                         struct err *err);

/* Removes the file. Fine if it has not been made, and twice. */
void scratch_file_close(struct scratch_file *file);

#endif
