/* ZIP archives in memory (PKWARE's APPNOTE.TXT, 4.3 to 4.5), as far as NPZ
 * needs them: members that are stored or deflated, in one file, with or without
 * ZIP64.
 *
 * This is our own since no library fits. libzip 1.7 reads and writes an archive
 * of 74 MB of arrays, deflated, in 3.0 s of one processor, where fliph as a
 * whole takes 0.75 s of several; it does not say where members lie, so that
 * those which share bytes cannot be refused; it holds back what it writes until
 * the archive ends, which may be larger than memory; and it takes memory that
 * is not counted. minizip writes members without the extra fields that they
 * were read with. */
#ifndef CODECS_NPY_ZIP_H
#define CODECS_NPY_ZIP_H

#include "codecs/base/scratch.h"
#include "codecs/codec.h"

/* How a member is compressed. */
enum { ZIP_STORED = 0, ZIP_DEFLATED = 8 };

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
    bool mapped;          /* the archive is */
};

/* Begins to go through the data of a member. */
static inline struct bytes_passed zip_passed(const struct zip *zip,
                                             const struct zip_member *member)
{
    return bytes_passed_begin((struct bytes){
        member->data.data, member->data.size, zip->mapped ? SIZE_MAX : 0 });
}

/* Returns whether a file begins as an archive does whose first member has a
 * name that ends with `suffix`. */
bool zip_is(const uint8_t *head, size_t size, const char *suffix);

/* Reads the directory of an archive, whose bytes must outlive `zip`. Fails if
 * it is damaged, has members that overlap, or uses something unknown.
 * zip_close() must follow in any case. */
int zip_open(struct zip *zip, struct bytes file, struct err *err);
void zip_close(struct zip *zip);

/* Puts the content of a member into `content`, which borrows it if it is
 * stored, else owns it; bytes_free() is right for both, also on failure. What
 * is deflated goes to a temporary file if `scratch` is not NULL: then it is
 * more than memory is to hold. Else the caller has checked the size. Fails if
 * the member is damaged, or without memory. */
int zip_extract(struct bytes *content, const struct zip *zip,
                const struct zip_member *member, const struct scratch *scratch,
                struct err *err);

/* Fails with what is wrong with a member, behind its name. */
int zip_fail_member(struct err *err, const struct zip_member *member,
                    const char *what);

/* Copies up to `size` first bytes of the content, without checking them.
 * Returns how many; 0 also on failure. */
size_t zip_extract_head(uint8_t *head, size_t size,
                        const struct zip_member *member);

/* Content that is being deflated. What comes out does not depend on the pieces
 * that it comes in. */
struct zip_deflate {
    struct thread_pool *pool; /* threads that deflate; NULL: the caller's */
    const struct account *account; /* whose time ends that; or NULL */
    struct bytes held;             /* content that waits for more */
    size_t window; /* bytes before it that matches may refer to */
};

/* A member that is being written. */
struct zip_output {
    const struct zip_member *from;
    uint64_t at;       /* where its header begins */
    size_t header;     /* bytes of it */
    uint32_t crc;      /* of the content so far */
    uint64_t size;     /* bytes of that */
    uint64_t deflated; /* bytes that these have become */
    bool deflated_anew;
    struct zip_deflate deflate;
};

/* An archive that is being written. */
struct zip_writer {
    struct bytes *file; /* which it is appended to; empty at first */
    struct bytes directory;
    uint64_t count;
    struct thread_pool *pool; /* threads that deflate; NULL: the caller's */
    const struct account *account; /* whose time ends that; or NULL */
    const struct flush *flush;     /* of the file; NULL: all of it is kept */
    uint64_t flushed;              /* bytes of it */
    struct zip_output now;
};

/* Appends a member of an archive as it is. */
int zip_copy(struct zip_writer *writer, const struct zip *zip,
             const struct zip_member *member, struct err *err);

/* Append it with other content; name, method and extra fields stay: all at
 * once, or in pieces, the last of which is given to zip_end(). Where the file
 * is flushed, a member that becomes one of 4 GiB or more, or no longer is one,
 * fails. */
int zip_replace(struct zip_writer *writer, const struct zip_member *member,
                struct bytes content, struct err *err);
int zip_begin(struct zip_writer *writer, const struct zip_member *member,
              struct err *err);
int zip_put(struct zip_writer *writer, struct bytes piece, struct err *err);
int zip_end(struct zip_writer *writer, struct bytes piece, struct err *err);

/* Appends the directory, which ends the archive. */
int zip_finish(struct zip_writer *writer, struct bytes comment,
               struct err *err);

/* Frees all but the file. Fine on {0}. */
void zip_abandon(struct zip_writer *writer);

/* ---- What reading and writing share ---- */

enum {
    ZIP_LOCAL = 30, /* bytes of a header before its name */
    ZIP_ENTRY = 46, /* the same in the directory */
    ZIP_END = 22,
    ZIP_END_64 = 56,
    ZIP_LOCATOR = 20,
    ZIP_EXTRA_64 = 1, /* the extra field of sizes that 32 bits do not hold */
};
static const uint32_t zip_local_sign = 0x04034b50, zip_entry_sign = 0x02014b50,
                      zip_end_sign = 0x06054b50, zip_end_64_sign = 0x06064b50,
                      zip_locator_sign = 0x07064b50;

/* Bits of a header's flags. */
enum {
    ZIP_ENCRYPTED = 1 << 0 | 1 << 6 | 1 << 13,
    ZIP_EFFORT = 1 << 1 | 1 << 2, /* of the program that deflated it */
    ZIP_SIZES_BEHIND = 1 << 3, /* the data, where they were not known before */
};

#endif
