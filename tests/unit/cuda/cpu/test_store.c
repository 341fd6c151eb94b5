/* A picture that goes through a scratch file equals the picture turned as a
 * whole, and a fault of the file is a failure. */

#include <stdlib.h>
#include <string.h>

#include "codecs/image/row_sink.h"
#include "codecs/image/row_source.h"
#include "cuda/backend.h"
#include "tests/support/fixture.h"
#include "tests/support/oracle.h"
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

static const struct turner turner = { .turn = turn_part };

/* ---- A scratch file in memory -------------------------------------------- */

struct memory_file {
    uint8_t *bytes;
    uint64_t size;
    uint64_t written;            /* bytes, in all */
    int writes_left, reads_left; /* before one fails */
};

static int file_begin(void *context, uint64_t size, struct err *err)
{
    struct memory_file *file = context;
    (void)err;
    file->size = size;
    file->bytes = malloc(size);
    return file->bytes ? 0 : -1;
}

static int file_put(void *context, uint64_t at, const void *data, size_t size,
                    struct err *err)
{
    struct memory_file *file = context;
    if (file->writes_left-- == 0)
        return fail(err, "the disk is full");
    CHECK(at + size <= file->size, "%llu", (unsigned long long)at);
    memcpy(file->bytes + at, data, size);
    file->written += size;
    return 0;
}

static int file_get(void *context, uint64_t at, void *data, size_t size,
                    struct err *err)
{
    struct memory_file *file = context;
    if (file->reads_left-- == 0)
        return fail(err, "the disk is gone");
    CHECK(at + size <= file->size, "%llu", (unsigned long long)at);
    memcpy(data, file->bytes + at, size);
    return 0;
}

static struct scratch scratch_of(struct memory_file *file, uint64_t memory)
{
    *file = (struct memory_file){ .writes_left = -1, .reads_left = -1 };
    return (struct scratch){ .begin = file_begin,
                             .write = file_put,
                             .read = file_get,
                             .context = file,
                             .memory = memory };
}

/* ---- The way there and back ---------------------------------------------- */

static void copy_row(const struct image *to, uint32_t row,
                     const struct image *from, uint32_t y)
{
    for (unsigned i = 0; i < from->nplanes; i++)
        memcpy(plane_row(&to->plane[i], row), plane_row(&from->plane[i], y),
               from->width * cell_size(from->cell));
}

static int write_picture(struct image *img, const struct image *src,
                         enum xform t, const struct scratch *scratch,
                         struct err *err)
{
    struct row_sink rows = { 0 };
    int status = row_sink_open_stored(&rows, img, t, &turner, scratch, err);
    for (uint32_t y = 0, row; y < src->height && status == 0; y++) {
        const struct image *to = row_sink_at(&rows, y, &row);
        copy_row(to, row, src, y);
        status = row_sink_done(&rows, y, err);
    }
    row_sink_close(&rows);
    return status;
}

static int read_picture(const struct image *to, const struct image *img,
                        bool upwards, struct err *err)
{
    struct row_source rows = row_source_open(img, NULL);
    int status = 0;
    for (uint32_t i = 0, row; i < img->height && status == 0; i++) {
        uint32_t y = upwards ? img->height - 1 - i : i;
        status = row_source_reach(&rows, y, err);
        if (status == 0) {
            struct image one = *row_source_at(&rows, y, &row);
            for (unsigned k = 0; k < one.nplanes; k++)
                one.plane[k].data = plane_row(&one.plane[k], row);
            copy_row(to, y, &one, 0);
        }
    }
    row_source_close(&rows);
    return status;
}

static struct image picture(enum cell cell, uint32_t width, uint32_t height)
{
    struct image img = {
        .cell = cell, .nplanes = 2, .width = width, .height = height
    };
    struct err err;
    uint64_t seed = width * 7919 + height;
    if (image_alloc(&img, mem_plain, &err))
        abort();
    for (size_t i = 0; i < img.size; i++)
        img.cells[i] = (uint8_t)(test_random(&seed) >> 40);
    return img;
}

static void check(enum cell cell, uint32_t width, uint32_t height, enum xform t,
                  uint64_t memory)
{
    struct image src = picture(cell, width, height), want, got;
    struct image img = {
        .cell = cell, .nplanes = 2, .width = width, .height = height
    };
    struct memory_file file;
    const struct scratch scratch = scratch_of(&file, memory);
    struct err err = { .text = "" };
    if (image_like(&want, &src, t, mem_plain, &err) ||
        image_like(&got, &src, t, mem_plain, &err))
        abort();
    turn_cells(NULL, &want, &src, t, &err);
    memset(got.cells, 5, got.size);
    bool right = write_picture(&img, &src, t, &scratch, &err) == 0 &&
                 read_picture(&got, &img, width % 2, &err) == 0;
    uint64_t bytes = (uint64_t)width * height * 2 * cell_size(cell);
    CHECK(right && img.turned == t && img.width == want.width &&
              same_cells(&got, &want) && file.written == bytes &&
              file.size == bytes,
          "%u x %u, cell %d, %s, %llu bytes: %s", width, height, cell,
          xform_name(t), (unsigned long long)memory, err.text);
    image_free(&src);
    image_free(&want);
    image_free(&got);
    image_free(&img);
    free(file.bytes);
}

TEST(sizes)
{
    static const uint32_t sizes[] = { 1, 2, 63, 65, 255, 256, 257, 600 };
    enum { SIZES = sizeof sizes / sizeof *sizes };
    struct pairwise p = { .counts = { SIZES, SIZES, 3 * XFORM_COUNT } };
    while (pairwise_next(&p))
        check((enum cell)(p.at[2] / XFORM_COUNT), sizes[p.at[0]],
              sizes[p.at[1]], (enum xform)(p.at[2] % XFORM_COUNT), 1 << 16);
}

/* Blocks of a band, and bands in many windows. */
TEST(blocks)
{
    for (enum xform t = 0; t < 8; t++) {
        check(CELL_U8, 20000, 300, t, 64 << 20);
        check(CELL_U16, 300, 20000, t, 1 << 20);
        check(CELL_F32, 4000, 1, t, 1 << 16);
        check(CELL_U8, 9000, 1, t, 1 << 20);
        check(CELL_U16, 1, 9000, t, 1 << 20);
        check(CELL_F32, 3000, 8, t, 1 << 20);
        check(CELL_U8, 3000, 33, t, 1 << 18);
    }
}

TEST(faults)
{
    struct image src = picture(CELL_U8, 300, 600), got;
    struct image img = {
        .cell = CELL_U8, .nplanes = 2, .width = 300, .height = 600
    };
    struct memory_file file;
    const struct scratch scratch = scratch_of(&file, 1 << 20);
    struct err err = { .text = "" };
    if (image_like(&got, &src, XFORM_ROTATE_90, mem_plain, &err))
        abort();
    file.writes_left = 3;
    CHECK(write_picture(&img, &src, XFORM_ROTATE_90, &scratch, &err) &&
              strcmp(err.text, "the disk is full") == 0,
          "%s", err.text);
    image_free(&img);
    free(file.bytes);
    img = (struct image){
        .cell = CELL_U8, .nplanes = 2, .width = 300, .height = 600
    };
    file.writes_left = -1;
    file.reads_left = 1;
    CHECK(write_picture(&img, &src, XFORM_ROTATE_90, &scratch, &err) == 0 &&
              read_picture(&got, &img, false, &err) &&
              strcmp(err.text, "the disk is gone") == 0,
          "%s", err.text);
    image_free(&img);
    image_free(&src);
    image_free(&got);
    free(file.bytes);
}
