/* Finds all matches of a position that matter: for each length the nearest.
 *
 * Positions whose first four bytes have the same hash are a binary tree, sorted
 * by what follows them. A new position becomes its root, so that children are
 * always older than their parents: what is too far away is cut off with all
 * below it. Going down, matches become longer and farther. See LZMA by Igor
 * Pavlov, who found this. The farthest distance but one is reached. */
#ifndef CODECS_DEFLATE_MATCH_TREE_H
#define CODECS_DEFLATE_MATCH_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "codecs/deflate/deflate_block.h"

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
