/* The index arithmetic of the kernels, by doing on the host what a grid does.
 */
#include "cuda/gpu/kernel_tiles.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/oracle.h"
#include "tests/support/test.h"

static bool check_plane_access(const struct plane *plane, uint64_t at)
{
    return at % 16 == 0 && at % plane->stride + 16 <= plane->stride &&
           at / plane->stride < plane->height;
}

/* ---- A grid in plain loops ------------------------------------------------*/

/* One launch: the picture, and what came out of it. */
struct launch {
    struct tiles_plan plan;
    struct tiles_plane planes[IMAGE_PLANES];
    struct image src, dst;
    unsigned size;
    uint8_t *written[IMAGE_PLANES]; /* how often each vector of dst was */
    bool inside;                    /* so far no access left its row */
};

static const struct tiles_plane *find(const struct launch *l, uint32_t tile)
{
    return tiles_find(l->planes, l->plan.nplanes, tile);
}

static const void *at_src(struct launch *l, size_t plane, uint64_t at)
{
    l->inside &= check_plane_access(&l->src.plane[plane], at);
    return l->inside ? l->planes[plane].src + at : l->src.cells;
}

static void put_dst(struct launch *l, size_t plane, uint64_t at,
                    const void *from)
{
    l->inside &= check_plane_access(&l->dst.plane[plane], at);
    if (!l->inside)
        return;
    memcpy(l->planes[plane].dst + at, from, 16);
    l->written[plane][at / 16]++;
}

static void block_of_rows(struct launch *l, uint32_t tile)
{
    const struct tiles_plane *p = find(l, tile);
    size_t plane = (size_t)(p - l->planes);
    for (unsigned thread = 0; thread < ROWS_THREADS; thread++) {
        struct rows_part part = rows_find_part(p, tile, thread, l->size);
        uint32_t w[8] = { 0 };
        if (!part.inside)
            continue;
        if (l->size > 16) {
            uint32_t signs = dct_signs(p->t, (unsigned)(part.to / 16 % 8));
            memcpy(w, at_src(l, plane, part.from), 16);
            for (int i = 0; i < 4; i++)
                w[i] = word_negate(w[i], signs);
        } else if (!(p->t & XFORM_MIRROR_X)) {
            memcpy(w, at_src(l, plane, part.from), 16);
        } else {
            if (part.low)
                memcpy(w, at_src(l, plane, part.from - 16), 16);
            if (part.shift)
                memcpy(w + 4, at_src(l, plane, part.from), 16);
            rows_mirror(w, part.shift, l->size);
        }
        put_dst(l, plane, part.to, w);
    }
}

/* The largest tile: 256 x 256 bytes. */
enum { SHARED = 256 * 256 / 16 };

/* What a thread of `columns` does before and after all wait. */
static void put_pieces(struct launch *l, uint32_t (*shared)[4], uint32_t tile,
                       unsigned g, unsigned v)
{
    const struct tiles_plane *p = find(l, tile);
    unsigned vectors = l->plan.vectors, step = 4 / l->size;
    struct columns_tile at = columns_find_tile(p, tile, l->size, vectors);
    uint32_t w[4][4] = { { 0 } }, columns[16];
    for (unsigned i = 0; i < step; i++) {
        uint64_t from;
        if (columns_read(p, at, g * step + i, v, l->size, &from))
            memcpy(w[i], at_src(l, (size_t)(p - l->planes), from), 16);
    }
    for (unsigned j = 0; j < 4; j++) {
        for (unsigned i = 0; i < step; i++)
            columns[j * step + i] = w[i][j];
        square_transpose(columns + j * step, step);
    }
    for (unsigned i = 0; i < step; i++)
        memcpy(shared[columns_place(g, v * step + i, l->size, vectors)],
               columns + 4 * i, 16);
}

static void get_vectors(struct launch *l, uint32_t (*shared)[4], uint32_t tile,
                        unsigned h, unsigned v)
{
    const struct tiles_plane *p = find(l, tile);
    unsigned vectors = l->plan.vectors;
    struct columns_tile at = columns_find_tile(p, tile, l->size, vectors);
    for (unsigned i = 0; i < 4; i++) {
        uint32_t w[4];
        uint64_t to;
        for (unsigned j = 0; j < 4; j++)
            w[j] = shared[columns_place(4 * v + j, h, l->size, vectors)][i];
        if (columns_write(p, at, 4 * h + i, v, l->size, &to))
            put_dst(l, (size_t)(p - l->planes), to, w);
    }
}

static void block_of_columns(struct launch *l, uint32_t tile)
{
    static uint32_t shared[SHARED][4];
    unsigned vectors = l->plan.vectors, side = vectors * 16 / l->size;
    memset(shared, 0xee, sizeof shared);
    for (unsigned v = 0; v < vectors; v++)
        for (unsigned g = 0; g < side / (4 / l->size); g++)
            put_pieces(l, shared, tile, g, v);
    for (unsigned v = 0; v < vectors; v++)
        for (unsigned h = 0; h < side / 4; h++)
            get_vectors(l, shared, tile, h, v);
}

/* Lanes exchange by reading what their partners gave. */
static void transpose_block(uint32_t w[8][4])
{
    for (unsigned bit = 1; bit < 8; bit *= 2) {
        uint32_t given[8][2];
        for (unsigned lane = 0; lane < 8; lane++)
            dct_give(w[lane], lane, bit, given[lane]);
        for (unsigned lane = 0; lane < 8; lane++)
            dct_take(w[lane], lane, bit, given[lane ^ bit]);
    }
}

static void block_of_blocks(struct launch *l, uint32_t tile)
{
    const struct tiles_plane *p = find(l, tile);
    size_t plane = (size_t)(p - l->planes);
    struct columns_tile at = dct_find_tile(p, tile);
    for (uint32_t n = 0; n < DCT_ACROSS * DCT_DOWN; n++) {
        uint32_t x = at.x + n % DCT_ACROSS, c = at.c + n / DCT_ACROSS;
        uint32_t w[8][4] = { { 0 } };
        uint64_t from, to;
        for (unsigned lane = 0; lane < 8; lane++)
            if (dct_find(p, x, c, lane, &from, &to))
                memcpy(w[lane], at_src(l, plane, from), 16);
        transpose_block(w);
        for (unsigned lane = 0; lane < 8; lane++) {
            for (int i = 0; i < 4; i++)
                w[lane][i] = word_negate(w[lane][i], dct_signs(p->t, lane));
            if (dct_find(p, x, c, lane, &from, &to))
                put_dst(l, plane, to, w[lane]);
        }
    }
}

static void run_grid(struct launch *l)
{
    for (uint32_t tile = 0; tile < l->plan.ntiles; tile++) {
        if (!l->plan.columns)
            block_of_rows(l, tile);
        else if (l->plan.cell == CELL_DCT)
            block_of_blocks(l, tile);
        else
            block_of_columns(l, tile);
    }
}

/* ---- Whether each cell comes to its place, once ---------------------------*/

/* The vectors that hold a cell are written, and no others; where rows become
 * columns, all of what memory writes at once counts as holding one. */
static bool written_once(const struct launch *l)
{
    bool once = true;
    uint64_t whole = l->plan.columns && l->size <= 16 ? TILES_BURST : 16;
    for (unsigned i = 0; i < l->dst.nplanes; i++) {
        const struct plane *d = &l->dst.plane[i];
        uint64_t end = tiles_ceil(d->width * (uint64_t)l->size, whole) * whole;
        for (uint64_t y = 0; y < d->height; y++)
            for (uint64_t x = 0; x < d->stride; x += 16)
                once &= l->written[i][(y * d->stride + x) / 16] == (x < end);
    }
    return once;
}

/* All bits of src are random, so no cell but the right one passes for it in
 * every one of several launches. */
static bool launch_is_right(struct launch *l, enum xform t, uint64_t *seed)
{
    for (size_t i = 0; i < l->src.size; i += sizeof *seed) {
        uint64_t r = test_random(seed);
        memcpy(l->src.cells + i, &r, sizeof r);
    }
    memset(l->dst.cells, 0x5a, l->dst.size);
    for (unsigned i = 0; i < l->dst.nplanes; i++)
        memset(l->written[i], 0,
               l->dst.plane[i].stride / 16 * l->dst.plane[i].height);
    l->inside = true;
    run_grid(l);
    bool right = l->inside && written_once(l);
    for (unsigned i = 0; i < l->dst.nplanes; i++)
        right &= is_turned(t, &l->dst.plane[i], &l->src.plane[i], l->src.cell);
    return right;
}

/* Makes the planes of a picture differ in size: plane i has i columns and 2i
 * rows less, but one at least. */
static void shrink(struct image *img, bool transposed)
{
    for (uint32_t i = 0; i < img->nplanes; i++) {
        uint32_t *w = &img->plane[i].width, *h = &img->plane[i].height;
        uint32_t less_w = transposed ? 2 * i : i, less_h = 3 * i - less_w;
        *w = *w > less_w ? *w - less_w : 1;
        *h = *h > less_h ? *h - less_h : 1;
    }
}

struct size {
    unsigned nplanes;
    uint32_t width, height;
};

static void check_turn(enum cell cell, struct size size, enum xform t,
                       unsigned vectors)
{
    struct launch l = { .size = (unsigned)cell_size(cell) };
    struct err err;
    uint64_t seed = size.width * 65537 + size.height;
    l.src.cell = cell;
    l.src.width = size.width;
    l.src.height = size.height;
    l.src.nplanes = size.nplanes;
    if (image_alloc(&l.src, mem_plain, &err) ||
        image_like(&l.dst, &l.src, t, mem_plain, &err))
        abort();
    shrink(&l.src, false);
    shrink(&l.dst, xform_transposes(t));
    l.plan = tiles_begin(cell, t);
    for (unsigned i = 0; i < size.nplanes; i++) {
        tiles_add(&l.plan, l.planes, &l.dst.plane[i], &l.src.plane[i], t);
        l.written[i] = malloc(l.dst.size / 16);
    }
    tiles_cut_all(&l.plan, l.planes, vectors);
    for (unsigned n = 0; n < (l.size == 1 ? 3 : 1); n++)
        CHECK(launch_is_right(&l, t, &seed),
              "%s, %u bytes, %u planes, %u x %u, tiles of %u", oracle[t].name,
              l.size, size.nplanes, size.width, size.height, l.plan.vectors);
    for (unsigned i = 0; i < size.nplanes; i++)
        free(l.written[i]);
    image_free(&l.src);
    image_free(&l.dst);
}

static void check_all_turns(enum cell cell, struct size size)
{
    for (int t = 0; t < XFORM_COUNT; t++) {
        check_turn(cell, size, (enum xform)t, COLUMNS_NARROW);
        if (oracle[t].xy && cell != CELL_DCT)
            check_turn(cell, size, (enum xform)t, COLUMNS_WIDE);
    }
}

TEST(grids)
{
    static const struct size sizes[] = {
        { 1, 1, 1 },     { 1, 1, 300 },   { 1, 300, 1 },   { 1, 31, 33 },
        { 1, 32, 32 },   { 1, 33, 31 },   { 1, 63, 65 },   { 1, 64, 64 },
        { 1, 65, 63 },   { 1, 127, 129 }, { 1, 128, 128 }, { 1, 129, 127 },
        { 1, 255, 9 },   { 1, 256, 8 },   { 1, 257, 7 },   { 1, 13, 511 },
        { 1, 512, 16 },  { 1, 513, 17 },  { 1, 1031, 5 },  { 3, 139, 141 },
        { 5, 40, 300 },  { 64, 130, 12 }, { 64, 3, 3 },    { 1, 2500, 3 },
        { 1, 256, 256 }, { 1, 257, 255 }, { 2, 300, 530 },
    };
    static const struct size blocks[] = {
        { 1, 1, 1 }, { 1, 1, 20 },  { 1, 20, 1 },  { 1, 4, 8 },
        { 1, 8, 4 }, { 1, 9, 5 },   { 1, 7, 3 },   { 1, 17, 17 },
        { 3, 8, 9 }, { 64, 11, 3 }, { 1, 130, 3 },
    };
    for (unsigned cell = CELL_U8; cell <= CELL_F32; cell++)
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
            check_all_turns((enum cell)cell, sizes[i]);
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        check_all_turns(CELL_DCT, blocks[i]);
}

/* Negation wraps as two's complement does. */
TEST(negate)
{
    static const uint16_t values[] = { 0, 1, 0x7fff, 0x8000, 0x8001, 0xffff };
    for (size_t i = 0; i < 36; i++) {
        uint16_t a = values[i / 6], b = values[i % 6];
        uint32_t w = (uint32_t)a << 16 | b;
        uint32_t high = (uint32_t)(uint16_t)-a << 16 | b;
        uint32_t both = (high & 0xffff0000) | (uint16_t)-b;
        CHECK(word_negate(w, 0) == w, "%x", w);
        CHECK(word_negate(w, 0xffff0000) == high, "%x", w);
        CHECK(word_negate(w, 0xffffffff) == both, "%x", w);
    }
}

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
    struct large l = { .plan = tiles_begin(cell, t), .t = t };
    bool flip = xform_transposes(t);
    l.size = (unsigned)cell_size(cell);
    l.src = shape(width, height, l.size);
    l.dst = shape(flip ? height : width, flip ? width : height, l.size);
    for (int i = 0; i < 3; i++)
        tiles_add(&l.plan, l.planes, &l.dst, &l.src, t);
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
           check_plane_access(&l->dst, part.to) &&
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
        agree &= check_plane_access(&l->src, at) &&
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
        agree &= check_plane_access(&l->dst, at) &&
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
           check_plane_access(&l->src, from) && check_plane_access(&l->dst, to);
}

static void check_large(enum cell cell, uint32_t width, uint32_t height,
                        enum xform t, unsigned vectors)
{
    struct large l = large_launch(cell, width, height, t);
    tiles_cut_all(&l.plan, l.planes, vectors);
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
    static const uint32_t sizes[][2] = {
        { 1200000, 4 },         { 4, 1200000 },         { 100000, 100000 },
        { IMAGE_DIMENSION, 5 }, { 5, IMAGE_DIMENSION }, { 70000, 300000 },
    };
    for (unsigned cell = CELL_U8; cell <= CELL_F32; cell++)
        for (unsigned t = 0; t < XFORM_COUNT; t++)
            for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
                check_large((enum cell)cell, sizes[i][0], sizes[i][1],
                            (enum xform)t, COLUMNS_WIDE);
                check_large((enum cell)cell, sizes[i][0], sizes[i][1],
                            (enum xform)t, COLUMNS_NARROW);
            }
    for (unsigned t = 0; t < XFORM_COUNT; t++) {
        check_large(CELL_DCT, 1200000, 4, (enum xform)t, COLUMNS_WIDE);
        check_large(CELL_DCT, 4, 1200000, (enum xform)t, COLUMNS_WIDE);
        check_large(CELL_DCT, 80000, 70000, (enum xform)t, COLUMNS_WIDE);
    }
}

/* More tiles than a grid has blocks are counted right, and so refused. */
TEST(too_many)
{
    struct tiles_plane planes[3];
    struct plane plane = shape(IMAGE_DIMENSION, IMAGE_DIMENSION, 4);
    struct tiles_plan plan = tiles_begin(CELL_F32, XFORM_TRANSPOSE);
    for (int i = 0; i < 3; i++)
        tiles_add(&plan, planes, &plane, &plane, XFORM_TRANSPOSE);
    tiles_cut_all(&plan, planes, COLUMNS_WIDE);
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
    tiles_number(&l.plan, l.planes, &chip);
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
    enum { EDGES = sizeof edges / sizeof edges[0] };
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
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        CHECK(rows_choose_lanes(rows[i].vectors) == rows[i].lanes, "%llu: %u",
              (unsigned long long)rows[i].vectors,
              rows_choose_lanes(rows[i].vectors));
    for (uint64_t n = 1; n < 5000; n++) {
        unsigned lanes = rows_choose_lanes(n);
        uint64_t idle = (tiles_ceil(n, 1u << lanes) << lanes) - n;
        CHECK(lanes <= 7 && idle <= n / 3, "%llu: %u", (unsigned long long)n,
              lanes);
    }
}

/* ---- Many planes ----------------------------------------------------------*/

/* Each tile is found to be its plane's, for planes of all sizes. */
TEST(find)
{
    enum { MANY = 3001 };
    struct tiles_plane *planes = malloc(MANY * sizeof *planes);
    struct tiles_plan plan = tiles_begin(CELL_U8, XFORM_TRANSPOSE);
    uint64_t seed = 3;
    bool right = planes != NULL;
    for (uint32_t i = 0; right && i < MANY; i++) {
        uint32_t side = 1 + (uint32_t)(test_random(&seed) % 700);
        struct plane plane = shape(side, side, 1);
        tiles_add(&plan, planes, &plane, &plane, XFORM_TRANSPOSE);
    }
    for (uint32_t n = 1; right && n <= MANY; n += 1000) {
        plan.nplanes = n;
        tiles_cut_all(&plan, planes, COLUMNS_NARROW);
        uint32_t tile = 0;
        for (uint32_t i = 0; i < n; i++) {
            uint64_t side = tiles_ceil(planes[i].width, 128);
            right &= planes[i].first == tile;
            for (uint64_t k = side * side; k > 0; k--)
                right &= tiles_find(planes, n, tile++) == &planes[i];
        }
        right &= tile == plan.ntiles;
        CHECK(right, "%u planes", n);
    }
    free(planes);
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
