/* The index arithmetic of the kernels, by doing on the host what a grid does.
 */
#include "cuda/tiles.h"

#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

static bool check_plane_access(const struct plane *plane, uint64_t at,
                               size_t bytes)
{
    return at % bytes == 0 && at % plane->stride + bytes <= plane->stride &&
           at / plane->stride < plane->height;
}

/* ---- A grid in plain loops ------------------------------------------------*/

/* One launch: the picture, and what came out of it. */
struct launch {
    struct tiles tiles;
    struct image src, dst;
    unsigned size;
    uint8_t *written[IMAGE_PLANES]; /* how often each cell of dst was */
    bool inside;                    /* so far no access left its row */
};

static const void *at_src(struct launch *l, size_t plane, uint64_t at,
                          size_t bytes)
{
    l->inside &= check_plane_access(&l->src.plane[plane], at, bytes);
    return l->inside ? l->tiles.plane[plane].src + at : l->src.cells;
}

static void put_dst(struct launch *l, size_t plane, uint64_t at,
                    const void *from, size_t bytes)
{
    const struct plane *d = &l->dst.plane[plane];
    l->inside &= check_plane_access(d, at, bytes);
    if (!l->inside)
        return;
    memcpy(l->tiles.plane[plane].dst + at, from, bytes);
    uint64_t x = at % d->stride / l->size, y = at / d->stride;
    for (uint64_t i = x; i < x + bytes / l->size && i < d->width; i++)
        l->written[plane][y * d->width + i]++;
}

static void block_of_rows(struct launch *l, uint32_t tile)
{
    const struct tiles_plane *p = tiles_find(&l->tiles, tile);
    size_t plane = (size_t)(p - l->tiles.plane);
    for (unsigned thread = 0; thread < TILES_THREADS; thread++) {
        struct rows_part part =
            rows_find_part(p, l->tiles.t, tile, thread, l->size);
        uint32_t w[8] = { 0 };
        if (!part.inside)
            continue;
        if (!(l->tiles.t & XFORM_MIRROR_X)) {
            memcpy(w, at_src(l, plane, part.from, 16), 16);
        } else {
            if (part.low)
                memcpy(w, at_src(l, plane, part.from - 16, 16), 16);
            if (part.shift)
                memcpy(w + 4, at_src(l, plane, part.from, 16), 16);
            rows_mirror(w, part.shift, l->size);
        }
        put_dst(l, plane, part.to, w, 16);
    }
}

enum { SHARED = TILES_WORD * TILES_LANES * TILES_PITCH };

static void fill_shared(struct launch *l, uint32_t *shared, uint32_t tile)
{
    const struct tiles_plane *p = tiles_find(&l->tiles, tile);
    struct columns_tile at = columns_find_tile(p, tile, l->size);
    for (unsigned thread = 0; thread < TILES_THREADS; thread++) {
        unsigned lane = thread % TILES_LANES, warp = thread / TILES_LANES;
        for (unsigned band = warp; band < TILES_LANES; band += TILES_WARPS) {
            uint32_t w[TILES_WORD] = { 0 };
            for (unsigned i = 0; i < at.step; i++) {
                uint64_t from;
                if (columns_read(p, l->tiles.t, at, band * at.step + i, lane,
                                 &from))
                    memcpy(&w[i],
                           at_src(l, (size_t)(p - l->tiles.plane), from, 4), 4);
            }
            square_transpose(w, at.step);
            for (unsigned i = 0; i < at.step; i++)
                shared[columns_put(i, lane, band)] = w[i];
        }
    }
}

static void block_of_columns(struct launch *l, uint32_t tile)
{
    const struct tiles_plane *p = tiles_find(&l->tiles, tile);
    struct columns_tile at = columns_find_tile(p, tile, l->size);
    uint32_t shared[SHARED];
    memset(shared, 0xee, sizeof shared);
    fill_shared(l, shared, tile);
    for (unsigned thread = 0; thread < TILES_THREADS; thread++) {
        unsigned lane = thread % TILES_LANES, warp = thread / TILES_LANES;
        for (unsigned row = warp; row < TILES_LANES * at.step;
             row += TILES_WARPS) {
            uint64_t to;
            if (columns_write(p, l->tiles.t, at, row, lane, &to))
                put_dst(l, (size_t)(p - l->tiles.plane), to,
                        &shared[columns_get(row, lane)], 4);
        }
    }
}

/* ---- Whether each cell comes to its place, once ---------------------------*/

/* The number of a cell in its plane does not fit into a small cell: it is
 * checked in as many launches as it takes, `digit` by digit. */
static uint64_t digit_of(uint64_t n, unsigned digit, unsigned size)
{
    return n >> 8 * size * digit & (((uint64_t)1 << 8 * size) - 1);
}

static void number_cells(struct launch *l, unsigned digit)
{
    memset(l->src.cells, 0xa5, l->src.size);
    memset(l->dst.cells, 0x5a, l->dst.size);
    for (unsigned i = 0; i < l->src.nplanes; i++) {
        const struct plane *s = &l->src.plane[i];
        for (uint64_t n = 0; n < (uint64_t)s->width * s->height; n++) {
            uint64_t value = digit_of(n + i, digit, l->size);
            memcpy(s->data + n / s->width * s->stride + n % s->width * l->size,
                   &value, l->size);
        }
    }
}

/* By the definition in codecs/xform.h. */
static uint64_t source_of(const struct plane *d, const struct plane *s,
                          enum xform t, uint64_t x, uint64_t y)
{
    uint64_t mx = t & XFORM_MIRROR_X ? d->width - 1 - x : x;
    uint64_t my = t & XFORM_MIRROR_Y ? d->height - 1 - y : y;
    return xform_transposes(t) ? mx * s->width + my : my * s->width + mx;
}

static bool cells_are_right(const struct launch *l, unsigned digit)
{
    bool right = l->inside;
    for (unsigned i = 0; i < l->dst.nplanes; i++) {
        const struct plane *d = &l->dst.plane[i];
        for (uint64_t y = 0; y < d->height; y++)
            for (uint64_t x = 0; x < d->width; x++) {
                uint64_t from = source_of(d, &l->src.plane[i],
                                          (enum xform)l->tiles.t, x, y);
                uint64_t want = digit_of(from + i, digit, l->size);
                right &= l->written[i][y * d->width + x] == 1;
                right &= !memcmp(d->data + y * d->stride + x * l->size, &want,
                                 l->size);
            }
    }
    return right;
}

static bool launch_is_right(struct launch *l, unsigned digit)
{
    enum xform t = (enum xform)l->tiles.t;
    uint64_t n = tiles_plan(&l->tiles, &l->dst, &l->src, t);
    number_cells(l, digit);
    l->inside = true;
    for (unsigned i = 0; i < l->dst.nplanes; i++)
        memset(l->written[i], 0,
               (size_t)l->dst.plane[i].width * l->dst.plane[i].height);
    for (uint32_t tile = 0; tile < n; tile++) {
        if (xform_transposes(t))
            block_of_columns(l, tile);
        else
            block_of_rows(l, tile);
    }
    return cells_are_right(l, digit);
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

static void check_turn(enum cell cell, unsigned nplanes, uint32_t width,
                       uint32_t height, enum xform t)
{
    struct launch l = { .size = (unsigned)cell_size(cell) };
    struct err err;
    l.src.cell = cell;
    l.src.width = width;
    l.src.height = height;
    l.src.nplanes = nplanes;
    if (image_alloc(&l.src, mem_plain, &err) ||
        image_like(&l.dst, &l.src, t, mem_plain, &err))
        abort();
    shrink(&l.src, false);
    shrink(&l.dst, xform_transposes(t));
    for (unsigned i = 0; i < nplanes; i++)
        l.written[i] = malloc((size_t)width * height);
    l.tiles.t = t;
    for (unsigned digit = 0; digit < 4 / l.size; digit++)
        CHECK(launch_is_right(&l, digit), "%s, %u bytes, %u planes, %u x %u",
              xform_name(t), l.size, nplanes, width, height);
    for (unsigned i = 0; i < nplanes; i++)
        free(l.written[i]);
    image_free(&l.src);
    image_free(&l.dst);
}

static void test_grids(void)
{
    static const uint32_t sizes[][3] = {
        { 1, 1, 1 },    { 1, 1, 300 },   { 1, 300, 1 },   { 1, 31, 33 },
        { 1, 32, 32 },  { 1, 33, 31 },   { 1, 63, 65 },   { 1, 64, 64 },
        { 1, 65, 63 },  { 1, 127, 129 }, { 1, 128, 128 }, { 1, 129, 127 },
        { 1, 255, 9 },  { 1, 256, 8 },   { 1, 257, 7 },   { 1, 13, 511 },
        { 1, 512, 16 }, { 1, 513, 17 },  { 1, 1031, 5 },  { 3, 139, 141 },
        { 5, 40, 300 }, { 64, 130, 12 }, { 64, 3, 3 },    { 1, 2500, 3 },
    };
    for (unsigned cell = CELL_U8; cell <= CELL_F32; cell++)
        for (unsigned t = 0; t < XFORM_COUNT; t++)
            for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
                check_turn((enum cell)cell, sizes[i][0], sizes[i][1],
                           sizes[i][2], (enum xform)t);
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

struct place {
    uint64_t x, y;
};

static struct place place_at(const struct plane *plane, uint64_t at,
                             unsigned size)
{
    struct place place = { at % plane->stride / size, at / plane->stride };
    return place;
}

/* Tile n of the last of three equal planes, seen from thread `thread`. Of the
 * cell at (x, y) of dst, the source is known by its number in the plane. */
static bool rows_agree(const struct tiles *tiles, const struct image *dst,
                       const struct image *src, uint64_t n, unsigned thread)
{
    const struct plane *d = &dst->plane[2], *s = &src->plane[2];
    const struct tiles_plane *p = tiles_find(tiles, (uint32_t)n);
    unsigned size = (unsigned)cell_size(src->cell);
    struct rows_part part =
        rows_find_part(p, tiles->t, (uint32_t)n, thread, size);
    uint64_t local = n - tiles->plane[2].first, vectors = 16 / size;
    struct place want = {
        (local % p->across * 32 + thread % 32) * vectors,
        local / p->across * 8 + thread / 32,
    };
    struct place to = place_at(d, part.to, size);
    if (want.x >= d->width || want.y >= d->height)
        return !part.inside;
    /* When mirrored, the first cell of the vector is the last before `end`. */
    uint64_t from =
        tiles->t & XFORM_MIRROR_X ? part.from + part.shift - size : part.from;
    struct place read = place_at(s, from, size);
    return p == &tiles->plane[2] && part.inside && to.x == want.x &&
           to.y == want.y && check_plane_access(d, part.to, 16) &&
           read.y * s->width + read.x ==
               source_of(d, s, (enum xform)tiles->t, to.x, to.y);
}

static bool columns_agree(const struct tiles *tiles, const struct image *dst,
                          const struct image *src, uint64_t n, unsigned lane)
{
    const struct plane *d = &dst->plane[2], *s = &src->plane[2];
    const struct tiles_plane *p = tiles_find(tiles, (uint32_t)n);
    unsigned size = (unsigned)cell_size(src->cell), step = 4 / size;
    unsigned side = 32 * step, k = lane * step + step - 1;
    uint64_t local = n - tiles->plane[2].first;
    uint64_t c = local / p->across * side, x = local % p->across * side, at;
    struct columns_tile tile = columns_find_tile(p, (uint32_t)n, size);
    bool agree = p == &tiles->plane[2] && tile.c == c && tile.x == x;
    /* Row x + k of src, its word that begins with column c + lane * step. */
    if (columns_read(p, tiles->t, tile, k, lane, &at)) {
        struct place read = place_at(s, at, size);
        agree &= check_plane_access(s, at, 4) && read.x == c + lane * step;
        agree &= read.y ==
                 (tiles->t & XFORM_MIRROR_X ? d->width - 1 - (x + k) : x + k);
    } else {
        agree &= x + k >= d->width || c + lane * step >= d->height;
    }
    /* The row of dst that shared row k is of, its word that begins with column
     * x + lane * step. */
    c += columns_row(k, step);
    if (columns_write(p, tiles->t, tile, k, lane, &at)) {
        struct place to = place_at(d, at, size);
        agree &= check_plane_access(d, at, 4) && to.x == x + lane * step;
        agree &= to.y == (tiles->t & XFORM_MIRROR_Y ? d->height - 1 - c : c);
    } else {
        agree &= c >= d->height || x + lane * step >= d->width;
    }
    return agree;
}

static void check_large(enum cell cell, uint32_t width, uint32_t height,
                        enum xform t)
{
    struct image src = { .cell = cell, .nplanes = 3 };
    struct image dst = { .cell = cell, .nplanes = 3 };
    struct tiles tiles;
    unsigned size = (unsigned)cell_size(cell);
    bool turns = xform_transposes(t);
    for (int i = 0; i < 3; i++) {
        src.plane[i] = shape(width, height, size);
        dst.plane[i] =
            shape(turns ? height : width, turns ? width : height, size);
    }
    uint64_t n = tiles_plan(&tiles, &dst, &src, t);
    uint64_t first = tiles.plane[2].first, seed = width + size + t;
    bool agree = n <= TILES_MAX && n % 3 == 0 && first == n / 3 * 2;
    for (unsigned i = 0; i < 2000; i++) {
        uint64_t tile = i == 0   ? first
                        : i == 1 ? n - 1
                                 : first + test_random(&seed) % (n - first);
        unsigned thread = (unsigned)(test_random(&seed) % TILES_THREADS);
        agree &= turns ? columns_agree(&tiles, &dst, &src, tile, thread % 32)
                       : rows_agree(&tiles, &dst, &src, tile, thread);
    }
    CHECK(agree, "%s, %u bytes, %u x %u", xform_name(t), size, width, height);
}

static void test_large(void)
{
    static const uint32_t sizes[][2] = {
        { 1200000, 4 },         { 4, 1200000 },         { 100000, 100000 },
        { IMAGE_DIMENSION, 5 }, { 5, IMAGE_DIMENSION }, { 70000, 500000 },
    };
    for (unsigned cell = CELL_U8; cell <= CELL_F32; cell++)
        for (unsigned t = 0; t < XFORM_COUNT; t++)
            for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
                check_large((enum cell)cell, sizes[i][0], sizes[i][1],
                            (enum xform)t);
}

/* More tiles than a grid has blocks are counted right, and so refused. */
static void test_too_many(void)
{
    struct image img = { .cell = CELL_F32, .nplanes = IMAGE_PLANES };
    struct tiles tiles;
    for (int i = 0; i < IMAGE_PLANES; i++)
        img.plane[i] = shape(IMAGE_DIMENSION, IMAGE_DIMENSION, 4);
    uint64_t side = ((uint64_t)1 << 31) / 32;
    uint64_t n = tiles_plan(&tiles, &img, &img, XFORM_TRANSPOSE);
    CHECK(n == side * side * IMAGE_PLANES, "%llu", (unsigned long long)n);
    CHECK(n > TILES_MAX, "%llu", (unsigned long long)n);
}

/* ---- Shared memory --------------------------------------------------------*/

/* A warp that meets no bank twice is served in one go. There are 32 banks of
 * one word each. */
static void test_banks(void)
{
    for (unsigned step = 1; step <= TILES_WORD; step *= 2) {
        unsigned words = step * TILES_LANES * TILES_PITCH;
        for (unsigned a = 0; a < step; a++)
            for (unsigned b = 0; b < TILES_LANES; b++) {
                uint32_t put = 0, get = 0;
                bool inside = true;
                for (unsigned lane = 0; lane < TILES_LANES; lane++) {
                    unsigned to = columns_put(a, lane, b);
                    unsigned from = columns_get(a * TILES_LANES + b, lane);
                    put |= (uint32_t)1 << to % 32;
                    get |= (uint32_t)1 << from % 32;
                    inside &= to < words && from < words;
                }
                CHECK(put == UINT32_MAX && get == UINT32_MAX && inside,
                      "step %u: %u, %u", step, a, b);
            }
    }
}

/* What both sides of the shared tile mean: the lane that gets word `band` of a
 * row finds the cells of that row. */
static void test_shared(void)
{
    for (unsigned step = 1; step <= TILES_WORD; step *= 2)
        for (unsigned i = 0; i < step; i++)
            for (unsigned lane = 0; lane < TILES_LANES; lane++) {
                unsigned row = i * TILES_LANES + lane;
                CHECK(columns_row(row, step) == lane * step + i, "%u", row);
                CHECK(columns_put(i, lane, 5) == columns_get(row, 5), "%u",
                      row);
            }
}

int main(void)
{
    test_grids();
    test_large();
    test_too_many();
    test_banks();
    test_shared();
    return test_end();
}
