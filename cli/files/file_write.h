/* Writes files, so that they are there whole or not at all. */
#ifndef CLI_FILES_FILE_WRITE_H
#define CLI_FILES_FILE_WRITE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "cli/files/files.h"
#include "cli/files/resolve.h"
#include "codecs/base/bytes.h"
#include "codecs/base/err.h"

struct write_opts {
    struct root *root; /* the name is confined to it; NULL: to nothing */
    bool no_clobber;   /* leave a file alone that exists */
    const struct permissions *source; /* the file that the bytes were made of,
                                         or NULL. If it is replaced, the new
                                         bytes are on the disk before it goes */
    bool replaces_source;             /* it may be replaced; else that fails, */
    const char *to_replace; /* and the message says how to have it replaced */
    bool preserve; /* give the file mode, owner, access control list and times
                      of the source, as cp -p does */
    mode_t mode;   /* of a file that did not exist, before the umask */
    bool regular;  /* write to nothing but regular files */
    bool stays;    /* make no directory: a missing one is an error */
    struct warnings *warnings; /* of what is lost of a file that is replaced; or
                                  NULL */
    const int *unnamed; /* a descriptor of a file without a name, which holds
                           the bytes and has the mode above: it gets the name
                           if it can, and need not be copied. Or NULL */
    const char *backup; /* keep the old file, with this behind its name; fails
                           if that exists. NULL: the old file goes */
};

enum written {
    WRITTEN_NOT = -1,
    WRITTEN = 0,
    WRITTEN_EXISTS, /* it is left alone: no_clobber */
    WRITTEN_OVER, /* it took the place of a file that is not the source and had
                     something in it */
};

/* Writes a file beside its place, then renames it: at any instant there is the
 * old file or the new one. Directories that are missing are made, unless it
 * stays. Symbolic
 * links are followed to the file that is replaced, which passes on its
 * permissions and attributes, as files.h says. What is not a regular file,
 * and "-", standard output, is written to. Returns WRITTEN_NOT with the reason,
 * or one of the others. */
enum written file_write(const char *name, struct bytes file,
                        const struct write_opts *opts, struct err *err);

/* A file that is written in pieces, beside its place. */
struct file_draft;

/* Begins a file that file_write() would write or replace; it is to be a regular
 * one. What the options point to must live until the end, as must the name.
 * Returns 0, or -1 with the reason: then there is nothing to end. */
int file_draft_begin(struct file_draft **draft, const char *name,
                     const struct write_opts *opts, struct err *err);

/* Writes a piece to its place in the file. Several threads may write pieces
 * that do not overlap. Returns 0, or -1 with the reason. */
int file_draft_put(struct file_draft *draft, uint64_t at, struct bytes piece,
                   struct err *err);

/* Renames the file to its name. Returns as file_write() does, but for
 * WRITTEN_OVER. */
enum written file_draft_settle(struct file_draft *draft, struct err *err);

/* Removes the file unless it has its name, and frees. Fine on NULL. */
void file_draft_end(struct file_draft *draft);

#endif
