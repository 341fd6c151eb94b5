/* Files, whole: read into memory, and written so that they are there whole or
 * not at all. */
#ifndef CLI_FILES_H
#define CLI_FILES_H

#include <stdbool.h>
#include <time.h>

#include "codecs/bytes.h"
#include "codecs/err.h"

struct read_opts {
    uint64_t limit; /* the most bytes */
    bool regular;   /* refuse all but regular files: others may keep us waiting
                       for ever */
    /* Is asked once, by the first bytes, whether the rest is worth reading. */
    bool (*wanted)(struct bytes head);
};

/* Reads a file, "-" for standard input. *mtime is when it was last modified. */
int file_read(const char *name, const struct read_opts *opts,
              struct bytes *file, struct timespec *mtime, struct err *err);

/* Has the system read a file ahead, if it is one. */
void file_prefetch(const char *name);

/* The bytes of a regular file; 0 of all else. */
uint64_t file_size(const char *name);

/* Whether both are there, and the first was modified no earlier. */
bool file_is_newer(const char *name, const char *than);

/* Whether both names are there, and of the same file. */
bool file_is_same(const char *name, const char *other);

struct write_opts {
    bool no_clobber;      /* leave a file alone that exists */
    const char *input;    /* what it was made of. If that is what is replaced,
                             the new bytes are on the disk before it goes */
    bool times_of_input;  /* give it the times of the input */
    bool regular;         /* write to nothing but regular files */
    bool make_directories; /* that it stands in, where they are missing */
    const char *backup;   /* the old file stays, with this behind its name; it
                             fails if that is there. NULL: it goes */
};

enum written { WRITTEN = 0, WRITTEN_NOT = -1, WRITTEN_EXISTS = 1 };

/* Writes a file beside its place, then renames it: at any instant there is the
 * old file or the new one. Symbolic links are followed to the file that is
 * replaced, which keeps its mode and, where we may, its owner. What is no
 * regular file, and "-", standard output, is written to. WRITTEN_EXISTS: it was
 * there, and no_clobber. */
enum written file_write(const char *name, struct bytes file,
                        const struct write_opts *opts, struct err *err);

/* Whether something that could be replaced stands under this name already: no
 * directory. "-" never does. */
bool file_exists(const char *name);

#endif
