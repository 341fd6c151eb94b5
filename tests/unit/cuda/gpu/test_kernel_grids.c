/* The grid of each kernel, run on the host in plain loops, moves every cell to
 * its place, and writes nothing else. */
#include "cuda/gpu/tiles.h"

#include "tests/support/oracle.h"
#include "tests/support/test.h"

/* What bytes of dst are before a launch, in which those of src have no part of
 * their own, so that one that was not written shows. */
enum { UNTOUCHED = 0x5a };

static void run_block(const struct tiles *tiles, uint32_t tile, unsigned size)
{
    static uint8_t shared[COLUMNS_BYTES(1)];
    const struct tiles_plane *p =
        tiles_find(tiles->plane, tiles->nplanes, tile);
    if (!(p->t & XFORM_TRANSPOSE)) {
        for (unsigned thread = 0; thread < ROWS_THREADS; thread++)
            rows_turn(p, tile, thread, size);
        return;
    }
    memset(shared, 0xee, sizeof shared);
    for (unsigned thread = 0; thread < COLUMNS_THREADS(size); thread++)
        columns_put(p, tile, thread, shared, size);
    for (unsigned thread = 0; thread < COLUMNS_THREADS(size); thread++)
        columns_get(p, tile, thread, shared, size);
}

/* Only vectors that hold a cell are written; where rows become columns, all of
 * what memory writes at once counts as holding one. */
static bool padding_is_left(const struct plane *d, unsigned size, enum xform t)
{
    const uint64_t whole = xform_transposes(t) ? TILES_BURST : TILES_VECTOR;
    bool left = true;
    for (uint64_t y = 0; y < d->height; y++)
        for (uint64_t x =
                 (d->width * (uint64_t)size + whole - 1) / whole * whole;
             x < d->stride; x++)
            left &= d->data[y * d->stride + x] == UNTOUCHED;
    return left;
}

/* All bits of src are random, so no cell but the right one passes for it in
 * every one of several launches. */
static bool launch_is_right(const struct image *dst, const struct image *src,
                            enum xform t, uint64_t *seed)
{
    const unsigned size = (unsigned)cell_size(src->cell);
    struct tiles tiles;
    for (size_t i = 0; i < src->pixels.rows.size; i += sizeof *seed) {
        uint64_t r = test_random(seed);
        memcpy(src->pixels.rows.cells + i, &r, sizeof r);
    }
    memset(dst->pixels.rows.cells, UNTOUCHED, dst->pixels.rows.size);
    const uint64_t n = tiles_cut(&tiles, dst, src, t);
    for (uint32_t tile = 0; tile < n; tile++)
        run_block(&tiles, tile, size);
    bool right = true;
    for (unsigned i = 0; i < dst->nplanes; i++)
        right &= is_turned(t, &dst->plane[i], &src->plane[i], src->cell) &&
                 padding_is_left(&dst->plane[i], size, t);
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

static void check_turn(enum cell cell, struct size size, enum xform t)
{
    owned_image src = { .cell = cell,
                        .width = size.width,
                        .height = size.height,
                        .nplanes = size.nplanes },
                dst = { .nplanes = 0 };
    struct err err;
    uint64_t seed = size.width * 65537 + size.height;
    must(image_alloc(&src, mem_plain, &err) == 0 &&
         image_like(&dst, &src, t, mem_plain, &err) == 0);
    shrink(&src, false);
    shrink(&dst, xform_transposes(t));
    for (unsigned n = 0; n < (cell == CELL_U8 ? 3 : 1); n++)
        CHECK(launch_is_right(&dst, &src, t, &seed),
              "%s, %zu bytes, %u planes, %u x %u", oracle[t].name,
              cell_size(cell), size.nplanes, size.width, size.height);
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
    for (unsigned cell = CELL_U8; cell <= CELL_F32; cell++)
        for (size_t i = 0; i < COUNT(sizes); i++)
            for (EACH_TURN(t))
                check_turn((enum cell)cell, sizes[i], t);
}
