/* How matches are found and chosen.
 *
 * Positions with the same hash are chained from the newest to the oldest, as
 * RFC 1951, section 4, proposes. Four things differ from the usual, for the
 * sake of pixels:
 *
 * The hash is of six bytes, two pixels, not of three or four: most pixels equal
 * their neighbour, so that chains of shorter strings are long and lead to
 * little.
 *
 * Two distances are tried before all others: the last one, which is often that
 * of the row above or of the last letter of this kind, and the last short one,
 * which is that of a pixel. In an even area they give the longest match there
 * is, and no chain is searched.
 *
 * Few positions within long matches are chained, which keeps chains short;
 * positions that are left out are found by way of their neighbours.
 *
 * The longer no match was worth it, the fewer positions are tried. */
#include "codecs/deflate/lz77.h"

#include <stdlib.h>
#include <string.h>

#include "codecs/base/byte_order.h"
#include "codecs/deflate/block_split.h"

enum {
    WINDOW = MATCH_FARTHEST,
    HASH_BITS = 15,
    HASHED = 6,     /* bytes */
    AHEAD = 8,      /* bytes that are read to hash a position */
    LEAST = 4,      /* bytes of the shortest match */
    NEAR = 16,      /* the largest distance that counts as that of a pixel */
    DEPTH = 24,     /* positions of a chain that are tried */
    LAZY_DEPTH = 8, /* the same, where there is a match already */
    LAZY = 128,     /* a match of this length is not improved */
    SURE = 12,      /* a match of this length is always worth it */
    LONG = 64,      /* of a match longer than this, every SPARSE-th */
    SPARSE = 4,     /* position is chained, and the last END ones */
    END = 16,
    PATIENCE = 32,    /* after so many bytes without a match one more byte is */
    MOST_PASSED = 32, /* skipped each time, up to MOST_PASSED */
};

struct match {
    unsigned length, distance;
};

struct lz77 {
    struct block_split split;
    const uint8_t *start, *end; /* the bytes that may be read */
    /* The newest position of each hash, and for each position the distance back
     * to the one before it. Both are modulo 65536: an entry that is older leads
     * to any place in the window, and is compared like all others. */
    uint16_t newest[1 << HASH_BITS];
    uint16_t back[WINDOW];
};

/* ---- Bytes -------------------------------------------------------------- */

/* Returns how many of `most` bytes are equal; the first LEAST are. */
static inline unsigned length_of(const uint8_t *a, const uint8_t *b,
                                 unsigned most)
{
    unsigned n = LEAST;
    for (; n + 8 <= most; n += 8) {
        uint64_t differ = read_le64(a + n) ^ read_le64(b + n);
        if (differ)
            return n + (unsigned)__builtin_ctzll(differ) / 8;
    }
    while (n < most && a[n] == b[n])
        n++;
    return n;
}

/* The length of the longest match that fits. */
static inline unsigned most_at(const struct lz77 *m, const uint8_t *p)
{
    size_t left = (size_t)(m->end - p);
    return left < MATCH_LONGEST ? (unsigned)left : MATCH_LONGEST;
}

static inline int log_of(unsigned distance)
{
    return 31 - __builtin_clz(distance);
}

/* ---- Chains ------------------------------------------------------------- */

/* Chains a position. Returns the distance back to the one before it. */
static inline unsigned chain(struct lz77 *m, const uint8_t *p)
{
    uint16_t at = (uint16_t)(p - m->start);
    uint64_t bytes = read_le64(p) << 8 * (AHEAD - HASHED);
    uint64_t hash = bytes * 0x9e3779b97f4a7c15u >> (64 - HASH_BITS);
    uint16_t back = (uint16_t)(at - m->newest[hash]);
    m->back[at % WINDOW] = back;
    m->newest[hash] = at;
    return back;
}

static inline void chain_all(struct lz77 *m, const uint8_t *p,
                             const uint8_t *end)
{
    for (; p < end; p++)
        chain(m, p);
}

/* Chains positions of a match from p on, as far as they can be hashed. */
static inline void chain_match(struct lz77 *m, const uint8_t *p,
                               const uint8_t *end, unsigned length)
{
    if (m->end - end < AHEAD)
        end = m->end - AHEAD;
    if (length > LONG)
        for (; end - p > END; p += SPARSE)
            chain(m, p);
    chain_all(m, p, end);
}

/* Chains p, and returns the best match of `best` and those on the chain. A
 * farther one must be longer by a byte for each bit that its distance takes
 * more. */
static inline struct match search(struct lz77 *m, const uint8_t *p,
                                  struct match best, unsigned depth)
{
    size_t known = (size_t)(p - m->start);
    unsigned reach = known < WINDOW ? (unsigned)known : WINDOW;
    unsigned most = most_at(m, p), back = chain(m, p), distance = 0;
    if (best.length < LEAST)
        best = (struct match){ LEAST - 1, 1 };
    for (; depth > 0 && best.length < most; depth--) {
        distance += back;
        if (back == 0 || distance > reach)
            break;
        const uint8_t *q = p - distance, *behind = q + best.length - 3;
        if (read_le32(behind) == read_le32(behind + distance) &&
            read_le32(q) == read_le32(p)) {
            unsigned length = length_of(p, q, most);
            int more = (int)(length - best.length);
            if (best.length < LEAST ||
                (more > 0 && more >= log_of(distance) - log_of(best.distance)))
                best = (struct match){ length, distance };
        }
        back = m->back[(known - distance) % WINDOW];
    }
    return best;
}

/* ---- Choosing ----------------------------------------------------------- */

struct parse_state {
    const uint8_t *p;       /* the next position */
    const uint8_t *pending; /* the first literal that is not yet passed on */
    const uint8_t *last;    /* where the last match ended */
    unsigned again, near;   /* its distance; the last short one */
    unsigned symbols;       /* of the segment, up to `pending` */
};

static inline struct match try_distance(const struct lz77 *m, const uint8_t *p,
                                        unsigned distance, struct match best)
{
    if (distance > (size_t)(p - m->start) ||
        read_le32(p) != read_le32(p - distance))
        return best;
    unsigned length = length_of(p, p - distance, most_at(m, p));
    return length > best.length ? (struct match){ length, distance } : best;
}

/* Returns whether a match costs less than its bytes as literals. */
static inline bool is_worth_it(const struct block_split *s, const uint8_t *p,
                               struct match match)
{
    return match.length >= SURE ||
           (match.length >= LEAST &&
            block_split_match_cost(s, match.length, match.distance) <
                block_split_literals_cost(s, p, match.length));
}

static inline struct match find(struct lz77 *m, const struct parse_state *at)
{
    struct match match = { 0, 0 };
    unsigned most = most_at(m, at->p);
    match = try_distance(m, at->p, at->near, match);
    if (match.length < most)
        match = try_distance(m, at->p, at->again, match);
    if (match.length < most)
        return search(m, at->p, match, DEPTH);
    chain(m, at->p);
    return match;
}

/* Moves p on by a byte as long as the match there is better by more than the
 * cost of a literal. Returns how many positions behind p are chained. */
static inline unsigned improve(struct lz77 *m, struct parse_state *at,
                               struct match *match)
{
    while (match->length < LAZY && m->end - at->p > AHEAD) {
        struct match next = search(m, at->p + 1, *match, LAZY_DEPTH);
        int more = (int)(next.length - match->length);
        int farther = log_of(next.distance) - log_of(match->distance);
        if (more <= 0 || 4 * more <= farther + 2)
            return 1;
        *match = next;
        at->p++;
    }
    return 0;
}

/* Extends a match to equal bytes before it: it is found late where positions
 * were skipped. Returns by how many bytes. */
static inline unsigned extend_back(const struct lz77 *m, struct parse_state *at,
                                   struct match *match)
{
    const uint8_t *p = at->p;
    while (p > at->pending && p - match->distance > m->start &&
           match->length < MATCH_LONGEST &&
           p[-1] == (p - match->distance)[-1]) {
        p--;
        match->length++;
    }
    unsigned by = (unsigned)(at->p - p);
    at->p = p;
    return by;
}

static inline void end_segment(struct lz77 *m, struct parse_state *at)
{
    block_split_end_segment(&m->split, at->pending);
    at->symbols = 0;
}

static inline void take_match(struct lz77 *m, struct parse_state *at,
                              struct match match)
{
    unsigned chained = 1 + improve(m, at, &match);
    chained += extend_back(m, at, &match);
    size_t literals = (size_t)(at->p - at->pending);
    block_split_add(&m->split, literals, match.length, match.distance);
    chain_match(m, at->p + chained, at->p + match.length, match.length);
    at->p += match.length;
    at->pending = at->last = at->p;
    at->again = match.distance;
    if (match.distance <= NEAR)
        at->near = match.distance;
    at->symbols += (unsigned)literals + 1;
    if (at->symbols >= SEGMENT)
        end_segment(m, at);
}

static inline void take_literals(struct lz77 *m, struct parse_state *at)
{
    size_t without = (size_t)(at->p - at->last) / PATIENCE;
    size_t step = 1 + (without < MOST_PASSED ? without : MOST_PASSED);
    size_t left = (size_t)(m->end - at->p);
    at->p += step < left ? step : left;
    size_t literals = (size_t)(at->p - at->pending);
    if (literals < SEGMENT)
        return;
    block_split_add(&m->split, literals, 0, 0);
    at->pending = at->p;
    end_segment(m, at);
}

static void deflate_all(struct lz77 *m, const uint8_t *data)
{
    struct parse_state at = { data, data, data, 1, 1, 0 };
    while (m->end - at.p >= AHEAD) {
        struct match match = find(m, &at);
        if (is_worth_it(&m->split, at.p, match))
            take_match(m, &at, match);
        else
            take_literals(m, &at);
    }
    if (m->end > at.pending)
        block_split_add(&m->split, (size_t)(m->end - at.pending), 0, 0);
}

/* ---- The whole ---------------------------------------------------------- */

size_t lz77_deflate(struct lz77 *m, uint8_t *out, const uint8_t *data,
                    size_t before, size_t size, bool final)
{
    if (before > WINDOW)
        before = WINDOW;
    memset(m->newest, 0, sizeof m->newest);
    memset(m->back, 0, sizeof m->back);
    block_split_begin(&m->split, out, data, size);
    if (size >= AHEAD) {
        m->start = data - before;
        m->end = data + size;
        chain_all(m, m->start, data);
        deflate_all(m, data);
    } else if (size > 0) {
        block_split_add(&m->split, size, 0, 0);
    }
    uint8_t *end = block_split_end(&m->split, data + size, final);
    return (size_t)(end - out);
}

struct lz77 *lz77_new(void)
{
    return malloc(sizeof(struct lz77));
}

void lz77_free(struct lz77 *m)
{
    free(m);
}
