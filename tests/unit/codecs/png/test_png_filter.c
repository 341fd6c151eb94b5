/* Each implementation of the PNG filters follows the standard, and chooses
 * filters as libpng does. */
#include "codecs/png/filter.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "tests/support/must.h"
#include "tests/support/png_file.h"
#include "tests/support/test.h"

static const unsigned pixels[] = { 1, 2, 3, 4, 6, 8 };
enum { PIXELS = sizeof pixels / sizeof *pixels };

/* ---- The standard ---------------------------------------------------------*/

/* Section 9.4. */
static int paeth(int a, int b, int c)
{
    int p = a + b - c, pa = abs(p - a), pb = abs(p - b), pc = abs(p - c);
    return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

/* Sections 9.2 and 9.3. */
static void filter(unsigned type, uint8_t *out, const uint8_t *row,
                   const uint8_t *prior, size_t size, unsigned pixel)
{
    for (size_t i = 0; i < size; i++) {
        int a = i < pixel ? 0 : row[i - pixel], b = prior[i];
        int c = i < pixel ? 0 : prior[i - pixel];
        int guess[] = { 0, a, b, (a + b) / 2, paeth(a, b, c) };
        out[i] = (uint8_t)(row[i] - guess[type]);
    }
}

/* Section 12.7. */
static uint64_t sum_of(const uint8_t *bytes, size_t size)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < size; i++)
        sum += (uint64_t)abs((int8_t)bytes[i]);
    return sum;
}

/* ---- Rows -----------------------------------------------------------------*/

/* PREDICTED: nearly all bytes are what Paeth predicts. */
enum kind { NOISE, BORDERS, SMOOTH, FLAT, PREDICTED, KINDS };

static uint8_t make_byte(enum kind kind, uint64_t random, uint8_t near)
{
    static const uint8_t borders[] = { 0, 1, 2, 126, 127, 128, 129, 254, 255 };
    if (kind == NOISE)
        return (uint8_t)random;
    if (kind == BORDERS)
        return borders[random % sizeof borders];
    return kind == SMOOTH ? (uint8_t)(near + random % 7 - 3) : 200;
}

/* What is drawn: the row above is flat for some pixels, with steps between. */
static void make_predicted(uint8_t *row, uint8_t *prior, size_t size,
                           unsigned pixel)
{
    uint64_t state = size * 8 + pixel + 1;
    for (size_t i = 0; i < size; i++) {
        uint64_t random = test_random(&state) >> 24;
        int a = i < pixel ? 0 : row[i - pixel];
        int c = i < pixel ? 0 : prior[i - pixel];
        prior[i] = (uint8_t)(random % 24 ? c : c + (int)(random >> 8) % 9);
        row[i] = (uint8_t)(paeth(a, prior[i], c) + !(random >> 16 & 63));
    }
}

static void make_rows(enum kind kind, uint8_t *row, uint8_t *prior, size_t size,
                      unsigned pixel)
{
    uint64_t state = size * 8 + pixel + 1;
    if (kind == PREDICTED) {
        make_predicted(row, prior, size, pixel);
        return;
    }
    for (size_t i = 0; i < size; i++) {
        uint64_t random = test_random(&state) >> 24;
        prior[i] = make_byte(kind, random, i < pixel ? 99 : prior[i - pixel]);
        row[i] = make_byte(kind, random >> 16, prior[i]);
    }
}

/* Memory between two pages that must not be touched. */
struct guarded {
    uint8_t *data;
    size_t size; /* whole pages */
};

static struct guarded guarded_alloc(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct guarded g = { .size = (size + page - 1) / page * page };
    g.data = mmap(NULL, g.size + 2 * page, PROT_NONE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(g.data != MAP_FAILED);
    g.data += page;
    must(mprotect(g.data, g.size, PROT_READ | PROT_WRITE) == 0);
    return g;
}

static void guarded_free(struct guarded g)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    munmap(g.data - page, g.size + 2 * page);
}

/* What the tests of an implementation work on: rows that begin or end with
 * their guarded memory, which is full of GARBAGE. */
enum { ROW, PRIOR, OUT, ROWS, GARBAGE = 0xa5 };

struct row_sink {
    struct guarded memory[ROWS];
    uint8_t *at[ROWS];
    uint8_t *row, *prior, *want; /* copies */
    size_t most, size;
};

static struct row_sink rows_alloc(size_t most)
{
    struct row_sink r = { .most = most };
    for (int i = 0; i < ROWS; i++)
        r.memory[i] = guarded_alloc(most);
    r.row = malloc(3 * most + 1);
    must(r.row);
    r.prior = r.row + most;
    r.want = r.prior + most;
    return r;
}

static void rows_free(struct row_sink *r)
{
    for (int i = 0; i < ROWS; i++)
        guarded_free(r->memory[i]);
    free(r->row);
}

static void rows_place(struct row_sink *r, size_t size, bool at_end)
{
    r->size = size;
    for (int i = 0; i < ROWS; i++) {
        struct guarded g = r->memory[i];
        r->at[i] = at_end ? g.data + g.size - size : g.data;
        memset(g.data, GARBAGE, g.size);
    }
}

static bool all_garbage(const uint8_t *at, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (at[i] != GARBAGE)
            return false;
    return true;
}

/* Whether a row is what it should be, and nothing close to it was written. */
static bool rows_equal(const struct row_sink *r, int i, const uint8_t *want)
{
    const uint8_t *begin = r->memory[i].data, *end = begin + r->memory[i].size;
    const uint8_t *row = r->at[i], *behind = row + r->size;
    size_t before = row - begin < 64 ? (size_t)(row - begin) : 64;
    size_t after = end - behind < 64 ? (size_t)(end - behind) : 64;
    return memcmp(row, want, r->size) == 0 && all_garbage(behind, after) &&
           all_garbage(row - before, before);
}

/* ---- Each implementation --------------------------------------------------*/

static void check_type(const struct filters *f, struct row_sink *r,
                       unsigned type, unsigned pixel, bool at_end)
{
    filter(type, r->want, r->row, r->prior, r->size, pixel);
    rows_place(r, r->size, at_end);
    memcpy(r->at[ROW], r->row, r->size);
    memcpy(r->at[PRIOR], r->prior, r->size);
    f->apply(type, r->at[OUT], r->at[ROW], r->at[PRIOR], r->size, pixel);
    bool right = rows_equal(r, OUT, r->want) && rows_equal(r, ROW, r->row) &&
                 rows_equal(r, PRIOR, r->prior);
    CHECK(right, "%s, filter %u, %zu bytes, pixels of %u", f->name, type,
          r->size, pixel);

    memcpy(r->at[ROW], r->want, r->size);
    f->undo(type, r->at[ROW], r->at[PRIOR], r->size, pixel);
    right = rows_equal(r, ROW, r->row) && rows_equal(r, PRIOR, r->prior);
    CHECK(right, "%s, filter %u undone, %zu bytes, pixels of %u", f->name, type,
          r->size, pixel);
}

static void check_sums(const struct filters *f, struct row_sink *r,
                       unsigned pixel)
{
    uint64_t got[FILTER_TYPES];
    memcpy(r->at[ROW], r->row, r->size);
    f->measure(got, r->at[ROW], r->at[PRIOR], r->size, pixel);
    for (unsigned type = 0; type < FILTER_TYPES; type++) {
        filter(type, r->want, r->row, r->prior, r->size, pixel);
        CHECK(got[type] == sum_of(r->want, r->size),
              "%s, filter %u, %zu bytes, pixels of %u", f->name, type, r->size,
              pixel);
    }
}

static void check_rows(const struct filters *f, struct row_sink *r,
                       unsigned pixel)
{
    for (unsigned type = 0; type < FILTER_TYPES; type++) {
        check_type(f, r, type, pixel, false);
        check_type(f, r, type, pixel, true);
    }
    check_sums(f, r, pixel);
}

static void check_sizes(const struct filters *f)
{
    static const size_t large[] = { 255, 4099, 12000, 65543 };
    struct row_sink r = rows_alloc(65543);
    struct row_sink small = rows_alloc(100);
    for (int p = 0; p < PIXELS; p++)
        for (int kind = 0; kind < KINDS; kind++) {
            for (small.size = 0; small.size <= 100; small.size++) {
                make_rows((enum kind)kind, small.row, small.prior, small.size,
                          pixels[p]);
                check_rows(f, &small, pixels[p]);
            }
            for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
                r.size = large[i];
                make_rows((enum kind)kind, r.row, r.prior, r.size, pixels[p]);
                check_rows(f, &r, pixels[p]);
            }
        }
    rows_free(&small);
    rows_free(&r);
}

/* Paeth has a, b or c: for all b and c, with an a on each side of all borders
 * between these. A pair of pixels holds c and b above, a and a byte to filter
 * below. */
static size_t make_borders(uint8_t *row, uint8_t *prior, int b, unsigned pixel)
{
    size_t pairs = 0;
    for (int c = 0; c < 256; c++) {
        int middle = (3 * c - b) / 2, edge = 3 * c - 2 * b;
        const int near[] = { b, c, middle, edge, 0, 255 };
        for (size_t k = 0; k < sizeof near / sizeof *near; k++)
            for (int a = near[k] - 2; a <= near[k] + 2; a++) {
                size_t i = pairs / pixel * 2 * pixel + pairs % pixel;
                if (a < 0 || a > 255)
                    continue;
                row[i] = (uint8_t)a;
                prior[i] = (uint8_t)c;
                row[i + pixel] = (uint8_t)(pairs * 7);
                prior[i + pixel] = (uint8_t)b;
                pairs++;
            }
    }
    return pairs / pixel * 2 * pixel;
}

static void check_paeth(const struct filters *f)
{
    struct row_sink r = rows_alloc(2 * 256 * 30 + 16);
    for (int p = 0; p < PIXELS; p++)
        for (int b = 0; b < 256; b++) {
            r.size = make_borders(r.row, r.prior, b, pixels[p]);
            check_type(f, &r, FILTER_PAETH, pixels[p], true);
        }
    rows_free(&r);
}

/* A sum that overflows 32 bits, and also four times 32 bits, as in a
 * vector. */
static void check_long_row(const struct filters *f)
{
    size_t size = ((size_t)1 << 27) + 40;
    uint8_t *row = malloc(size), *prior = calloc(size, 1);
    uint64_t sum[FILTER_TYPES];
    must(row && prior);
    memset(row, 128, size);
    f->measure(sum, row, prior, size, 1);
    CHECK(sum[FILTER_NONE] == (uint64_t)size * 128, "%s", f->name);
    CHECK(sum[FILTER_SUB] == 128, "%s", f->name);
    CHECK(sum[FILTER_UP] == (uint64_t)size * 128, "%s", f->name);
    CHECK(sum[FILTER_AVERAGE] == 128 + (uint64_t)(size - 1) * 64, "%s",
          f->name);
    CHECK(sum[FILTER_PAETH] == 128, "%s", f->name);
    free(row);
    free(prior);
}

/* ---- What the program calls -----------------------------------------------*/

TEST(entries)
{
    enum { SIZE = 1000 };
    uint8_t row[SIZE], prior[SIZE], got[1 + SIZE], want[SIZE];
    make_rows(SMOOTH, row, prior, SIZE, 3);
    for (unsigned type = 0; type < FILTER_TYPES; type++) {
        filter_row_with(type, got, row, prior, SIZE, 3);
        filter(type, want, row, prior, SIZE, 3);
        CHECK(got[0] == type && memcmp(got + 1, want, SIZE) == 0, "%u", type);
        CHECK(filter_undo_row(type, got + 1, prior, SIZE, 3), "%u", type);
        CHECK(memcmp(got + 1, row, SIZE) == 0, "%u", type);
    }
    for (unsigned type = FILTER_TYPES; type < 256; type++)
        CHECK(!filter_undo_row(type, got + 1, prior, SIZE, 3), "%u", type);
    CHECK(memcmp(got + 1, row, SIZE) == 0, "a filter that is none");
}

/* ---- libpng ---------------------------------------------------------------*/

struct picture {
    uint32_t width, height;
    int depth, type;
    size_t row_size;
    unsigned pixel;
    uint8_t *rows;
};

static void append(png_structp png, png_bytep data, size_t size)
{
    must(bytes_append(png_get_io_ptr(png), data, size));
}

static void nothing_to_flush(png_structp png)
{
    (void)png;
}

/* The picture as libpng writes it with all filters to choose from. */
static void write_with_libpng(struct bytes *file, struct picture *p)
{
    png_structp png =
        png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_color colors[256] = { { 0, 0, 0 } };
    if (setjmp(png_jmpbuf(png)))
        abort();
    png_set_write_fn(png, file, append, nothing_to_flush);
    png_set_IHDR(png, info, p->width, p->height, p->depth, p->type,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_BASE,
                 PNG_FILTER_TYPE_BASE);
    if (p->type == PNG_COLOR_TYPE_PALETTE)
        png_set_PLTE(png, info, colors, 1 << p->depth);
    png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_ALL_FILTERS);
    png_write_info(png, info);
    p->row_size = png_get_rowbytes(png, info);
    for (uint32_t y = 0; y < p->height; y++)
        png_write_row(png, p->rows + y * p->row_size);
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
}

/* The filtered rows of a file. */
static uint8_t *inflate_rows(struct bytes file, size_t size)
{
    struct chunks list;
    uint8_t *raw = malloc(size);
    uLongf made = size;
    must(raw && read_chunks(&list, file));
    struct bytes z = read_data(&list);
    CHECK(uncompress(raw, &made, z.data, z.size) == Z_OK && made == size,
          "%lu of %zu bytes", made, size);
    bytes_free(&z);
    return raw;
}

/* Counts how often each filter was chosen. */
static void compare_rows(const struct picture *p, const uint8_t *theirs,
                         unsigned chosen[FILTER_TYPES])
{
    uint8_t *zeros = calloc(p->row_size, 1), *ours = malloc(1 + p->row_size);
    const uint8_t *prior = zeros;
    must(zeros && ours);
    for (uint32_t y = 0; y < p->height; y++) {
        const uint8_t *row = p->rows + y * p->row_size;
        const uint8_t *their = theirs + y * (1 + p->row_size);
        filter_row(ours, row, prior, p->row_size, p->pixel);
        CHECK(memcmp(ours, their, 1 + p->row_size) == 0,
              "type %d, depth %d, %u columns, row %u: filter %u, not %u",
              p->type, p->depth, p->width, y, ours[0], their[0]);
        chosen[ours[0]]++;
        prior = row;
    }
    free(zeros);
    free(ours);
}

/* Rows of several kinds; short ones have sums that are equal. */
static void make_picture(struct picture *p, uint64_t state)
{
    for (uint32_t y = 0; y < p->height; y++) {
        uint8_t *row = p->rows + y * p->row_size;
        enum kind kind = (enum kind)(test_random(&state) >> 32 & 3);
        unsigned near = test_random(&state) >> 40 & 3;
        for (size_t i = 0; i < p->row_size; i++) {
            int left = i < p->pixel ? 0 : row[i - p->pixel];
            int up = y ? *(row + i - p->row_size) : 0;
            int corner =
                i < p->pixel || !y ? 0 : *(row + i - p->row_size - p->pixel);
            int to[] = { left, up, (left + up) / 2, paeth(left, up, corner) };
            uint64_t random = test_random(&state) >> 32;
            row[i] = make_byte(kind, random, (uint8_t)to[near]);
        }
    }
}

static void check_choice(int type, int depth, uint32_t width,
                         unsigned chosen[FILTER_TYPES])
{
    static const unsigned channels[] = { 1, 0, 3, 1, 2, 0, 4 };
    unsigned bits = channels[type] * (unsigned)depth;
    struct picture p = { width, 60, depth, type, .pixel = (bits + 7) / 8 };
    struct bytes file = { 0 };
    p.row_size = ((size_t)width * bits + 7) / 8;
    p.rows = malloc(p.height * p.row_size);
    must(p.rows);
    make_picture(&p, width * 100 + bits);
    write_with_libpng(&file, &p);
    uint8_t *raw = inflate_rows(file, p.height * (1 + p.row_size));
    compare_rows(&p, raw, chosen);
    free(raw);
    free(p.rows);
    bytes_free(&file);
}

/* libpng offers no filter that needs what is not there to a picture of one row
 * or column, so there are more. */
TEST(choice)
{
    static const struct {
        int type, depth;
    } shape[] = {
        { PNG_COLOR_TYPE_GRAY, 1 },       { PNG_COLOR_TYPE_GRAY, 4 },
        { PNG_COLOR_TYPE_GRAY, 8 },       { PNG_COLOR_TYPE_GRAY, 16 },
        { PNG_COLOR_TYPE_PALETTE, 2 },    { PNG_COLOR_TYPE_PALETTE, 8 },
        { PNG_COLOR_TYPE_RGB, 8 },        { PNG_COLOR_TYPE_RGB, 16 },
        { PNG_COLOR_TYPE_GRAY_ALPHA, 8 }, { PNG_COLOR_TYPE_GRAY_ALPHA, 16 },
        { PNG_COLOR_TYPE_RGB_ALPHA, 8 },  { PNG_COLOR_TYPE_RGB_ALPHA, 16 },
    };
    static const uint32_t widths[] = { 2, 3, 5, 8, 33, 64, 1009 };
    unsigned chosen[FILTER_TYPES] = { 0 };
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
        for (size_t j = 0; j < sizeof widths / sizeof *widths; j++)
            check_choice(shape[i].type, shape[i].depth, widths[j], chosen);
    for (unsigned type = 0; type < FILTER_TYPES; type++)
        CHECK(chosen[type] > 100, "filter %u: %u times", type, chosen[type]);
}

static void each_filter(void (*check)(const struct filters *f))
{
    for (size_t i = 0; filters[i]; i++)
        if (filters[i]->usable())
            check(filters[i]);
        else
            test_skip("%s: not on this CPU", filters[i]->name);
}

TEST(sizes)
{
    each_filter(check_sizes);
}

TEST(paeth)
{
    each_filter(check_paeth);
}

TEST(long_row)
{
    each_filter(check_long_row);
}
