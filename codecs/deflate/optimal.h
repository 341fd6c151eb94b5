/* Encodes DEFLATE as small as is reasonable: literals and matches are a
 * shortest path through the bytes, where the length of a step is what it costs
 * in bits. Takes 10 to 30 times as long as lz77.h. flate.h says why it stands
 * beside libraries. */
#ifndef CODECS_DEFLATE_OPTIMAL_H
#define CODECS_DEFLATE_OPTIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codecs/deflate/deflate_block.h"

/* The tables of one thread, about 14 MB, for one band after another. */
struct optimal;

/* Returns NULL without memory. */
struct optimal *optimal_new(void);
void optimal_free(struct optimal *o);

/* Deflates `size` bytes to `out`, which has flate_bound(size) bytes, to a band
 * as struct flate has them. Returns the number of bytes written. */
size_t optimal_deflate(struct optimal *o, uint8_t *out, const uint8_t *data,
                       size_t before, size_t size, bool final);

/* Returns about how many bytes that would be, of at most 512 KiB. Takes a
 * quarter of the time. */
size_t optimal_estimate(struct optimal *o, const uint8_t *data, size_t before,
                        size_t size);

/* ---- The tree of matches --------------------------------------------------*/

/* Finds all matches of a position that matter: for each length the nearest.
 *
 * Positions whose first four bytes have the same hash are a binary tree, sorted
 * by what follows them. A new position becomes its root, so that children are
 * always older than their parents: what is too far away is cut off with all
 * below it. Going down, matches become longer and farther. See LZMA by Igor
 * Pavlov, who found this. The farthest distance but one is reached. */

enum {
    MATCH_TREE_HASH_BITS = 16,
    MATCH_TREE_SHORT_BITS = 16,
    MATCH_TREE_MOST = MATCH_LONGEST - MATCH_SHORTEST + 1, /* for a position */
};

struct length_distance {
    uint16_t length, distance;
};

struct match_tree {
    const uint8_t *start, *end; /* the bytes that may be read */
    /* Positions, counted so that 0 is too far from all of them. */
    uint32_t root[1 << MATCH_TREE_HASH_BITS];
    uint32_t newest_short[1 << MATCH_TREE_SHORT_BITS][2]; /* of three bytes */
    uint32_t child[MATCH_FARTHEST][2];                    /* smaller, larger */
};

/* Begins anew, with the bytes from `start` to `end`. */
void match_tree_begin(struct match_tree *t, const uint8_t *start,
                      const uint8_t *end);

/* Inserts p, the position behind the last one. Writes matches to `found`, which
 * has room for MATCH_TREE_MOST, in rising order of lengths. Looks at `depth`
 * positions at most. Returns the end of what was written. */
struct length_distance *match_tree_find(struct match_tree *t, const uint8_t *p,
                                        unsigned depth,
                                        struct length_distance *found);

/* Inserts p alone. */
void match_tree_skip(struct match_tree *t, const uint8_t *p, unsigned depth);

#endif
