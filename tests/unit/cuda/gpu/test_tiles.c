/* The index arithmetic of the kernels: large planes, and banks of
 * shared memory. What a launch does, test_kernel_grids shows. */
#include "cuda/gpu/tiles.h"

#include "tests/support/oracle.h"
#include "tests/support/test.h"

/* ---- Planes of more than 2^32 cells, which nobody allocates ---------------*/

/* A plane's shape alone. */
static struct plane shape(uint64_t width, uint64_t height, unsigned size)
{
    struct plane plane = { NULL, 0, (uint32_t)width, (uint32_t)height };
    plane.stride =
        (width * size + IMAGE_STRIDE - 1) / IMAGE_STRIDE * IMAGE_STRIDE;
    return plane;
}

/* The launch of such a plane. */
struct large {
    struct tiles_plane plane;
    struct plane src, dst;
    unsigned size;
    enum xform t;
    uint64_t ntiles;
};

static struct large large_launch(enum cell cell, uint32_t width,
                                 uint32_t height, enum xform t)
{
    struct large l = { .t = t, .size = (unsigned)cell_size(cell) };
    const bool flip = xform_transposes(t);
    l.src = shape(width, height, l.size);
    l.dst = shape(flip ? height : width, flip ? width : height, l.size);
    l.ntiles = tiles_cut(&l.plane, &l.dst, &l.src, l.size, t);
    return l;
}

/* Where a byte of dst is to come from. */
static uint64_t source_of(const struct large *l, uint64_t at)
{
    uint32_t x = (uint32_t)(at % l->dst.stride / l->size);
    uint32_t y = (uint32_t)(at / l->dst.stride), sx, sy;
    turn_source(l->t, l->src.width, l->src.height, x, y, &sx, &sy);
    return sy * l->src.stride + sx * (uint64_t)l->size;
}

/* What thread `thread` of local tile n has to do is what its tile, `wide` bytes
 * by `high` rows, says. */
static bool rows_agree(const struct large *l, uint64_t n, unsigned thread)
{
    const struct tiles_plane *p = &l->plane;
    struct rows_part part = rows_find_part(p, (uint32_t)n, thread, l->size);
    uint64_t wide = (uint64_t)1 << p->lanes, high = 128 / wide;
    uint64_t x = (n % p->across * wide + thread % wide) * 16;
    uint64_t y = n / p->across * high + thread / wide;
    if (x >= (uint64_t)l->dst.width * l->size || y >= l->dst.height)
        return !part.inside;
    /* When mirrored, the first cell of the vector is the last before `end`. */
    uint64_t from = part.from;
    if (l->t & XFORM_MIRROR_X)
        from = from + part.shift - l->size;
    return part.inside && part.to == y * l->dst.stride + x &&
           plane_has_vector(&l->dst, part.to) && from == source_of(l, part.to);
}

static bool columns_agree(const struct large *l, uint64_t n, unsigned k,
                          unsigned v)
{
    const struct tiles_plane *p = &l->plane;
    unsigned cells = 16 / l->size;
    uint64_t side = COLUMNS_VECTORS * cells, at;
    uint64_t c = n / p->across * side, x = n % p->across * side;
    struct columns_tile tile = columns_find_tile(p, (uint32_t)n, l->size);
    bool agree = tile.c == c && tile.x == x;
    /* Row x + k of src, its vector that begins with column c + v * cells. */
    if (columns_read(p, tile, k, v, l->size, &at))
        agree &= plane_has_vector(&l->src, at) &&
                 at == source_of(l, (l->t & XFORM_MIRROR_Y
                                         ? l->dst.height - 1 - (c + v * cells)
                                         : c + v * cells) *
                                            l->dst.stride +
                                        (x + k) * l->size);
    else
        agree &= x + k >= l->dst.width || c + v * cells >= l->dst.height;
    /* The row of dst that column c + k of src becomes, its vector that begins
     * with column x + v * cells. */
    uint64_t row = l->t & XFORM_MIRROR_Y ? l->dst.height - 1 - (c + k) : c + k;
    if (columns_write(p, tile, k, v, l->size, &at))
        agree &= plane_has_vector(&l->dst, at) &&
                 at == row * l->dst.stride + (x + v * cells) * l->size;
    else
        agree &= c + k >= l->dst.height || x + v * cells >= l->dst.width;
    return agree;
}

static void check_large(enum cell cell, uint32_t width, uint32_t height,
                        enum xform t)
{
    const struct large l = large_launch(cell, width, height, t);
    const uint64_t n = l.ntiles;
    uint64_t seed = width + l.size + t;
    bool agree = n <= TILES_MAX;
    for (unsigned i = 0; agree && i < 2000; i++) {
        uint64_t tile = i == 0 ? 0 : i == 1 ? n - 1 : test_random(&seed) % n;
        unsigned k = (unsigned)test_random(&seed);
        if (xform_transposes(t))
            agree &= columns_agree(&l, tile,
                                   k / 16 % (COLUMNS_VECTORS * 16 / l.size),
                                   k % COLUMNS_VECTORS);
        else
            agree &= rows_agree(&l, tile, k % ROWS_THREADS);
    }
    CHECK(agree, "%s, %u bytes, %u x %u", xform_name(t), l.size, width, height);
}

TEST(large)
{
    if (SIZE_MAX < UINT64_MAX) {
        test_skip("pictures that are larger than what this machine addresses");
        return;
    }
    static const uint32_t sizes[][2] = {
        { 1200000, 4 },         { 4, 1200000 },         { 100000, 100000 },
        { IMAGE_DIMENSION, 5 }, { 5, IMAGE_DIMENSION }, { 70000, 300000 },
    };
    for (unsigned cell = CELL_U8; cell <= CELL_F32; cell++)
        for (EACH_TURN(t))
            for (size_t i = 0; i < COUNT(sizes); i++)
                check_large((enum cell)cell, sizes[i][0], sizes[i][1], t);
}

/* More tiles than a grid has blocks are counted right, and so refused. */
TEST(too_many)
{
    const struct large l = large_launch(CELL_F32, IMAGE_DIMENSION,
                                        IMAGE_DIMENSION, XFORM_TRANSPOSE);
    uint64_t side = ((uint64_t)1 << 31) / 64;
    CHECK(l.ntiles == side * side && l.ntiles > TILES_MAX, "%llu",
          (unsigned long long)l.ntiles);
}

TEST(divide)
{
    static const uint32_t edges[] = {
        1, 2, 3, 5, 7, 641, 65535, 65536, 0x7fffffff, 0x80000000, 0xffffffff,
    };
    enum { EDGES = COUNT(edges) };
    uint64_t seed = 11;
    bool right = true;
    for (unsigned i = 0; i < 100000; i++) {
        struct tiles_plane p = { .src = NULL };
        uint64_t r = test_random(&seed);
        uint32_t n = i < EDGES * EDGES ? edges[i / EDGES] : (uint32_t)r;
        p.across = i < EDGES * EDGES ? edges[i % EDGES] : (uint32_t)(r >> 32);
        p.across = i % 2 ? p.across : p.across >> r % 31;
        p.across += !p.across;
        p.inverse = UINT64_MAX / p.across + 1;
        right &= tiles_divide(n, &p) == n / p.across;
        right &= tiles_divide(n - 1, &p) == (n - 1) / p.across;
        right &= tiles_divide(n - n % p.across, &p) == n / p.across;
    }
    CHECK(right, "a quotient is wrong");
}

/* Rows that stay rows: how many vectors are side by side. */
TEST(lanes)
{
    static const struct {
        uint64_t vectors;
        unsigned lanes;
    } rows[] = {
        { 1, 0 },  { 2, 1 },  { 3, 2 },   { 4, 2 },   { 5, 1 },
        { 50, 6 }, { 64, 6 }, { 130, 5 }, { 375, 7 }, { 1u << 31, 7 },
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK(tiles_lanes(rows[i].vectors) == rows[i].lanes, "%llu: %u",
              (unsigned long long)rows[i].vectors,
              tiles_lanes(rows[i].vectors));
    for (uint64_t n = 1; n < 5000; n++) {
        unsigned lanes = tiles_lanes(n);
        uint64_t abreast = UINT64_C(1) << lanes;
        uint64_t idle = (n + abreast - 1) / abreast * abreast - n;
        CHECK(lanes <= 7 && idle <= n / 3, "%llu: %u", (unsigned long long)n,
              lanes);
    }
}

/* ---- Shared memory --------------------------------------------------------*/

/* Eight threads whose vectors lie in different groups of four banks are served
 * at once. There are 32 banks of one word each. */
static void check_banks(unsigned size)
{
    const unsigned threads = COLUMNS_THREADS(size), each = COLUMNS_EACH(size),
                   step = 4 / size, places = COLUMNS_BYTES(size) / 16,
                   abreast = threads / COLUMNS_VECTORS;
    bool free_of_conflicts = true, inside = true;
    CHECK(threads * each == places && threads % 32 == 0 && threads <= 1024,
          "%u bytes: %u threads", size, threads);
    for (unsigned n = 0; n < each; n++)
        for (unsigned eighth = 0; eighth < threads; eighth += 8) {
            unsigned put = 0, get = 0;
            for (unsigned k = eighth; k < eighth + 8; k++) {
                unsigned v = k % COLUMNS_VECTORS, first = k / COLUMNS_VECTORS;
                unsigned g = first + n / step * abreast;
                unsigned h = first + n / 4 * abreast;
                unsigned to = columns_place(g, v * step + n % step, size);
                unsigned from = columns_place(4 * v + n % 4, h, size);
                inside &= to < places && from < places;
                put |= 1u << to % 8;
                get |= 1u << from % 8;
            }
            free_of_conflicts &= put == 0xff && get == 0xff;
        }
    CHECK(inside && free_of_conflicts, "%u bytes", size);
}

TEST(banks)
{
    for (unsigned size = 1; size <= 4; size *= 2)
        check_banks(size);
}
