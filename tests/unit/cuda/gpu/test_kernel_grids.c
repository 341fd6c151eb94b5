/* The grid of each kernel, run on the host in plain loops, moves every cell to
 * its place, and writes nothing else. */
#include "cuda/gpu/tiles.h"

#include "tests/support/oracle.h"
#include "tests/support/test.h"

/* What bytes of dst are before a launch, in which those of src have no part of
 * their own, so that one that was not written shows. */
enum { UNTOUCHED = 0x5a };

static void run_block(const struct tiles_plane *p, uint32_t tile, unsigned size)
{
    static uint8_t shared[COLUMNS_BYTES(1)];
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
    struct tiles_plane plane;
    for (size_t i = 0; i < src->pixels.rows.size; i += sizeof *seed) {
        uint64_t r = test_random(seed);
        memcpy(src->pixels.rows.cells + i, &r, sizeof r);
    }
    memset(dst->pixels.rows.cells, UNTOUCHED, dst->pixels.rows.size);
    const uint64_t n =
        tiles_cut(&plane, &dst->plane[0], &src->plane[0], size, t);
    for (uint32_t tile = 0; tile < n; tile++)
        run_block(&plane, tile, size);
    return is_turned(t, &dst->plane[0], &src->plane[0], src->cell) &&
           padding_is_left(&dst->plane[0], size, t);
}

static void check_turn(enum cell cell, uint32_t width, uint32_t height,
                       enum xform t)
{
    owned_image src = { .cell = cell,
                        .width = width,
                        .height = height,
                        .nplanes = 1 },
                dst = { .nplanes = 0 };
    struct err err;
    uint64_t seed = width * 65537 + height;
    must(image_alloc(&src, mem_plain, &err) == 0 &&
         image_like(&dst, &src, t, mem_plain, &err) == 0);
    for (unsigned n = 0; n < (cell == CELL_U8 ? 3 : 1); n++)
        CHECK(launch_is_right(&dst, &src, t, &seed), "%s, %zu bytes, %u x %u",
              oracle[t].name, cell_size(cell), width, height);
}

TEST(grids)
{
    static const uint32_t sizes[][2] = {
        { 1, 1 },     { 1, 300 },   { 300, 1 },  { 31, 33 },  { 32, 32 },
        { 33, 31 },   { 63, 65 },   { 64, 64 },  { 65, 63 },  { 127, 129 },
        { 128, 128 }, { 129, 127 }, { 255, 9 },  { 256, 8 },  { 257, 7 },
        { 13, 511 },  { 512, 16 },  { 513, 17 }, { 1031, 5 }, { 139, 141 },
        { 40, 300 },  { 130, 12 },  { 3, 3 },    { 2500, 3 }, { 256, 256 },
        { 257, 255 }, { 300, 530 },
    };
    for (unsigned cell = CELL_U8; cell <= CELL_F32; cell++)
        for (size_t i = 0; i < COUNT(sizes); i++)
            for (EACH_TURN(t))
                check_turn((enum cell)cell, sizes[i][0], sizes[i][1], t);
}
