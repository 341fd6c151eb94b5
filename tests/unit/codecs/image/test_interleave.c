/* Conversion between interleaved rows and planes puts every cell at its place
 * and writes nothing beside it. */
#include "codecs/image/interleave.h"

#include "tests/support/test.h"

enum { MARGIN = 64, GARBAGE = 0xa5 };

static bool all_garbage(const uint8_t *at, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (at[i] != GARBAGE)
            return false;
    return true;
}

/* Row 1 of 3 is taken apart and joined again; rows 0 and 2 stay untouched. The
 * row starts at an odd address. */
static void check_row(enum cell cell, unsigned n, uint32_t width)
{
    owned_image img = { .cell = cell, .nplanes = n, .width = width };
    size_t size = cell_size(cell), row_size = width * n * size;
    owned_memory uint8_t *row = malloc(row_size + 2 * MARGIN);
    owned_memory uint8_t *again = malloc(row_size + 2 * MARGIN);
    uint64_t state = width * 100 + n;
    struct err err;
    img.height = 3;
    if (image_alloc(&img, mem_plain, &err)) {
        CHECK(false, "%s", err.text);
        return;
    }
    memset(img.pixels.rows.cells, GARBAGE, img.pixels.rows.size);
    memset(again, GARBAGE, row_size + 2 * MARGIN);
    for (size_t i = 0; i < row_size; i++)
        row[1 + i] = (uint8_t)(test_random(&state) >> 32);

    interleave_split_row(&img, 1, row + 1);
    bool right = true, beside = true;
    for (unsigned c = 0; c < n; c++) {
        const uint8_t *got = plane_row(&img.plane[c], 1);
        for (uint32_t x = 0; x < width; x++)
            right &=
                !memcmp(got + x * size, row + 1 + (x * n + c) * size, size);
        beside &= all_garbage(plane_row(&img.plane[c], 0), width * size);
        beside &= all_garbage(plane_row(&img.plane[c], 2), width * size);
    }
    CHECK(right, "split, cell %d, %u planes, %u columns", cell, n, width);
    CHECK(beside, "split, cell %d, %u planes, %u columns", cell, n, width);

    interleave_join_row(&img, 1, again + 1);
    CHECK(!memcmp(row + 1, again + 1, row_size),
          "join, cell %d, %u planes, %u columns", cell, n, width);
    CHECK(all_garbage(again, 1) && all_garbage(again + 1 + row_size, MARGIN),
          "join, cell %d, %u planes, %u columns", cell, n, width);
}

TEST(rows)
{
    static const uint32_t widths[] = { 1,  2,  3,  15, 16, 17,  31,  32,
                                       33, 63, 64, 65, 97, 127, 128, 1009 };
    static const unsigned planes[] = { 1, 2, 3, 4, 5, 64 };
    for (int cell = CELL_U8; cell <= CELL_F32; cell++)
        for (size_t i = 0; i < COUNT(widths); i++)
            for (size_t j = 0; j < COUNT(planes); j++)
                check_row((enum cell)cell, planes[j], widths[i]);
}

TEST(swaps)
{
    for (size_t n = 0; n < 100; n++) {
        uint8_t cells[402], want[402];
        for (size_t i = 0; i < sizeof cells; i++)
            cells[i] = want[i] = (uint8_t)(i * 7);
        for (size_t i = 0; i < n; i++) {
            want[1 + 2 * i] = cells[1 + 2 * i + 1];
            want[1 + 2 * i + 1] = cells[1 + 2 * i];
        }
        interleave_set_order(CELL_U16, cells + 1, n, !interleave_big_endian());
        CHECK(!memcmp(cells, want, sizeof cells), "16, %zu cells", n);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < 4; j++)
                want[1 + 4 * i + j] = cells[1 + 4 * i + 3 - j];
        interleave_set_order(CELL_F32, cells + 1, n, !interleave_big_endian());
        CHECK(!memcmp(cells, want, sizeof cells), "32, %zu cells", n);
    }
}

TEST(max)
{
    uint8_t cells[2 * 200 + 1] = { 0 };
    CHECK(interleave_max(CELL_U8, cells, 0) == 0, "none");
    CHECK(interleave_max(CELL_U16, cells, 0) == 0, "none");
    for (size_t i = 0; i < 200; i++) {
        uint16_t large = 40000;
        cells[1 + i] = 200;
        CHECK(interleave_max(CELL_U8, cells + 1, 200) == 200, "at %zu", i);
        CHECK(interleave_max(CELL_U8, cells + 1, i) == 0, "behind %zu", i);
        cells[1 + i] = 0;
        memcpy(cells + 1 + 2 * i, &large, 2);
        CHECK(interleave_max(CELL_U16, cells + 1, 200) == 40000, "at %zu", i);
        CHECK(interleave_max(CELL_U16, cells + 1, i) == 0, "behind %zu", i);
        memset(cells + 1 + 2 * i, 0, 2);
    }
}
