/* A picture that is turned in bands while its rows arrive equals the picture
 * turned as a whole. */

#include <stdlib.h>
#include <string.h>

#include "codecs/image/row_sink.h"
#include "cuda/backend.h"
#include "tests/support/fixture.h"
#include "tests/support/pairwise.h"
#include "tests/support/pools.h"
#include "tests/support/test.h"

TEST_LANE()

static int turn_part(void *context, struct image *dst, const struct image *src,
                     enum xform t, struct err *err)
{
    (void)context;
    return backend_cpu.apply(lane, dst, src, t, NULL, err);
}

static void fill(struct image *img, uint64_t seed)
{
    for (size_t i = 0; i < img->pixels.rows.size; i++)
        img->pixels.rows.cells[i] = (uint8_t)(test_random(&seed) >> 40);
}

static void copy_row(const struct image *to, uint32_t row,
                     const struct image *from, uint32_t y)
{
    for (unsigned i = 0; i < from->nplanes; i++)
        memcpy(plane_row(&to->plane[i], row), plane_row(&from->plane[i], y),
               from->width * cell_size(from->cell));
}

/* With a second band if it is `late`: one that waits is turned in the next row
 * whose number that divides, which may be behind the next band. */
static void check(enum cell cell, uint32_t width, uint32_t height, enum xform t,
                  uint32_t late)
{
    const struct turner turner = { .turn = turn_part };
    const struct row_sink_opts opts = { .t = t,
                                        .turner = &turner,
                                        .mem = mem_plain };
    struct image src = { .cell = cell, .nplanes = 2 }, got, want;
    struct row_sink rows;
    struct err err = { .text = "" };
    src.width = width;
    src.height = height;
    got = src;
    if (image_alloc(&src, mem_plain, &err) ||
        image_like(&want, &src, t, mem_plain, &err) ||
        row_sink_open(&rows, &got, &opts, &err)) {
        CHECK(false, "%s", err.text);
        return;
    }
    fill(&src, width * 7919 + height);
    fill(&got, 5);
    CHECK(backend_cpu.apply(lane, &want, &src, t, NULL, &err) == 0, "%s",
          err.text);
    int status = 0;
    if (late)
        row_sink_open_second(&rows);
    for (uint32_t y = 0, row; y < height; y++) {
        const struct image *to = row_sink_at(&rows, y, &row);
        copy_row(to, row, &src, y);
        status |= row_sink_done(&rows, y, &err);
        if (row_sink_has_waiting(&rows) && (y + 1 == height || y % late == 0))
            status |= row_sink_turn_waiting(&rows, &err);
    }
    CHECK(status == 0 && got.turned == t && same_cells(&got, &want) &&
              !rows.second.pixels.kind == !(late && t && height > BAND_ROWS),
          "%u x %u, cell %d, %s, %u", width, height, cell, xform_name(t), late);
    row_sink_close(&rows);
    image_free(&src);
    image_free(&got);
    image_free(&want);
}

/* A band fails: so does the reading, at that row. */
static int refuse(void *context, struct image *dst, const struct image *src,
                  enum xform t, struct err *err)
{
    (void)context, (void)dst, (void)t;
    return fail(err, "%u rows", src->height);
}

TEST(failure)
{
    const struct turner turner = { .turn = refuse };
    const struct row_sink_opts opts = { .t = XFORM_TRANSPOSE,
                                        .turner = &turner,
                                        .mem = mem_plain };
    struct image img = {
        .cell = CELL_U8, .nplanes = 1, .width = 3, .height = 2 * BAND_ROWS
    };
    struct row_sink rows;
    struct err err = { .text = "" };
    CHECK(row_sink_open(&rows, &img, &opts, &err) == 0, "%s", err.text);
    int first = row_sink_done(&rows, BAND_ROWS - 2, &err);
    int second = row_sink_done(&rows, BAND_ROWS - 1, &err);
    CHECK(first == 0 && second && strcmp(err.text, "256 rows") == 0, "%s",
          err.text);
    row_sink_close(&rows);
    image_free(&img);
}

TEST(sizes)
{
    static const uint32_t sizes[] = {
        1, 2, 63, 64, 65, 255, 256, 257, 600, 1024
    };
    enum { SIZES = sizeof sizes / sizeof *sizes };
    struct pairwise p = { .counts = { SIZES, SIZES, 3 * XFORM_COUNT } };
    while (pairwise_next(&p))
        check((enum cell)(p.at[2] / XFORM_COUNT), sizes[p.at[0]],
              sizes[p.at[1]], (enum xform)(p.at[2] % XFORM_COUNT), 0);
    check(CELL_U8, 3000, 2000, XFORM_ROTATE_90, 0);
}

TEST(second_band)
{
    static const uint32_t heights[] = { 256, 257, 600, 1024 };
    for (int i = 0; i < 4; i++)
        for (enum xform t = 0; t < 8; t++) {
            check(CELL_U8, 65, heights[i], t, 1);
            check(CELL_U8, 65, heights[i], t, 100);
            check(CELL_U16, 65, heights[i], t, 400);
        }
}
