/* Files as they are found: read into memory, whole, and looked at. Names may be
 * confined to a root, which is NULL where they are not: cli/files/resolve.h. */
#ifndef CLI_FILES_FILES_H
#define CLI_FILES_FILES_H

#include <stdbool.h>
#include <sys/stat.h>

#include "cli/files/attributes.h"
#include "cli/files/resolve.h"
#include "codecs/base/bytes.h"
#include "codecs/base/err.h"

struct read_opts {
    struct root *root; /* the name is confined to it, unless it is NULL */
    uint64_t limit;    /* the most bytes */
    size_t head;       /* read so many or a few more; 0: all */
    bool acl;          /* read its access control list, too */
    bool served;       /* for a job of serve, which takes no directories */
    bool regular;      /* refuse all but regular files: others may keep us
                          waiting for ever */
    /* Is called once with the first bytes of a file, unless it is empty.
     * Returns 0 if the rest is worth reading, or -1 with the reason. */
    int (*check)(void *context, struct bytes head, struct err *err);
    void *context;
};

/* Reads a file, "-" for standard input. *access is what it was when it was
 * read; the caller frees it. */
int file_read(const char *name, const struct read_opts *opts,
              struct bytes *file, struct permissions *access, struct err *err);

/* Has the system read a file ahead, if it is one. */
void file_prefetch(struct root *root, const char *name);

/* The bytes of a regular file; 0 of all else. */
uint64_t file_size(struct root *root, const char *name);

/* Whether both are there, and the first was modified no earlier. */
bool file_is_newer(struct root *root, const char *name, struct root *than_root,
                   const char *than);

/* Whether both names are there, and of the same regular file. The other one may
 * be "-", standard input. */
bool file_is_same(struct root *root, const char *name, struct root *other_root,
                  const char *other);

/* Whether something that could be replaced stands under this name already: no
 * directory. "-" never does. */
bool file_exists(struct root *root, const char *name);

#endif
