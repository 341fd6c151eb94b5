/* ZIP archives in memory (PKWARE's APPNOTE.TXT, 4.3 to 4.5), as far as NPZ
 * needs them: members that are stored or deflated, in one file, with or without
 * ZIP64.
 *
 * This is our own since no library fits. libzip 1.7 reads and writes an archive
 * of 74 MB of arrays, deflated, in 3.0 s of one processor, where fliph as a
 * whole takes 0.75 s of several; it does not say where members lie, so that
 * those which share bytes cannot be refused; and it takes memory that is not
 * counted. minizip writes members without the extra fields that they were read
 * with. */
#ifndef CODECS_NPY_ZIP_H
#define CODECS_NPY_ZIP_H

#include "codecs/codec.h"

/* How a member is compressed. */
enum { ZIP_STORED = 0, ZIP_DEFLATED = 8 };

/* Bytes of a header in the directory before its name, and of what ends the
 * archive before its comment. */
enum { ZIP_ENTRY = 46, ZIP_END = 22 };

/* A member of an archive that was read. All pointers are into the archive. */
struct zip_member {
    const uint8_t *name; /* in any bytes */
    unsigned name_size;
    unsigned method;
    uint32_t crc;
    uint64_t size;        /* of its content */
    struct bytes data;    /* its content as it is stored or deflated */
    const uint8_t *entry; /* its header in the directory */
    const uint8_t *local; /* its header before its data */
};

struct zip {
    struct zip_member *member; /* in the order of the directory */
    size_t count;
    struct bytes comment; /* borrowed */
};

/* Returns whether a file begins as an archive does whose first member has a
 * name that ends with `suffix`. */
bool zip_is(const uint8_t *head, size_t size, const char *suffix);

/* Reads the directory of an archive, whose bytes must outlive `zip`. Fails if
 * it is damaged, has members that overlap, or uses something unknown.
 * zip_close() must follow in any case. */
int zip_open(struct zip *zip, struct bytes file, struct err *err);
void zip_close(struct zip *zip);

/* Puts the content of a member, whose size the caller has checked, into
 * `content`, which borrows it if it is stored, else owns it; bytes_free() is
 * right for both, also on failure. Fails if the member is damaged, or without
 * memory. Unless `most` is SIZE_MAX, that is up to so many first bytes, which
 * are not checked. */
int zip_extract(struct bytes *content, const struct zip_member *member,
                size_t most, struct err *err);

/* Fails with what is wrong with a member, behind its name. */
int zip_fail_member(struct err *err, const struct zip_member *member,
                    const char *what);

/* An archive that is being written. */
struct zip_writer {
    struct bytes *file;     /* which it is appended to; empty at first */
    struct bytes directory; /* the caller frees it */
    uint64_t count;
    struct thread_pool *pool; /* threads that deflate; NULL: the caller's */
    const struct account *account; /* whose time ends that; or NULL */
};

/* Appends a member with other content, or, NULL, as it is: its name, method and
 * extra fields stay. */
int zip_put(struct zip_writer *writer, const struct zip_member *member,
            const struct bytes *content, struct err *err);

/* Appends the directory, which ends the archive. */
int zip_finish(struct zip_writer *writer, struct bytes comment,
               struct err *err);

#endif
