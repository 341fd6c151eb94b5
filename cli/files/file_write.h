/* Writes files, so that they are there whole or not at all. */
#ifndef CLI_FILES_FILE_WRITE_H
#define CLI_FILES_FILE_WRITE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "cli/files/attributes.h"
#include "cli/files/resolve.h"
#include "cli/files/left_behind.h"
#include "codecs/base/bytes.h"
#include "codecs/base/err.h"

struct write_opts {
    struct root *root; /* the name is confined to it, unless it is NULL */
    bool no_clobber;   /* leave a file alone that exists */
    const struct permissions *source; /* what it was made of, or NULL. If that is
                                    what is replaced, the new bytes are on the
                                    disk before it goes */
    bool replaces_source;  /* that may be what is replaced, else it fails, */
    const char *to_replace; /* with what is to be done to have it replaced */
    bool preserve;         /* give it mode, owner, access control list and times
                              of the source, as cp -p does */
    mode_t mode;           /* of a new file, before the umask */
    bool regular;          /* write to nothing but regular files */
    bool make_directories; /* that it stands in, where they are missing */
    struct warnings *warnings; /* takes what is lost of a file that is replaced.
                                  NULL: nobody hears of it */
    struct left_behind *left; /* see cli/files/left_behind.h; or NULL */
    const char *backup; /* the old file stays, with this behind its name; it
                           fails if that is there. NULL: it goes */
};

enum written { WRITTEN = 0, WRITTEN_NOT = -1, WRITTEN_EXISTS = 1 };

/* Writes a file beside its place, then renames it: at any instant there is the
 * old file or the new one. Symbolic links are followed to the file that is
 * replaced, which hands on its attributes, as cli/files/attributes.h says. What is no
 * regular file, and "-", standard output, is written to. WRITTEN_EXISTS: it was
 * there, and no_clobber. */
enum written file_write(const char *name, struct bytes file,
                        const struct write_opts *opts, struct err *err);

#endif
