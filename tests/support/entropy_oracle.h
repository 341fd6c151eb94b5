/* What libjpeg says of a file that our coder of sequential JPEG has read,
 * turned and written: an oracle that shares no code with it. */
#ifndef TESTS_SUPPORT_ENTROPY_ORACLE_H
#define TESTS_SUPPORT_ENTROPY_ORACLE_H

#include <stdbool.h>

#include "codecs/base/bytes.h"
#include "codecs/base/thread_pool.h"
#include "codecs/image/xform.h"
#include "tests/support/jpeg_file.h"

/* Files of all samplings and orders of scans that a sequential JPEG has. */
enum { ENTROPY_KINDS = 16 };
extern const struct entropy_kind {
    const char *name;
    struct coding coding; /* without a size */
} entropy_kinds[ENTROPY_KINDS];

/* Returns a file of this kind. `way`, from 0 to 7, is its quality, with more
 * noise the higher that is, and whether it has the tables of the standard. */
struct bytes entropy_make_kind(unsigned k, uint32_t width, uint32_t height,
                               unsigned restart, unsigned way);

struct entropy_trial {
    enum xform turn;
    bool optimize;            /* write the shortest Huffman tables */
    bool planes;              /* by way of planes of coefficients, unless the
                                 turn transposes blocks */
    struct thread_pool *pool; /* or NULL */
    uint64_t pixels_max;      /* libjpeg is not asked about more; 0: no limit */
};

enum entropy_verdict {
    ENTROPY_SAME,         /* all coefficients are libjpeg's, turned */
    ENTROPY_REFUSED,      /* neither reads the file without a warning */
    ENTROPY_ONLY_LIBJPEG, /* we leave it to libjpeg */
    ENTROPY_WRONG,        /* we read or write what libjpeg does not */
};

/* Reads `file`, turns it, writes it, and compares coefficient by coefficient.
 * Ends the program without memory. */
enum entropy_verdict entropy_try(struct bytes file,
                                 const struct entropy_trial *trial);

/* The same words for each of them, for messages. */
const char *entropy_verdict_name(enum entropy_verdict verdict);

/* Damages the coded data of a file, or seldom its header, in one to three
 * places: bits, bytes, insertions and deletions. */
void entropy_mutate(struct bytes *file, uint64_t *random);

#endif
