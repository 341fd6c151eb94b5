/* A picture that is turned in bands while its rows arrive, in memory or in a
 * mapped file, equals the picture turned as a whole; a fault is a failure. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "codecs/base/bytes.h"
#include "codecs/image/rows.h"
#include "cuda/backend.h"
#include "tests/support/fixture.h"
#include "tests/support/pairwise.h"
#include "tests/support/pools.h"

TEST_LANE()

static int turn_part(void *context, struct image *dst, const struct image *src,
                     enum xform t, struct err *err)
{
    (void)context;
    return backend_cpu.apply(lane, dst, src, t, NULL, err);
}

static const struct turner turner = { .turn = turn_part };

/* ---- In memory ----------------------------------------------------------- */

static struct image picture(enum cell cell, uint32_t width, uint32_t height)
{
    struct image img = {
        .cell = cell, .nplanes = 2, .width = width, .height = height
    };
    struct err err;
    uint64_t seed = width * 7919 + height;
    if (image_alloc(&img, mem_plain, &err))
        abort();
    for (size_t i = 0; i < img.pixels.rows.size; i++)
        img.pixels.rows.cells[i] = (uint8_t)(test_random(&seed) >> 40);
    return img;
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
static void check_memory(enum cell cell, uint32_t width, uint32_t height,
                         enum xform t, uint32_t late)
{
    const struct row_sink_opts opts = { .t = t,
                                        .turner = &turner,
                                        .mem = garbage_memory };
    struct image src = picture(cell, width, height), want;
    owned_image got = image_kind(&src);
    struct row_sink rows;
    struct err err = { .text = "" };
    must(image_like(&want, &src, t, mem_plain, &err) == 0 &&
         row_sink_open(&rows, &got, &opts, &err) == 0);
    turn_cells(NULL, &want, &src, t, &err);
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
              !rows.second.img.pixels.kind ==
                  !(late && t && height > BAND_ROWS),
          "%u x %u, cell %d, %s, %u", width, height, cell, xform_name(t), late);
    row_sink_close(&rows);
    image_free(&src);
    image_free(&want);
}

TEST(memory)
{
    static const uint32_t sizes[] = {
        1, 2, 63, 64, 65, 255, 256, 257, 600, 1024
    };
    enum { SIZES = COUNT(sizes) };
    struct pairwise p = { .counts = { SIZES, SIZES, 3 * XFORM_COUNT } };
    while (pairwise_next(&p))
        check_memory((enum cell)(p.at[2] / XFORM_COUNT), sizes[p.at[0]],
                     sizes[p.at[1]], (enum xform)(p.at[2] % XFORM_COUNT), 0);
    check_memory(CELL_U8, 3000, 2000, XFORM_ROTATE_90, 0);
}

TEST(second_band)
{
    static const uint32_t heights[] = { 256, 257, 600, 1024 };
    for (int i = 0; i < 4; i++)
        for (EACH_TURN(t)) {
            check_memory(CELL_U8, 65, heights[i], t, 1);
            check_memory(CELL_U8, 65, heights[i], t, 100);
            check_memory(CELL_U16, 65, heights[i], t, 400);
        }
}

/* ---- In a mapped file -----------------------------------------------------*/

static int make_file(void *context, uint64_t size, struct scratch_map *file,
                     struct err *err)
{
    uint64_t *made = context;
    if (size > 1 << 28)
        return fail(err, "the disk is full");
    file->fd = memfd_create("bands", MFD_CLOEXEC);
    if (file->fd < 0 || ftruncate(file->fd, (off_t)size) ||
        !bytes_map(&file->bytes, file->fd, size))
        abort();
    *made = size;
    return 0;
}

static int make_full(void *context, uint64_t size, struct scratch_map *file,
                     struct err *err)
{
    if (make_file(context, size, file, err))
        return -1;
    close(file->fd);
    file->fd = open("/dev/full", O_RDWR | O_CLOEXEC);
    return 0;
}

/* Limits that no picture is within. */
static struct limits limits_of(const struct scratch *scratch)
{
    return (struct limits){ .pixels = UINT64_MAX,
                            .scratch = scratch,
                            .stored = UINT64_MAX };
}

static int write_picture(struct image *img, const struct image *src,
                         const struct row_sink_opts *opts, struct err *err)
{
    struct row_sink rows = { 0 };
    int status = row_sink_open(&rows, img, opts, err);
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

static void check(enum cell cell, uint32_t width, uint32_t height, enum xform t,
                  uint64_t memory)
{
    struct image src = picture(cell, width, height), want, got;
    owned_image img = {
        .cell = cell, .nplanes = 2, .width = width, .height = height
    };
    uint64_t mapped = 0;
    const struct scratch scratch = { make_file, &mapped, memory };
    const struct limits limits = limits_of(&scratch);
    const struct row_sink_opts opts = { .t = t,
                                        .turner = &turner,
                                        .limits = &limits };
    struct err err = { .text = "" };
    if (image_like(&want, &src, t, mem_plain, &err) ||
        image_like(&got, &src, t, mem_plain, &err))
        abort();
    turn_cells(NULL, &want, &src, t, &err);
    memset(got.pixels.rows.cells, 5, got.pixels.rows.size);
    bool right = write_picture(&img, &src, &opts, &err) == 0 &&
                 read_picture(&got, &img, width % 2, &err) == 0;
    uint64_t bytes = (uint64_t)width * height * 2 * cell_size(cell);
    CHECK(right && img.turned == t && img.width == want.width &&
              same_cells(&got, &want) && mapped == bytes &&
              image_has_bands(&img),
          "%u x %u, cell %d, %s, %llu bytes: %s", width, height, cell,
          xform_name(t), (unsigned long long)memory, err.text);
    image_free(&src);
    image_free(&want);
    image_free(&got);
}

TEST(sizes)
{
    static const uint32_t sizes[] = { 1, 2, 63, 65, 255, 256, 257, 600 };
    enum { SIZES = COUNT(sizes) };
    struct pairwise p = { .counts = { SIZES, SIZES, 3 * XFORM_COUNT } };
    while (pairwise_next(&p))
        check((enum cell)(p.at[2] / XFORM_COUNT), sizes[p.at[0]],
              sizes[p.at[1]], (enum xform)(p.at[2] % XFORM_COUNT), 1 << 16);
}

/* Blocks of a band, and bands in many windows. */
TEST(blocks)
{
    for (EACH_TURN(t)) {
        check(CELL_U8, 20000, 300, t, 64 << 20);
        check(CELL_U16, 300, 20000, t, 1 << 20);
        check(CELL_F32, 4000, 1, t, 1 << 16);
        check(CELL_U8, 9000, 1, t, 1 << 20);
        check(CELL_U16, 1, 9000, t, 1 << 20);
        check(CELL_F32, 3000, 8, t, 1 << 20);
        check(CELL_U8, 3000, 33, t, 1 << 18);
    }
}

static int refuse(void *context, struct image *dst, const struct image *src,
                  enum xform t, struct err *err)
{
    (void)context, (void)dst, (void)src, (void)t;
    return fail(err, "it is not turned");
}

/* A band fails: so does the reading, at that row. */
TEST(faults_in_memory)
{
    const struct turner refusing = { .turn = refuse };
    const struct row_sink_opts opts = { .t = XFORM_TRANSPOSE,
                                        .turner = &refusing,
                                        .mem = mem_plain };
    owned_image img = {
        .cell = CELL_U8, .nplanes = 1, .width = 3, .height = 2 * BAND_ROWS
    };
    struct row_sink rows;
    struct err err = { .text = "" };
    must(row_sink_open(&rows, &img, &opts, &err) == 0);
    int first = row_sink_done(&rows, BAND_ROWS - 2, &err);
    int second = row_sink_done(&rows, BAND_ROWS - 1, &err);
    CHECK(first == 0 && second && strcmp(err.text, "it is not turned") == 0,
          "%s", err.text);
    row_sink_close(&rows);
}

TEST(faults)
{
    const struct turner refusing = { .turn = refuse };
    owned_image src = picture(CELL_U8, 300, 600);
    struct image img = image_kind(&src);
    uint64_t made;
    const struct scratch scratch = { make_file, &made, 1 << 20 };
    const struct limits limits = limits_of(&scratch);
    const struct row_sink_opts opts = { .t = XFORM_ROTATE_90,
                                        .turner = &refusing,
                                        .limits = &limits };
    struct err err = { .text = "" };
    CHECK(write_picture(&img, &src, &opts, &err) &&
              strcmp(err.text, "it is not turned") == 0,
          "%s", err.text);
    image_free(&img);
    /* The disk is full when it is written. */
    img = image_kind(&src);
    const struct scratch full = { make_full, &made, 1 << 20 };
    const struct limits of_full = limits_of(&full);
    const struct row_sink_opts to_full = { .t = XFORM_ROTATE_90,
                                           .turner = &turner,
                                           .limits = &of_full };
    CHECK(write_picture(&img, &src, &to_full, &err) &&
              strstr(err.text, "its temporary file cannot be written"),
          "%s", err.text);
    image_free(&img);
    img = image_kind(&src);
    img.width = img.height = 20000;
    CHECK(write_picture(&img, &src, &opts, &err) &&
              strcmp(err.text, "the disk is full") == 0 &&
              img.pixels.kind == PIXELS_NONE,
          "%s", err.text);
}
