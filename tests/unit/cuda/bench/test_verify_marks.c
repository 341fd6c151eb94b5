/* The check of the benchmark accepts a turned plane of marked cells, and finds
 * a single cell out of place. */
#include "cuda/bench/verify.h"

#include "cuda/backend.h"
#include "tests/support/test.h"

static const enum cell cells[] = { CELL_U8, CELL_U16, CELL_F32 };
enum { CELLS = COUNT(cells) };

static void check_turn(enum cell cell, enum xform t)
{
    owned_image src = { .cell = cell, .width = 67, .height = 41, .nplanes = 1 };
    owned_image dst;
    struct lane *lane;
    struct lane_opts opts = { 0 };
    struct err err;
    unsigned all = src.width * src.height;
    if (image_alloc(&src, mem_plain, &err) ||
        image_like(&dst, &src, t, mem_plain, &err) ||
        backend_cpu.open(&lane, &opts, &err)) {
        CHECK(false, "%s", err.text);
        return;
    }
    verify_fill_image(&src);
    CHECK(backend_cpu.apply(lane, &dst, &src, t, NULL, &err) == 0, "%s",
          err.text);
    CHECK(verify_count_wrong(&dst, t) == 0, "cell %d, turn %d", cell, t);
    /* Taken for another turn of the same shape, few cells are right: by chance,
     * of bytes, one in 256. */
    enum xform other = (enum xform)(t ^ XFORM_MIRROR_X);
    CHECK(verify_count_wrong(&dst, other) > all / 10 * 9, "cell %d, turn %d",
          cell, t);
    dst.plane[0].data[dst.plane[0].stride * 7 + 11] ^= 1;
    CHECK(verify_count_wrong(&dst, t) == 1, "cell %d, turn %d", cell, t);
    backend_cpu.close(lane);
}

TEST(turns)
{
    for (unsigned i = 0; i < CELLS; i++)
        for (unsigned t = 0; t < XFORM_COUNT; t++)
            check_turn(cells[i], (enum xform)t);
}
