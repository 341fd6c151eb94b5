/* How matches are found and chosen.
 *
 * Positions with the same hash are chained from the newest to the oldest, as
 * RFC 1951, section 4, proposes. What differs from the usual is for the sake of
 * pixels, and of a speed that no picture brings down:
 *
 * The hash is of five to eight bytes, about two pixels, not of three or four:
 * most pixels equal their neighbour, so that chains of shorter strings are long
 * and lead to little. How many are best was tried for each size of pixels.
 *
 * LZ77_PIXELS looks for one pixel as well, at the newest place alone, and only
 * where pixels begin. Most matches begin there, and the others are found at the
 * next pixel, and extended back: so it is faster, and what it finds is nearer.
 *
 * LZ77_THREE looks for three bytes at the newest place, and anywhere: for words
 * of a few bytes, as samples of 16 bits are, that are not at the same place of
 * a pixel.
 *
 * Two distances are tried beside these: the last one, which is often that of
 * the row above or of the last letter of this kind, and the last short one,
 * which is that of a pixel.
 *
 * At most positions of noise none of these places has the same bytes. All are
 * looked at before the one branch that says so, since a branch for each could
 * not be foreseen.
 *
 * A match is worth the bits that it saves, by what its symbols and those of its
 * bytes cost in the block so far.
 *
 * Each byte that is passed in a long match allows for some steps along a chain,
 * any other one for one. So much is searched where that leads far, and little
 * where it fails, and the steps are bounded by the bytes.
 *
 * Few positions within long runs of one pixel are chained, which keeps chains
 * short; positions that are left out are found by way of their neighbours.
 *
 * The longer no match was worth it, the fewer positions are tried. */
#include "codecs/deflate/lz77.h"

#include <string.h>

#include "codecs/base/byte_order.h"
#include "codecs/base/each_cpu.h"
#include "codecs/base/memory.h"
#include "codecs/deflate/block_split.h"
#include "codecs/deflate/deflate_block.h"

enum {
    WINDOW = MATCH_FARTHEST,
    HASH_BITS = 16,
    SHORT_HASH_BITS = 14,
    AHEAD = 8,         /* bytes that are read to hash a position */
    NEAR = 16,         /* the largest distance that counts as that of a pixel */
    ALLOWED_LEAST = 1, /* steps that may always be made */
    ALLOWED_MOST = 1024, /* those that can be saved up */
    MANY = 16,           /* bytes of a match, each after which allows for */
    EACH = 4,            /* so many steps */
    LONG = 64,           /* of a run longer than this, every SPARSE-th */
    SPARSE = 4,          /* position is chained, and the last END ones */
    END = 16,
    LEARN = 512,      /* symbols of the first segment: soon costs are known */
    PATIENCE = 128,   /* after so many bytes without a match one more byte is */
    MOST_PASSED = 32, /* skipped each time, up to MOST_PASSED */
    PRICED = 128,     /* bytes whose costs are summed up in advance */
    PRICED_MATCH = 32, /* bytes of a match that are counted with their costs;
                          further ones, with a bit each */
};

/* Inlined, what find() makes stays in registers, and an effort is constants. */
#define INLINE static inline __attribute__((always_inline))

/* How an enum lz77_search is done. */
struct effort {
    unsigned stride;     /* bytes from one position that is tried to the next */
    unsigned hashed;     /* bytes, that all matches but short ones have */
    unsigned brief;      /* of fewer bytes, that are looked for as well; or 0 */
    int depth;           /* positions of a chain that are tried at most */
    int lazy_depth;      /* the same, where there is a match already */
    unsigned lazy_least; /* bytes of a match that is worth being improved */
};

/* Of pixels of three and four bytes the newest that are alike are enough;
 * others are less often alike by chance where more of them are. */
INLINE struct effort effort_of_pixels(unsigned pixel)
{
    const bool newest = pixel == 3 || pixel == 4;
    return (struct effort){ .stride = pixel,
                            .hashed = pixel == 2   ? 5
                                      : pixel == 3 ? 6
                                                   : 8,
                            .brief = pixel == 3 || pixel > 4 ? 3 : 4,
                            .depth = newest ? 1 : 8,
                            .lazy_least = MATCH_LONGEST };
}

INLINE struct effort effort_of_long(unsigned hashed)
{
    return (struct effort){ .stride = 1,
                            .hashed = hashed,
                            .depth = 80,
                            .lazy_depth = 4,
                            .lazy_least = 12 };
}

INLINE struct effort effort_of_three(unsigned hashed)
{
    return (struct effort){
        .stride = 1, .hashed = hashed, .brief = 3, .depth = 96, .lazy_depth = 8
    };
}

/* No distance: no match. */
struct match {
    unsigned length, distance;
    int gain; /* what it saves, or what one has to save to be taken */
};

struct lz77 {
    struct block_split split;
    size_t row; /* bytes, with the filter's type */
    unsigned pixel;
    const uint8_t *start, *end; /* the bytes that may be read */
    const uint8_t *row_end;     /* of the row of the next position */
    /* price[i] is the cost of the i bytes from `priced` on, as literals. */
    const uint8_t *priced, *priced_end;
    uint32_t price[PRICED + 1];
    int allowed;  /* steps */
    size_t steps; /* that were made */
    /* The newest position of each hash, and for each position the distance back
     * to the one before it. All are modulo 65536: an entry that is older leads
     * to any place in the window, and is compared like all others. */
    uint16_t newest[1 << HASH_BITS], newest_short[1 << SHORT_HASH_BITS];
    uint16_t back[WINDOW];
};

/* ---- Bytes -------------------------------------------------------------- */

/* Returns 0 if the n bytes at p are the first ones of `bytes`. */
INLINE uint64_t differ(uint64_t bytes, const uint8_t *p, unsigned n)
{
    return (bytes ^ read_le64(p)) << 8 * (AHEAD - n);
}

/* The length of the longest match that fits. */
INLINE unsigned most_at(const struct lz77 *m, const uint8_t *p)
{
    size_t left = (size_t)(m->end - p);
    return left < MATCH_LONGEST ? (unsigned)left : MATCH_LONGEST;
}

/* ---- Costs -------------------------------------------------------------- */

static void sum_prices(struct lz77 *m, const uint8_t *p)
{
    size_t left = (size_t)(m->end - p), n = left < PRICED ? left : PRICED;
    uint32_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        m->price[i] = sum;
        sum += m->split.costs.symbol[p[i]];
    }
    m->price[n] = sum;
    m->priced = p;
    m->priced_end = p + n;
}

/* Makes *best the match of this distance, of which `equal` bytes are known to
 * be equal, if that saves more. */
INLINE unsigned consider(const struct lz77 *m, const uint8_t *p, unsigned most,
                         unsigned distance, unsigned equal, struct match *best)
{
    const uint32_t *price = m->price + (p - m->priced);
    unsigned length = match_length(p, p - distance, equal, most);
    unsigned n = length < PRICED_MATCH ? length : PRICED_MATCH;
    unsigned literals = price[n] - price[0] + (length - n) * COST_OF_BIT;
    int gain = (int)(literals -
                     symbol_cost_of_match(&m->split.costs, length, distance));
    if (gain > best->gain)
        *best = (struct match){ length, distance, gain };
    return length;
}

/* ---- Chains ------------------------------------------------------------- */

/* The distances to the newest places with the same hashes. */
struct candidates {
    unsigned distance, distance_short;
};

INLINE struct candidates chain(struct lz77 *m, const uint8_t *p,
                               struct effort effort)
{
    uint16_t at = (uint16_t)(p - m->start), back_short = 0;
    uint64_t bytes = read_le64(p);
    uint64_t hash =
        (bytes << 8 * (AHEAD - effort.hashed)) * 0x9e3779b97f4a7c15u >>
        (64 - HASH_BITS);
    uint16_t back = (uint16_t)(at - m->newest[hash]);
    m->back[at % WINDOW] = back;
    m->newest[hash] = at;
    if (effort.brief) {
        uint32_t few = (uint32_t)bytes << 8 * (4 - effort.brief);
        uint16_t *newest =
            &m->newest_short[few * 0x9e3779b1u >> (32 - SHORT_HASH_BITS)];
        back_short = (uint16_t)(at - *newest);
        *newest = at;
    }
    return (struct candidates){ back, back_short };
}

/* Returns p if that is in the row, or else where the next row's pixels begin.
 */
INLINE const uint8_t *in_row(struct lz77 *m, const uint8_t *p)
{
    const size_t left = (size_t)(m->end - m->row_end);
    if (p < m->row_end)
        return p;
    p = m->row_end + (left > 0);
    m->row_end += left < m->row ? left : m->row;
    return p;
}

/* Chains the positions from p on. Returns the first one that is not before
 * `end`. */
INLINE const uint8_t *chain_all(struct lz77 *m, const uint8_t *p,
                                const uint8_t *end, struct effort effort)
{
    while (p < end) {
        const uint8_t *stop = m->row_end < end ? m->row_end : end;
        for (; p < stop; p += effort.stride)
            chain(m, p, effort);
        p = in_row(m, p);
    }
    return p;
}

/* Chains positions of a match from p on to `end`, as far as they can be hashed:
 * few of a long one that repeats a pixel, which are all alike. Returns the
 * first position behind it. */
INLINE const uint8_t *chain_match(struct lz77 *m, const uint8_t *p,
                                  const uint8_t *end, struct match match,
                                  struct effort effort)
{
    const uint8_t *stop = m->end - end < AHEAD ? m->end - AHEAD : end;
    if (match.length > LONG && match.distance <= NEAR)
        for (; stop - p > END; p = in_row(m, p + SPARSE * effort.stride))
            chain(m, p, effort);
    p = chain_all(m, p, stop, effort);
    return p < end ? end : p; /* where nothing is looked for any more */
}

/* Follows the chain from `distance` on, where `hashed` bytes may be equal: also
 * where there is a match that is as long as any, since a nearer one is shorter
 * to write. */
INLINE void follow_chain(struct lz77 *m, const uint8_t *p, unsigned most,
                         unsigned distance, struct match *best, unsigned hashed,
                         int depth)
{
    const size_t known = (size_t)(p - m->start);
    const unsigned reach = known < WINDOW ? (unsigned)known : WINDOW;
    const uint64_t head = read_le64(p);
    unsigned longest = best->length < hashed ? hashed - 1 : best->length;
    int steps = 0;
    if (longest >= most)
        longest = most - 1;
    if (depth > m->allowed)
        depth = m->allowed;
    while (longest < most) {
        const uint8_t *q = p - distance, *behind = q + longest - 3;
        if (read_le32(behind) == read_le32(behind + distance) &&
            !differ(head, q, hashed)) {
            unsigned length = consider(m, p, most, distance, hashed, best);
            longest = length > longest ? length : longest;
        }
        unsigned back = m->back[(known - distance) % WINDOW];
        distance += back;
        if (++steps >= depth || back == 0 || distance > reach)
            break;
    }
    m->allowed -= steps;
    m->steps += (size_t)steps;
}

/* ---- Choosing ----------------------------------------------------------- */

struct parse_state {
    const uint8_t *p;       /* the next position */
    const uint8_t *pending; /* the first literal that is not yet passed on */
    const uint8_t *last;    /* where the last match ended */
    unsigned again, near;   /* its distance; the last short one */
    unsigned symbols;       /* of the segment, up to `pending` */
    unsigned enough;        /* of them to end it */
};

/* Returns the distance if it is within reach, else `other`, without a branch.
 */
INLINE unsigned within(unsigned distance, unsigned reach, unsigned other)
{
    unsigned in = -(unsigned)(distance - 1 < reach);
    return (distance & in) | (other & ~in);
}

/* Returns the best match at p that saves more than `gain`. */
INLINE struct match find(struct lz77 *m, const struct parse_state *at,
                         const uint8_t *p, int gain, int depth,
                         struct effort effort)
{
    const size_t known = (size_t)(p - m->start);
    const unsigned reach = known < WINDOW ? (unsigned)known : WINDOW;
    const unsigned near = at->near, again = at->again;
    const unsigned least = effort.brief ? effort.brief : effort.hashed;
    struct match match = { 0, 0, gain };
    struct candidates c = chain(m, p, effort);
    if (reach < NEAR)
        return match;
    const unsigned far = within(c.distance, reach, near);
    const unsigned brief = within(c.distance_short, reach, near);
    const uint64_t bytes = read_le64(p);
    const uint64_t near_differs = differ(bytes, p - near, least);
    const uint64_t again_differs = differ(bytes, p - again, least);
    const uint64_t far_differs = differ(bytes, p - far, effort.hashed);
    const uint64_t brief_differs =
        effort.brief ? differ(bytes, p - brief, least) : 1;
    if (near_differs && again_differs && brief_differs && far_differs)
        return match;
    if (p + PRICED_MATCH > m->priced_end)
        sum_prices(m, p);
    unsigned most = most_at(m, p);
    if (!near_differs)
        consider(m, p, most, near, least, &match);
    if (!again_differs && again != near)
        consider(m, p, most, again, least, &match);
    if (!brief_differs && brief != far)
        consider(m, p, most, brief, least, &match);
    if (!far_differs)
        follow_chain(m, p, most, far, &match, effort.hashed, depth);
    return match;
}

/* Moves p on by a byte as long as the match there saves more. Returns how many
 * positions behind p are chained. */
INLINE unsigned improve(struct lz77 *m, struct parse_state *at,
                        struct match *match, struct effort effort)
{
    while (match->length < MATCH_LONGEST && m->end - at->p > AHEAD) {
        struct match next =
            find(m, at, at->p + 1, match->gain, effort.lazy_depth, effort);
        if (!next.distance)
            return 1;
        *match = next;
        at->p++;
    }
    return 0;
}

/* Extends a match to equal bytes before it: it is found late where positions
 * were passed over. */
INLINE void extend_back(const struct lz77 *m, struct parse_state *at,
                        struct match *match)
{
    const uint8_t *p = at->p;
    while (p > at->pending && p - match->distance > m->start &&
           match->length < MATCH_LONGEST &&
           p[-1] == (p - match->distance)[-1]) {
        p--;
        match->length++;
    }
    at->p = p;
}

static void end_segment(struct lz77 *m, struct parse_state *at)
{
    block_split_end_segment(&m->split, at->pending);
    at->symbols = 0;
    at->enough = at->enough < SEGMENT ? 2 * at->enough : SEGMENT;
    m->priced_end = m->start; /* costs have changed */
}

/* Allows for the steps that passing n bytes at once is worth. */
INLINE void allow(struct lz77 *m, unsigned n)
{
    unsigned few = n < MANY ? n : MANY;
    int sum = m->allowed + (int)(few + (n - few) * EACH);
    if (sum < ALLOWED_LEAST)
        sum = ALLOWED_LEAST;
    m->allowed = sum < ALLOWED_MOST ? sum : ALLOWED_MOST;
}

INLINE void take_match(struct lz77 *m, struct parse_state *at,
                       struct match match, struct effort effort)
{
    unsigned chained = 1;
    if (match.length >= effort.lazy_least)
        chained += improve(m, at, &match, effort);
    const uint8_t *next = in_row(m, at->p + chained * effort.stride);
    extend_back(m, at, &match);
    size_t literals = (size_t)(at->p - at->pending);
    block_split_add(&m->split, literals, match.length, match.distance);
    allow(m, match.length);
    at->pending = at->last = at->p + match.length;
    at->p = chain_match(m, next, at->pending, match, effort);
    at->again = match.distance;
    if (match.distance <= NEAR)
        at->near = match.distance;
    at->symbols += (unsigned)literals + 1;
    if (at->symbols >= at->enough)
        end_segment(m, at);
}

INLINE void take_literals(struct lz77 *m, struct parse_state *at,
                          struct effort effort)
{
    size_t without = (size_t)(at->p - at->last) / PATIENCE;
    size_t step = 1 + (without < MOST_PASSED ? without : MOST_PASSED);
    size_t left = (size_t)(m->end - at->p);
    if (effort.stride > 1)
        step += effort.stride - 1 - (step - 1) % effort.stride;
    allow(m, 1);
    at->p = in_row(m, at->p + (step < left ? step : left));
    size_t literals = (size_t)(at->p - at->pending);
    if (literals < SEGMENT)
        return;
    block_split_add(&m->split, literals, 0, 0);
    at->pending = at->p;
    end_segment(m, at);
}

INLINE void deflate_all(struct lz77 *m, const uint8_t *data, const uint8_t *p,
                        struct effort effort)
{
    struct parse_state at = { data, data, data, 1, effort.stride, 0, LEARN };
    at.p = chain_all(m, p, data, effort);
    while (m->end - at.p >= AHEAD) {
        struct match match = find(m, &at, at.p, 0, effort.depth, effort);
        if (match.distance)
            take_match(m, &at, match, effort);
        else
            take_literals(m, &at, effort);
    }
    if (m->end > at.pending)
        block_split_add(&m->split, (size_t)(m->end - at.pending), 0, 0);
}

/* Without rows: any position is tried. */
INLINE void deflate_bytes(struct lz77 *m, const uint8_t *data,
                          struct effort effort)
{
    m->row_end = m->end;
    deflate_all(m, data, m->start, effort);
}

/* What is before the data may begin within a row. */
INLINE void deflate_rows(struct lz77 *m, const uint8_t *data, unsigned pixel)
{
    const size_t part = (size_t)(data - m->start) % m->row;
    m->row_end = m->start + part;
    deflate_all(m, data, in_row(m, m->start + part % pixel),
                effort_of_pixels(pixel));
}

/* In each case the effort is constants. */
FOR_EACH_CPU static void deflate_by(struct lz77 *m, const uint8_t *data,
                                    enum lz77_search search)
{
    if (search == LZ77_THREE && m->pixel < 3)
        deflate_bytes(m, data, effort_of_three(7));
    else if (search == LZ77_THREE)
        deflate_bytes(m, data, effort_of_three(8));
    else if (search == LZ77_LONG && m->pixel < 3)
        deflate_bytes(m, data, effort_of_long(7));
    else if (search == LZ77_LONG && m->pixel < 5)
        deflate_bytes(m, data, effort_of_long(8));
    else if (search == LZ77_LONG)
        deflate_bytes(m, data, effort_of_long(6));
    else if (m->pixel == 1)
        deflate_rows(m, data, 1);
    else if (m->pixel == 3)
        deflate_rows(m, data, 3);
    else if (m->pixel == 4)
        deflate_rows(m, data, 4);
    else
        deflate_rows(m, data, m->pixel);
}

/* ---- The whole ---------------------------------------------------------- */

/* Deflates to what m->split has begun. */
static void run(struct lz77 *m, const uint8_t *data, size_t before, size_t size,
                enum lz77_search search)
{
    if (before > WINDOW)
        before = WINDOW;
    size_t used = before + size < WINDOW ? before + size : WINDOW;
    memset(m->back, 0, used * sizeof *m->back);
    memset(m->newest, 0, sizeof m->newest);
    if (search != LZ77_LONG)
        memset(m->newest_short, 0, sizeof m->newest_short);
    m->steps = 0;
    if (size >= AHEAD) {
        m->start = data - before;
        m->end = data + size;
        m->priced_end = m->start;
        m->allowed = ALLOWED_MOST;
        deflate_by(m, data, search);
    } else if (size > 0) {
        block_split_add(&m->split, size, 0, 0);
    }
}

size_t lz77_deflate(struct lz77 *m, uint8_t *out, const uint8_t *data,
                    size_t before, size_t size, bool final,
                    enum lz77_search search)
{
    block_split_begin(&m->split, out, data, size);
    run(m, data, before, size, search);
    return (size_t)(block_split_end(&m->split, data + size, final) - out);
}

size_t lz77_estimate(struct lz77 *m, const uint8_t *data, size_t before,
                     size_t size, enum lz77_search search,
                     struct symbol_costs *costs)
{
    block_split_begin(&m->split, NULL, data, size);
    if (costs->symbol[END_OF_BLOCK])
        m->split.costs = *costs;
    run(m, data, before, size, search);
    block_split_end(&m->split, data + size, true);
    *costs = m->split.costs;
    return m->split.estimate;
}

size_t lz77_steps(const struct lz77 *m)
{
    return m->steps;
}

struct lz77 *lz77_new(size_t row, unsigned pixel)
{
    struct lz77 *m = memory_alloc(sizeof *m);
    if (m) {
        m->row = row;
        m->pixel = pixel;
    }
    return m;
}

void lz77_free(struct lz77 *m)
{
    memory_free(m);
}
