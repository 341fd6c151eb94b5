/* ZIP archives in memory, as far as NPZ needs them: members that are stored or
 * deflated, in one file, with or without ZIP64.
 *
 * APPNOTE.TXT of PKWARE, 4.3 to 4.5. No library does it: libzip, which is the
 * usual one, would have three more libraries of compression and one of
 * cryptography loaded at every start of the program, and minizip writes members
 * without the fields they were read with. */
#ifndef CODECS_NPY_ZIP_H
#define CODECS_NPY_ZIP_H

#include "codecs/base/bytes.h"
#include "codecs/base/err.h"
#include "codecs/base/thread_pool.h"

/* How a member is compressed. */
enum { ZIP_STORED = 0, ZIP_DEFLATED = 8 };

/* A member of an archive that was read. All that it points to is the
 * archive's. */
struct zip_member {
    const uint8_t *name; /* in any bytes */
    unsigned name_size;
    unsigned method;
    uint32_t crc;
    uint64_t size;        /* of what it holds */
    struct bytes data;    /* the same, as it is stored or deflated */
    const uint8_t *entry; /* its header in the directory */
    const uint8_t *local; /* its header before its data */
};

struct zip {
    struct zip_member *member; /* in the order of the directory */
    size_t count;
    struct bytes comment; /* borrowed */
};

/* Whether a file begins as an archive does whose first member has a name with
 * this end. */
bool zip_is(const uint8_t *head, size_t size, const char *suffix);

/* Reads the directory of an archive, which has to outlive it. On failure it is
 * damaged, or made in a way that is not known here; members that overlap are
 * refused. The caller calls zip_close(). */
int zip_open(struct zip *zip, struct bytes file, struct err *err);
void zip_close(struct zip *zip);

/* Brings what a member holds into `content`: a borrowed run, if it is stored,
 * else memory that bytes_free() frees. Its size is not asked for here: whoever
 * calls this has looked at it. On failure the member is damaged, or there is no
 * memory. */
int zip_extract(struct bytes *content, const struct zip_member *member,
                struct err *err);

/* The same for the first bytes of what it holds, up to `size`, which are not
 * checked. Returns how many there are; 0 also on failure. */
size_t zip_extract_head(uint8_t *head, size_t size,
                        const struct zip_member *member);

/* An archive that is being written. */
struct zip_writer {
    struct bytes *file; /* to which it is appended, and which is empty */
    struct bytes directory;
    uint64_t count;
    struct thread_pool *pool; /* threads that deflate; NULL: the caller's */
};

/* Appends a member with the name, the method and the fields of this one, as it
 * is. */
int zip_copy(struct zip_writer *writer, const struct zip_member *member,
             struct err *err);

/* The same, but for what it holds. */
int zip_replace(struct zip_writer *writer, const struct zip_member *member,
                struct bytes content, struct err *err);

/* Ends the archive. */
int zip_finish(struct zip_writer *writer, struct bytes comment,
               struct err *err);

/* Frees what is not the file's. Fine on {0}. */
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
    ZIP_HOW_HARD = 1 << 1 | 1 << 2, /* it was tried to deflate it */
    ZIP_SIZES_BEHIND = 1 << 3, /* the data, since they were not known before */
};

#endif
