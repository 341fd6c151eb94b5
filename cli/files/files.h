/* Reads files into memory, or line by line, and looks at what is there.
 *
 * This room (cli/files) is the only one that opens, writes and renames files of
 * users. In come names, which may be confined to a root (cli/files/resolve.h);
 * out go bytes, descriptors and answers. path.h takes names apart. It knows
 * nothing of pictures or of options. */
#ifndef CLI_FILES_FILES_H
#define CLI_FILES_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "cli/files/resolve.h"
#include "codecs/base/bytes.h"
#include "codecs/base/err.h"

/* ---- What a file has beside its bytes (attributes.c) ----
 *
 * Permissions, that is owner, group, mode and access control list, and extended
 * attributes. */

/* {0} is fine to free. */
struct permissions {
    struct stat st;
    uint8_t *acl;     /* the POSIX access control list, if the file has one, */
    size_t nacl;      /* of so many bytes */
    bool acl_unknown; /* there may be a list, which cannot be read */
};

/* Reads the list of an open file; `st` is set already.
 * Returns 0, or -1 with the reason if there is no memory. */
int permissions_read_acl(struct permissions *permissions, int fd,
                         struct err *err);
void permissions_free(struct permissions *permissions);

/* What becomes of the mode if the group may not be given: */
enum permissions_keep {
    PERMISSIONS_NARROW, /* nobody may do more than before: the group and others
                           get only what both had */
    PERMISSIONS_AS_CP,  /* it is kept, as cp -p keeps it */
};

/* Gives an open file, which nobody but its owner may read yet, the permissions
 * of another one, as far as the system lets it. Without the owner or the group
 * it is not a set-user-ID or set-group-ID file. Warns if the list cannot be
 * set, or would speak of another group; then only the owner may do anything.
 * Returns 0, or -1 with the reason. */
int permissions_give(const struct permissions *permissions, int fd,
                     enum permissions_keep keep, struct warnings *warnings,
                     struct err *err);

/* Reads the permissions of the file `base` in a directory, which is about to be
 * replaced, and copies its extended attributes to an open file, but for those
 * that vouch for the old bytes (security.capability, .ima and .evm). Warns of
 * those that cannot be kept. Returns 0, or -1 with the reason. */
int attributes_copy(int directory, const char *base, int to,
                    struct permissions *permissions, struct warnings *warnings,
                    struct err *err);

/* ---- Reading, and looking ---- */

struct read_opts {
    struct root *root; /* the name is confined to it; NULL: to nothing */
    uint64_t limit;    /* the most bytes in memory */
    uint64_t map_from; /* a regular file of so many bytes is mapped; 0: none */
    bool acl;          /* read the access control list, too */
    bool served;       /* for a job of serve, which takes no directories */
    bool regular; /* refuse all but regular files: others may keep the reader
                     waiting for ever */
    /* Is called once with the first bytes of a file, unless it is empty.
     * Returns 0 if the rest is worth reading, or -1 with the reason. NULL: it
     * is. */
    int (*check)(void *context, struct bytes head, struct err *err);
    void *context;
    /* Is called with the size of a regular file, and 0 for everything else,
     * before it is read; may be NULL. */
    void (*reserve)(void *context, uint64_t bytes);
    void *reserve_context;
};

/* Reads a file, or maps it; "-" is standard input. *permissions are those of
 * the time when it was read. The caller frees both, the permissions even on
 * failure. Returns 0, or -1 with the reason. */
int file_read(const char *name, const struct read_opts *opts,
              struct bytes *file, struct permissions *permissions,
              struct err *err);

/* Reads a file and finds its size in bytes and its CRC-32 (ISO 3309). Returns
 * whether it could be read. */
bool file_checksum(struct root *root, const char *name, uint64_t *size,
                   uint32_t *crc);

/* Returns whether both files exist, and the first was modified no earlier. */
bool file_is_newer(struct root *root, const char *name, struct root *than_root,
                   const char *than);

/* Returns whether both names lead to the same regular file. The other one may
 * be
 * "-", standard input. */
bool file_is_same(struct root *root, const char *name, struct root *other_root,
                  const char *other);

/* Returns whether a name is "-", or that of a pipe or a device. */
bool file_is_stream(struct root *root, const char *name);

/* Returns whether something that could be replaced has this name: anything but
 * a directory. "-" never does. */
bool file_exists(struct root *root, const char *name);

/* Opens /dev/null as this descriptor. On failure it returns false and sets
 * errno. */
bool file_put_null(int fd);

/* Reads the lines of a file, or the strings between NULs. Unlike getdelim() it
 * bounds their length, since their writer may not be trusted, and need not wait
 * for them. */

/* {.fd, .end, .most} at first. With `polled`, read() is called only once after
 * the caller has set `readable`, so that it never waits; until then the answer
 * is LINE_LATER. */
struct line_reader {
    int fd;
    char end;    /* '\n' or '\0' */
    size_t most; /* bytes of a line */
    bool polled, readable;
    char *data;
    size_t at, size, room;
    size_t looked; /* bytes of this line that were searched for its end */
    bool dropping; /* this line is too long, and was given already */
    bool ended;
};

enum line {
    LINE_READ,
    LINE_TOO_LONG, /* its beginning; others may follow */
    LINE_NONE,     /* there are no more */
    LINE_FAILED,   /* errno says why */
    LINE_LATER,    /* the next one has not arrived yet */
};

/* Gives the next line without its end, which the last one may lack, followed by
 * a NUL. The line is valid until the next call. */
enum line line_reader_next(struct line_reader *lines, char **line,
                           size_t *size);

void line_reader_free(struct line_reader *lines);

#endif
