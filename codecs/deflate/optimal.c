/* How the shortest path is found.
 *
 * The band is cut into portions. Of each portion all matches are found once and
 * kept. Then the shortest path is found from the end to the beginning, with
 * costs by how often symbols occurred in the path before; some rounds of this
 * come to rest. The first rounds are for the whole portion, which block_merge()
 * then divides into blocks; further ones are for each block, whose codes are
 * its own. */
#include "codecs/deflate/optimal.h"

#include <string.h>

#include "codecs/base/each_cpu.h"
#include "codecs/base/memory.h"
#include "codecs/deflate/block_split.h"

/* ---- The tree of matches --------------------------------------------------*/

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

FOR_EACH_CPU struct length_distance *
match_tree_find(struct match_tree *t, const uint8_t *p, unsigned depth,
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

/* ---- The path -------------------------------------------------------------*/

enum {
    PORTION = 1 << 19,     /* bytes, at most: blocks do not cross its end */
    KEPT = 1 << 21,        /* matches, after which a portion ends early */
    LITERALS_MOST = 65535, /* of a sequence */
    SEQUENCES_MOST = PORTION / MATCH_SHORTEST + PORTION / LITERALS_MOST + 2,
    DEPTH = 200,      /* positions of the tree that each is compared with */
    TRIAL_DEPTH = 48, /* the same, for an estimate */
    SLICES = 4,       /* of a portion, for which costs are settled: together */
    SLICES_SHARE = 4, /* this share of it, or if that is little, each of at */
    SLICE_LEAST = 16 << 10, /* least so many bytes */
    ROUNDS = 2,             /* for the slices, from each beginning */
    MORE_ROUNDS = 2,        /* from the better one */
    BLOCK_ROUNDS = 4,       /* for a block, at most: after one that saves a */
    SETTLED = 1000,         /* smaller share, no more are made */
    /* Of longer matches only the whole is tried at first: all lengths take long
     * for a gradient, which becomes 7 % smaller by them. */
    SOME_LENGTHS = 32,
    LITERAL_LEAST = 6 * COST_OF_BIT,
};

struct optimal {
    struct match_tree tree;
    struct bit_writer bits;
    struct symbol_costs costs;
    uint32_t length_cost[MATCH_LONGEST + 1];
    unsigned depth;      /* positions that are compared with each */
    const uint8_t *data; /* the portion */
    size_t size;
    /* The matches of byte i are from match[first[i]] to match[first[i + 1]]. */
    uint32_t first[PORTION + 1];
    struct length_distance match[KEPT + MATCH_TREE_MOST];
    uint32_t cost[PORTION + 1]; /* from byte i to the end */
    uint32_t step[PORTION];     /* its length << 16, and distance - 1 */
    struct sequence sequence[SEQUENCES_MOST];
    struct block_merge merge;
};

/* Finds the matches of up to `left` bytes, which become the portion. */
static void find_matches(struct optimal *o, size_t left)
{
    size_t most = left < PORTION ? left : PORTION, skip = 0, i = 0;
    struct length_distance *end = o->match;
    for (; i < most && end < o->match + KEPT; i++) {
        const uint8_t *p = o->data + i;
        o->first[i] = (uint32_t)(end - o->match);
        if (skip > 0) {
            match_tree_skip(&o->tree, p, o->depth);
            skip--;
            continue;
        }
        struct length_distance *begin = end;
        end = match_tree_find(&o->tree, p, o->depth, end);
        if (end > begin && end[-1].length == MATCH_LONGEST)
            skip = end[-1].length - 1u;
    }
    o->first[i] = (uint32_t)(end - o->match);
    o->size = i;
}

static void set_length_costs(struct optimal *o)
{
    for (unsigned l = MATCH_SHORTEST; l <= MATCH_LONGEST; l++) {
        struct deflate_symbol part = deflate_block_length(l);
        o->length_cost[l] =
            o->costs.symbol[part.symbol] + part.bits * COST_OF_BIT;
    }
}

static void set_costs(struct optimal *o, const struct deflate_counts *counts)
{
    symbol_costs_of(&o->costs, counts);
    set_length_costs(o);
}

/* Moves costs halfway from entropies to the lengths of a Huffman code. */
static void round_costs(uint16_t *cost, const uint32_t *count, unsigned n)
{
    uint8_t length[HUFFMAN_SYMBOLS];
    unsigned used = 0;
    for (unsigned i = 0; i < n; i++)
        used += count[i] != 0;
    if (used < 2)
        return;
    huffman_code_lengths(length, count, n, LITERAL_LIMIT);
    for (unsigned i = 0; i < n; i++)
        if (length[i])
            cost[i] = (uint16_t)((cost[i] + length[i] * COST_OF_BIT) / 2);
}

/* Sets costs for a block, which gets a code of its own. They lie between what
 * symbols cost by the code of the last round, and what they would cost if their
 * codes had fractions of bits: with the former alone, no symbol would ever get
 * a code of another length, and with the latter a path would rely on codes that
 * there are not. The files are up to 0.1 % smaller so. */
static void set_block_costs(struct optimal *o,
                            const struct deflate_counts *counts)
{
    symbol_costs_of(&o->costs, counts);
    round_costs(o->costs.symbol, counts->symbol, HUFFMAN_SYMBOLS);
    round_costs(o->costs.distance, counts->distance, DISTANCES);
    set_length_costs(o);
}

/* A cost, and the step that has it: the least of them is found without a
 * branch, which could not be foreseen. */
static inline uint64_t priced_step(uint32_t cost, unsigned length,
                                   unsigned distance)
{
    return (uint64_t)cost << 32 | length << 16 | (distance - 1);
}

static inline uint64_t lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Finds the steps of least cost from byte `begin` to byte `end`. Each match is
 * also tried with all its shorter lengths up to `dense`. */
FOR_EACH_CPU static void find_path(struct optimal *o, size_t begin, size_t end,
                                   unsigned dense)
{
    uint32_t *cost = o->cost;
    cost[end] = 0;
    for (size_t i = end; i-- > begin;) {
        uint64_t best =
            priced_step(cost[i + 1] + o->costs.symbol[o->data[i]], 1, 1);
        const struct length_distance *m = o->match + o->first[i],
                                     *last = o->match + o->first[i + 1];
        for (unsigned length = MATCH_SHORTEST; m < last; m++) {
            const unsigned distance = m->distance;
            const struct deflate_symbol part = deflate_block_distance(distance);
            const uint32_t far =
                o->costs.distance[part.symbol] + part.bits * COST_OF_BIT;
            size_t most = m->length < end - i ? m->length : end - i;
            if (most > dense) {
                uint32_t sum = far + o->length_cost[most] + cost[i + most];
                best = lesser(best, priced_step(sum, (unsigned)most, distance));
                most = dense;
            }
            for (; length <= most; length++) {
                uint32_t sum = far + o->length_cost[length] + cost[i + length];
                best = lesser(best, priced_step(sum, length, distance));
            }
        }
        cost[i] = (uint32_t)(best >> 32);
        o->step[i] = (uint32_t)best;
    }
}

/* Makes sequences of the steps. Returns how many. */
static size_t follow_path(struct optimal *o, size_t begin, size_t end)
{
    struct sequence *next = o->sequence;
    unsigned literals = 0;
    for (size_t i = begin, length; i < end; i += length) {
        length = o->step[i] >> 16;
        literals += length == 1;
        if (length == 1 && literals < LITERALS_MOST)
            continue;
        *next++ = (struct sequence){ (uint16_t)literals,
                                     length > 1 ? (uint16_t)length : 0,
                                     (uint16_t)((o->step[i] & 65535) + 1) };
        literals = 0;
    }
    if (literals)
        *next++ = (struct sequence){ (uint16_t)literals, 0, 0 };
    return (size_t)(next - o->sequence);
}

/* ---- Settling ----------------------------------------------------------- */

/* Sets the costs at which rounds begin: those of literals are as if there were
 * no matches; or for matches, none is cheap. In pictures of many kinds, rounds
 * from one of these beginnings do not lead to where those from the other do. */
static void guess_costs(struct optimal *o, bool for_matches)
{
    size_t most = o->size < LITERALS_MOST ? o->size : LITERALS_MOST;
    symbol_costs_guess(&o->costs, o->data, most);
    for (unsigned i = 0; for_matches && i < END_OF_BLOCK; i++)
        if (o->costs.symbol[i] < LITERAL_LEAST)
            o->costs.symbol[i] = LITERAL_LEAST;
    set_length_costs(o);
}

/* Returns the bytes of each slice of the portion that a path is tried for. */
static size_t slice_size(const struct optimal *o)
{
    size_t slice = o->size / (SLICES * SLICES_SHARE);
    if (slice < SLICE_LEAST)
        slice = o->size < SLICE_LEAST ? o->size : SLICE_LEAST;
    return slice;
}

/* Finds a path for each slice. Sets *counts to the symbols of all. */
static void try_slices(struct optimal *o, struct deflate_counts *counts)
{
    const size_t slice = slice_size(o);
    *counts = (struct deflate_counts){ 0 };
    for (size_t i = 0; i < SLICES; i++) {
        size_t begin = (o->size - slice) * i / (SLICES - 1);
        find_path(o, begin, begin + slice, SOME_LENGTHS);
        size_t n = follow_path(o, begin, begin + slice);
        deflate_block_count(counts, o->data + begin, o->sequence, n);
    }
    counts->symbol[END_OF_BLOCK] = 1;
}

/* Makes rounds, from the costs that are set, and sets *counts to the symbols of
 * the last one. Returns their bits. */
static size_t settle(struct optimal *o, int rounds,
                     struct deflate_counts *counts)
{
    for (; rounds > 0; rounds--) {
        try_slices(o, counts);
        set_costs(o, counts);
    }
    return deflate_block_bits(counts);
}

/* Makes some rounds from each beginning, and further ones from the better. */
static size_t settle_best(struct optimal *o, struct deflate_counts *counts)
{
    struct deflate_counts other;
    guess_costs(o, true);
    size_t with = settle(o, ROUNDS, &other);
    guess_costs(o, false);
    if (settle(o, ROUNDS, counts) > with)
        set_costs(o, &other);
    return settle(o, MORE_ROUNDS, counts);
}

/* ---- Blocks ------------------------------------------------------------- */

/* Writes the block from byte `begin` to byte `end`, with costs by `counts` at
 * first, which are those of about such a block. */
static void put_block(struct optimal *o, size_t begin, size_t end,
                      struct deflate_counts counts, bool final)
{
    size_t n = 0, bits = SIZE_MAX, before;
    int round = 0;
    do {
        set_block_costs(o, &counts);
        find_path(o, begin, end, round ? MATCH_LONGEST : SOME_LENGTHS);
        n = follow_path(o, begin, end);
        counts = (struct deflate_counts){ 0 };
        deflate_block_count(&counts, o->data + begin, o->sequence, n);
        counts.symbol[END_OF_BLOCK] = 1;
        before = bits;
        bits = deflate_block_bits(&counts);
    } while (++round < BLOCK_ROUNDS && before - before / SETTLED > bits);
    deflate_block_put(&o->bits, &counts, o->data + begin, end - begin,
                      o->sequence, n, final);
}

/* ---- The whole ---------------------------------------------------------- */

/* Begins with `size` bytes at `data`, with `before` bytes before them. */
static void begin(struct optimal *o, const uint8_t *data, size_t before,
                  size_t size, unsigned depth)
{
    if (before > MATCH_FARTHEST)
        before = MATCH_FARTHEST;
    o->data = data;
    o->depth = depth;
    match_tree_begin(&o->tree, data - before, data + size);
    for (const uint8_t *p = data - before; p < data; p++)
        match_tree_skip(&o->tree, p, depth);
}

size_t optimal_deflate(struct optimal *o, uint8_t *out, const uint8_t *data,
                       size_t before, size_t size, bool final)
{
    const uint8_t *end = data + size;
    struct deflate_counts counts;
    begin(o, data, before, size, DEPTH);
    o->bits = (struct bit_writer){ .out = out };
    for (; o->data < end; o->data += o->size) {
        find_matches(o, (size_t)(end - o->data));
        settle_best(o, &counts);
        find_path(o, 0, o->size, SOME_LENGTHS);
        block_merge(&o->merge, o->data, o->sequence,
                    follow_path(o, 0, o->size));
        size_t at = 0;
        for (size_t i = 0; i < o->merge.n; i++) {
            const struct merged_block *block = &o->merge.block[i];
            put_block(o, at, at + block->size, block->counts,
                      final && o->data + o->size == end && i + 1 == o->merge.n);
            at += block->size;
        }
    }
    if (!final || size == 0)
        deflate_block_put_stored(&o->bits, NULL, 0, final);
    bit_writer_align(&o->bits);
    return (size_t)(o->bits.out - out);
}

size_t optimal_estimate(struct optimal *o, const uint8_t *data, size_t before,
                        size_t size)
{
    struct deflate_counts counts;
    begin(o, data, before, size, TRIAL_DEPTH);
    find_matches(o, size);
    guess_costs(o, true);
    size_t with = settle(o, ROUNDS, &counts);
    guess_costs(o, false);
    size_t without = settle(o, 1, &counts);
    size_t bits = with < without ? with : without;
    return bits / 8 * size / (SLICES * slice_size(o));
}

struct optimal *optimal_new(void)
{
    return memory_alloc(sizeof(struct optimal));
}

void optimal_free(struct optimal *o)
{
    memory_free(o);
}
