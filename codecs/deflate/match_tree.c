/* How the tree is searched, and split around its new root. */
#include "codecs/deflate/match_tree.h"

#include <stdbool.h>
#include <string.h>

#include "codecs/base/byte_order.h"
#include "codecs/deflate/match_length.h"

enum { HASHED = 4 }; /* bytes; fewer at the end are not looked for */

#define INLINE static inline __attribute__((always_inline))

INLINE uint32_t hash(uint32_t bytes, unsigned bits)
{
    return bytes * 0x9e3779b1u >> (32 - bits);
}

/* Returns the nearest match of three bytes, if there is one. */
INLINE struct length_distance *find_short(struct match_tree *t,
                                          const uint8_t *p, uint32_t at,
                                          struct length_distance *found)
{
    uint32_t bytes = read_le32(p) << 8;
    uint32_t *newest = t->newest_short[hash(bytes, MATCH_TREE_SHORT_BITS)];
    uint32_t before = newest[1];
    newest[1] = newest[0];
    newest[0] = at;
    if (!found)
        return NULL;
    for (int i = 0; i < 2; i++) {
        uint32_t distance = at - (i ? before : newest[1]);
        if (distance <= MATCH_FARTHEST &&
            read_le32(p - distance) << 8 == bytes) {
            *found++ =
                (struct length_distance){ MATCH_SHORTEST, (uint16_t)distance };
            break;
        }
    }
    return found;
}

/* Goes down from the root, and hangs what is smaller and what is larger than p
 * under it, to the left and to the right. Both are known to have some first
 * bytes in common with p, and so has all between them. */
INLINE struct length_distance *insert(struct match_tree *t, const uint8_t *p,
                                      unsigned depth,
                                      struct length_distance *found)
{
    const size_t left = (size_t)(t->end - p);
    const unsigned most = left < MATCH_LONGEST ? (unsigned)left : MATCH_LONGEST;
    const uint32_t at = (uint32_t)(p - t->start) + MATCH_FARTHEST + 1;
    if (most < HASHED)
        return found;
    found = find_short(t, p, at, found);
    uint32_t *root = &t->root[hash(read_le32(p), MATCH_TREE_HASH_BITS)];
    uint32_t *smaller = &t->child[at % MATCH_FARTHEST][0];
    uint32_t *larger = &t->child[at % MATCH_FARTHEST][1];
    uint32_t node = *root;
    unsigned in_smaller = 0, in_larger = 0, longest = MATCH_SHORTEST;
    *root = at;
    for (; at - node < MATCH_FARTHEST && depth > 0; depth--) {
        uint32_t *child = t->child[node % MATCH_FARTHEST];
        const uint8_t *q = p - (at - node);
        unsigned length = in_smaller < in_larger ? in_smaller : in_larger;
        length = match_length(p, q, length, most);
        if (length > longest) {
            longest = length;
            if (found)
                *found++ = (struct length_distance){ (uint16_t)length,
                                                     (uint16_t)(at - node) };
        }
        if (length == most) {
            *smaller = child[0];
            *larger = child[1];
            return found;
        }
        if (q[length] < p[length]) {
            *smaller = node;
            smaller = &child[1];
            node = *smaller;
            in_smaller = length;
        } else {
            *larger = node;
            larger = &child[0];
            node = *larger;
            in_larger = length;
        }
    }
    *smaller = *larger = 0;
    return found;
}

struct length_distance *match_tree_find(struct match_tree *t, const uint8_t *p,
                                        unsigned depth,
                                        struct length_distance *found)
{
    return insert(t, p, depth, found);
}

void match_tree_skip(struct match_tree *t, const uint8_t *p, unsigned depth)
{
    insert(t, p, depth, NULL);
}

void match_tree_begin(struct match_tree *t, const uint8_t *start,
                      const uint8_t *end)
{
    memset(t->root, 0, sizeof t->root);
    memset(t->newest_short, 0, sizeof t->newest_short);
    t->start = start;
    t->end = end;
}
