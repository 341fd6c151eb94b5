/* Directories of a TIFF structure, which EXIF and MPF are, and the numbers in
 * them (TIFF 6.0, section 2).
 *
 * The structure comes from a file and may hold anything: what cannot be read
 * counts as absent, and nothing is ever read or written outside of it. No chain
 * of links is followed here. */
#ifndef CODECS_METADATA_TIFF_H
#define CODECS_METADATA_TIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codecs/base/bytes.h"

/* A header of 8 bytes leads to the first directory (IFD): a count of 2 bytes,
 * entries of 12, and the offset of the next IFD in 4. An entry is tag, type,
 * count, and the value itself if it fits into the last 4 bytes, else its
 * offset. */
enum {
    TIFF_HEADER = 8,
    TIFF_ENTRY = 12,
    TIFF_ENTRY_TYPE = 2,
    TIFF_ENTRY_COUNT = 4,
    TIFF_ENTRY_VALUE = 8,
};

enum {
    TIFF_BYTE = 1,
    TIFF_SHORT = 3,
    TIFF_LONG = 4,
    TIFF_UNDEFINED = 7,
    TIFF_IFD = 13,
    TIFF_TYPES,          /* that a structure with offsets of 4 bytes has */
    TIFF_BIG_TYPES = 19, /* that BigTIFF has, with LONG8, SLONG8 and IFD8 */
};
extern const uint8_t tiff_type_size[TIFF_BIG_TYPES];

/* Returns the bytes of a value of any of these types; 0: there is none such. */
static inline unsigned tiff_size_of(uint64_t type)
{
    return type < TIFF_BIG_TYPES ? tiff_type_size[type] : 0;
}

struct tiff {
    const uint8_t *data; /* borrowed */
    size_t size;
    bool big; /* the most significant byte comes first */
};

struct tiff_ifd {
    size_t start, end; /* end: of the entries that are there; both 0: no IFD */
    size_t link;       /* where the next IFD's offset stands; 0: nowhere */
};

/* Opens a structure from its header on. Returns false if it is not one. */
bool tiff_open(struct tiff *tiff, const uint8_t *data, size_t size);

/* Returns whether `length` bytes from `at` on lie in the structure. */
bool tiff_contains(const struct tiff *tiff, size_t at, uint64_t length);

/* Returns the number of 1, 2 or 4 bytes at `at`, which lies in the structure.
 */
uint32_t tiff_get(const struct tiff *tiff, size_t at, unsigned bytes);

/* Sets such a number in `data`, which is the structure. */
void tiff_put(const struct tiff *tiff, uint8_t *data, size_t at, unsigned bytes,
              uint32_t value);

/* Returns the IFD at an offset; an empty one if there is none. One that claims
 * more entries than there are has those that are there. */
struct tiff_ifd tiff_ifd_at(const struct tiff *tiff, size_t start);

/* Appends to a file, at its next even byte, a copy of an IFD with this
 * orientation among its tags, which are in order, instead of any that it has.
 * Returns false without memory. */
bool tiff_add_orientation(struct bytes *file, bool big_endian, bool big,
                          const struct tiff_ifd *ifd, unsigned orientation);

/* Returns where the first entry with this tag stands; 0 if there is none. */
size_t tiff_find(const struct tiff *tiff, const struct tiff_ifd *ifd,
                 unsigned tag);

/* Searches as tiff_find() does, from the entry at `at` on. */
size_t tiff_find_from(const struct tiff *tiff, const struct tiff_ifd *ifd,
                      size_t at, unsigned tag);

unsigned tiff_type(const struct tiff *tiff, size_t entry);
uint32_t tiff_count(const struct tiff *tiff, size_t entry);

/* Reads the one unsigned integer of an entry, which may be 0: none. Files have
 * LONG where the standard has SHORT, and the other way round. Returns false if
 * the value is something else. */
bool tiff_number(const struct tiff *tiff, size_t entry, uint32_t *number);

/* Finds where the values of an entry stand, and how many bytes they are.
 * Returns false if they are not in the structure. */
bool tiff_values(const struct tiff *tiff, size_t entry, size_t *at,
                 size_t *length);

/* ---- The list of pictures in a Multi-Picture Format segment (CIPA DC-007) --
 *
 * A block is a TIFF structure from its header "II*\0" or "MM\0*" on, without
 * the "MPF\0" before it. It comes from a file and may hold anything: what
 * cannot be read counts as absent, and nothing is ever read or written outside
 * of it. Offsets in the list count from the block's begin in the file; that of
 * the first picture, which holds the block, is 0. */

struct mpf {
    struct tiff tiff; /* the block, borrowed */
    size_t entries;   /* where the list begins in it */
    size_t count;     /* of pictures in it */
};

struct mpf_entry {
    uint32_t size, offset;
    bool preview; /* the first picture in another size ("large thumbnail") */
};

/* Opens the block. Returns false if it holds no list. */
bool mpf_open(struct mpf *mpf, const uint8_t *block, size_t size);

/* Returns entry `i`, which is less than the count of the list. */
struct mpf_entry mpf_get(const struct mpf *mpf, size_t i);

/* Sets its size and offset in `block`, which is the one that was opened. */
void mpf_put(const struct mpf *mpf, uint8_t *block, size_t i,
             struct mpf_entry entry);

#endif
