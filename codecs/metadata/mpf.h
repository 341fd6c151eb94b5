/* The list of pictures in a Multi-Picture Format segment (CIPA DC-007).
 *
 * A block is a TIFF structure from its header "II*\0" or "MM\0*" on, without
 * the "MPF\0" before it. It comes from a file and may hold anything: what
 * cannot be read counts as absent, and nothing is ever read or written outside
 * of it. Offsets in the list count from the block's begin in the file; that of
 * the first picture, which holds the block, is 0. */
#ifndef CODECS_METADATA_MPF_H
#define CODECS_METADATA_MPF_H

#include "codecs/metadata/tiff.h"

struct mpf {
    struct tiff tiff; /* the block, borrowed */
    size_t entries;   /* where the list begins in it */
    size_t count;     /* of pictures in it */
    bool places;      /* it says how the pictures are placed */
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
