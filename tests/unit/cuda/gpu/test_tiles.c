/* The index arithmetic of the kernels: large planes, the choice of tiles, banks
 * of shared memory. What a launch does, test_kernel_grids shows. */
#include "cuda/gpu/tiles.h"
#include "cuda/gpu/tiles_plan.h"

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

/* The launch of three equal planes. */
struct large {
    struct tiles_plan plan;
    struct tiles_plane planes[3];
    struct plane src, dst;
    unsigned size;
    enum xform t;
};

static struct large large_launch(enum cell cell, uint32_t width,
                                 uint32_t height, enum xform t)
{
    struct large l = { .plan = tiles_plan_begin(cell, t), .t = t };
    bool flip = xform_transposes(t);
    l.size = (unsigned)cell_size(cell);
    l.src = shape(width, height, l.size);
    l.dst = shape(flip ? height : width, flip ? width : height, l.size);
    for (int i = 0; i < 3; i++)
        tiles_plan_add(&l.plan, l.planes, &l.dst, &l.src, t);
    return l;
}

/* Where a byte of dst is to come from. (For DCT cells: the block.) */
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
    const struct tiles_plane *p = &l->planes[2];
    struct rows_part part =
        rows_find_part(p, (uint32_t)n + p->first, thread, l->size);
    uint64_t wide = (uint64_t)1 << p->lanes, high = 128 / wide;
    uint64_t x = (n % p->across * wide + thread % wide) * 16;
    uint64_t y = n / p->across * high + thread / wide;
    if (x >= (uint64_t)l->dst.width * l->size || y >= l->dst.height)
        return !part.inside;
    /* When mirrored, the first cell of the vector is the last before `end`. */
    uint64_t from = part.from;
    if (l->size <= 16 && l->t & XFORM_MIRROR_X)
        from = from + part.shift - l->size;
    return part.inside && part.to == y * l->dst.stride + x &&
           plane_has_vector(&l->dst, part.to) &&
           from == source_of(l, part.to) + (l->size > 16 ? x % l->size : 0);
}

static bool columns_agree(const struct large *l, uint64_t n, unsigned k,
                          unsigned v)
{
    const struct tiles_plane *p = &l->planes[2];
    unsigned vectors = l->plan.vectors, cells = 16 / l->size;
    uint64_t side = vectors * cells, at;
    uint64_t c = n / p->across * side, x = n % p->across * side;
    struct columns_tile tile =
        columns_find_tile(p, (uint32_t)n + p->first, l->size, vectors);
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

static bool blocks_agree(const struct large *l, uint64_t n, unsigned k)
{
    const struct tiles_plane *p = &l->planes[2];
    struct columns_tile tile = dct_find_tile(p, (uint32_t)n + p->first);
    uint64_t x = n % p->across * DCT_ACROSS + k % DCT_ACROSS;
    uint64_t c = n / p->across * DCT_DOWN + k / DCT_ACROSS;
    uint64_t row = l->t & XFORM_MIRROR_Y ? l->dst.height - 1 - c : c, from, to;
    bool agree = tile.x == x - k % DCT_ACROSS && tile.c == c - k / DCT_ACROSS;
    if (!dct_find(p, (uint32_t)x, (uint32_t)c, 5, &from, &to))
        return agree && (x >= l->dst.width || c >= l->dst.height);
    return agree && to == row * l->dst.stride + x * l->size + 5 * 16 &&
           from == source_of(l, to) + 5 * 16 &&
           plane_has_vector(&l->src, from) && plane_has_vector(&l->dst, to);
}

static void check_large(enum cell cell, uint32_t width, uint32_t height,
                        enum xform t, unsigned vectors)
{
    struct large l = large_launch(cell, width, height, t);
    tiles_plan_cut(&l.plan, l.planes, vectors);
    uint64_t n = l.plan.ntiles, seed = width + l.size + t;
    bool agree = n <= TILES_MAX && n % 3 == 0 && l.planes[2].first == n / 3 * 2;
    for (unsigned i = 0; agree && i < 2000; i++) {
        uint64_t tile = i == 0   ? 0
                        : i == 1 ? n / 3 - 1
                                 : test_random(&seed) % (n / 3);
        unsigned k = (unsigned)test_random(&seed);
        if (!l.plan.columns)
            agree &= rows_agree(&l, tile, k % ROWS_THREADS);
        else if (cell == CELL_DCT)
            agree &= blocks_agree(&l, tile, k % (DCT_ACROSS * DCT_DOWN));
        else
            agree &= columns_agree(&l, tile, k / 16 % (l.plan.vectors * 4),
                                   k % l.plan.vectors);
    }
    CHECK(agree, "%s, %u bytes, %u x %u, tiles of %u", xform_name(t), l.size,
          width, height, l.plan.vectors);
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
            for (size_t i = 0; i < COUNT(sizes); i++) {
                check_large((enum cell)cell, sizes[i][0], sizes[i][1], t,
                            COLUMNS_WIDE);
                check_large((enum cell)cell, sizes[i][0], sizes[i][1], t,
                            COLUMNS_NARROW);
            }
    for (EACH_TURN(t)) {
        check_large(CELL_DCT, 1200000, 4, t, COLUMNS_WIDE);
        check_large(CELL_DCT, 4, 1200000, t, COLUMNS_WIDE);
        check_large(CELL_DCT, 80000, 70000, t, COLUMNS_WIDE);
    }
}

/* More tiles than a grid has blocks are counted right, and so refused. */
TEST(too_many)
{
    struct tiles_plane planes[3];
    struct plane plane = shape(IMAGE_DIMENSION, IMAGE_DIMENSION, 4);
    struct tiles_plan plan = tiles_plan_begin(CELL_F32, XFORM_TRANSPOSE);
    for (int i = 0; i < 3; i++)
        tiles_plan_add(&plan, planes, &plane, &plane, XFORM_TRANSPOSE);
    tiles_plan_cut(&plan, planes, COLUMNS_WIDE);
    uint64_t side = ((uint64_t)1 << 31) / 64;
    CHECK(plan.ntiles == 3 * side * side, "%llu",
          (unsigned long long)plan.ntiles);
    CHECK(plan.ntiles > TILES_MAX, "%llu", (unsigned long long)plan.ntiles);
}

/* ---- Which tiles ----------------------------------------------------------*/

/* Whether wide tiles are chosen for a picture of three planes. */
static bool is_wide(enum cell cell, uint32_t width, uint32_t height,
                    struct tiles_chip chip)
{
    struct large l = large_launch(cell, width, height, XFORM_ROTATE_90);
    tiles_plan_number(&l.plan, l.planes, &chip);
    return l.plan.vectors == COLUMNS_WIDE;
}

TEST(choice)
{
    const struct tiles_chip h200 = { 132, 232448, 233472 };
    const struct tiles_chip sm75 = { 40, 65536, 65536 };
    const struct tiles_chip sm86 = { 82, 101376, 102400 };
    /* 8 tiles of 256 x 256 for each multiprocessor are 352 a plane. */
    CHECK(is_wide(CELL_U8, 22 * 256, 16 * 256, h200), "352");
    CHECK(!is_wide(CELL_U8, 351 * 256, 256, h200), "351");
    CHECK(is_wide(CELL_F32, 22 * 64, 16 * 64, h200), "352");
    CHECK(!is_wide(CELL_F32, 351 * 64, 64, h200), "351");
    /* What lies beyond the end: little, or more than an eighth. */
    CHECK(is_wide(CELL_U8, 16381, 16411, h200), "little");
    CHECK(is_wide(CELL_U8, 6000, 4000, h200), "little");
    CHECK(!is_wide(CELL_U8, 1200000, 4, h200), "a strip");
    CHECK(!is_wide(CELL_U8, 200000, 380, h200), "a quarter");
    /* 64 KiB of shared memory, twice, are more than some GPUs have. */
    CHECK(!is_wide(CELL_U8, 30000, 30000, sm75), "64 KiB");
    CHECK(!is_wide(CELL_U8, 30000, 30000, sm86), "100 KiB");
    CHECK(is_wide(CELL_U16, 30000, 30000, sm75), "64 KiB");
    CHECK(is_wide(CELL_U16, 30000, 30000, sm86), "100 KiB");
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
        CHECK(tiles_plan_row_lanes(rows[i].vectors) == rows[i].lanes,
              "%llu: %u", (unsigned long long)rows[i].vectors,
              tiles_plan_row_lanes(rows[i].vectors));
    for (uint64_t n = 1; n < 5000; n++) {
        unsigned lanes = tiles_plan_row_lanes(n);
        uint64_t abreast = UINT64_C(1) << lanes;
        uint64_t idle = (n + abreast - 1) / abreast * abreast - n;
        CHECK(lanes <= 7 && idle <= n / 3, "%llu: %u", (unsigned long long)n,
              lanes);
    }
}

/* ---- Shared memory --------------------------------------------------------*/

/* Eight threads whose vectors lie in different groups of four banks are served
 * at once. There are 32 banks of one word each. (Those that get halves of
 * vectors are served eight at a time as well, which is half of what could be.)
 */
static void check_banks(unsigned size, unsigned vectors, unsigned each)
{
    unsigned threads = COLUMNS_THREADS(size, vectors, each), step = 4 / size;
    unsigned places = COLUMNS_BYTES(size, vectors) / 16;
    unsigned abreast = threads / vectors, rows = each < 4 ? each : 4;
    bool free_of_conflicts = true, inside = true;
    CHECK(threads * each == places && threads % 32 == 0 && threads <= 1024,
          "%u bytes, %u vectors: %u threads", size, vectors, threads);
    for (unsigned n = 0; n < each; n++)
        for (unsigned eighth = 0; eighth < threads; eighth += 8) {
            unsigned put = 0, get = 0;
            for (unsigned k = eighth; k < eighth + 8; k++) {
                unsigned v = k % vectors, first = k / vectors;
                unsigned g = first + n / step * abreast;
                unsigned h = (first + n / rows * abreast) * rows / 4;
                unsigned to =
                    columns_place(g, v * step + n % step, size, vectors);
                unsigned from = columns_place(4 * v + n % 4, h, size, vectors);
                inside &= to < places && from < places;
                put |= 1u << to % 8;
                get |= 1u << from % 8;
            }
            free_of_conflicts &= put == 0xff && get == 0xff;
        }
    CHECK(inside, "%u bytes, %u vectors", size, vectors);
    CHECK(free_of_conflicts, "%u bytes, %u vectors", size, vectors);
}

TEST(banks)
{
    for (unsigned size = 1; size <= 4; size *= 2) {
        check_banks(size, COLUMNS_WIDE, COLUMNS_WIDE_EACH(size));
        check_banks(size, COLUMNS_NARROW, COLUMNS_NARROW_EACH);
    }
}
