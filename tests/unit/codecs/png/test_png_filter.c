/* Each implementation of the PNG filters follows the standard; rows are
 * filtered by the type whose sum is the least, or by another choice. */
#include "codecs/png/filter.h"

#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/support/png_file.h"
#include "tests/support/test.h"

static const unsigned pixels[] = { 1, 2, 3, 4, 6, 8 };
enum { PIXELS = COUNT(pixels) };

static double sum_of(const uint8_t *bytes, size_t size)
{
    double sum = 0;
    for (size_t i = 0; i < size; i++)
        sum += abs((int8_t)bytes[i]);
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
        unsigned a = i < pixel ? 0 : row[i - pixel];
        unsigned c = i < pixel ? 0 : prior[i - pixel];
        prior[i] = (uint8_t)(random % 24 ? c : c + (random >> 8) % 9);
        row[i] = (uint8_t)(plain_paeth(a, prior[i], c) + !(random >> 16 & 63));
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
    for (int i = 0; i < ROWS; i++) {
        size_t page = (size_t)sysconf(_SC_PAGESIZE);
        munmap(r->memory[i].data - page, r->memory[i].size + 2 * page);
    }
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
    plain_filter(type, false, r->row, r->prior, r->size, pixel, r->want);
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

static void check_rows(const struct filters *f, struct row_sink *r,
                       unsigned pixel)
{
    for (unsigned type = 0; type < FILTER_TYPES; type++) {
        check_type(f, r, type, pixel, false);
        check_type(f, r, type, pixel, true);
    }
    uint64_t got[FILTER_TYPES];
    memcpy(r->at[ROW], r->row, r->size);
    f->measure(got, r->at[ROW], r->at[PRIOR], r->size, pixel);
    for (unsigned type = 0; type < FILTER_TYPES; type++) {
        plain_filter(type, false, r->row, r->prior, r->size, pixel, r->want);
        CHECK((double)got[type] == sum_of(r->want, r->size),
              "%s, filter %u, %zu bytes, pixels of %u", f->name, type, r->size,
              pixel);
    }
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
            for (size_t i = 0; i < COUNT(large); i++) {
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
        for (size_t k = 0; k < COUNT(near); k++)
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
    owned_memory uint8_t *row = malloc(size), *prior = calloc(size, 1);
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
}

/* ---- What the program calls -----------------------------------------------*/

TEST(entries)
{
    enum { SIZE = 1000 };
    uint8_t row[SIZE], prior[SIZE], got[1 + SIZE], want[SIZE];
    make_rows(SMOOTH, row, prior, SIZE, 3);
    for (unsigned type = 0; type < FILTER_TYPES; type++) {
        filter_row_with(type, got, row, prior, SIZE, 3);
        plain_filter(type, false, row, prior, SIZE, 3, want);
        CHECK(got[0] == type && memcmp(got + 1, want, SIZE) == 0, "%u", type);
        CHECK(filter_undo_row(type, got + 1, prior, SIZE, 3), "%u", type);
        CHECK(memcmp(got + 1, row, SIZE) == 0, "%u", type);
    }
    for (unsigned type = FILTER_TYPES; type < 256; type++)
        CHECK(!filter_undo_row(type, got + 1, prior, SIZE, 3), "%u", type);
    CHECK(memcmp(got + 1, row, SIZE) == 0, "a filter that is none");
}

/* ---- Choices --------------------------------------------------------------*/

static double entropy(const uint8_t *bytes, size_t size)
{
    double bits = 0, count[256] = { 0 };
    for (size_t i = 0; i < size; i++)
        count[bytes[i]]++;
    for (int value = 0; value < 256; value++)
        if (count[value] > 0)
            bits -= count[value] * log2(count[value] / (double)size);
    return bits;
}

/* How many pairs of neighbors differ from all before. */
static double pairs(const uint8_t *bytes, size_t size)
{
    static bool seen[1 << 16];
    double n = 0;
    memset(seen, 0, sizeof seen);
    for (size_t i = 1; i < size; i++) {
        bool *pair = &seen[bytes[i - 1] << 8 | bytes[i]];
        n += !*pair;
        *pair = true;
    }
    return n;
}

static const struct choice {
    unsigned choice;
    double (*measure)(const uint8_t *bytes, size_t size);
    double slack;
} choices[] = {
    { FILTER_LEAST_SUM, sum_of, 0 },
    { FILTER_LEAST_ENTROPY, entropy, 0.01 },
    { FILTER_FEWEST_PAIRS, pairs, 0.01 },
};

/* Returns the type that was chosen: the first of the least sum, or one that is
 * as simple as any. */
static unsigned check_choice(const struct choice *c, const uint8_t *row,
                             const uint8_t *prior, size_t size, unsigned pixel)
{
    uint8_t *got = malloc(3 * (1 + size)), *want = got + 1 + size;
    double measure[FILTER_TYPES], least = INFINITY;
    must(got);
    filter_row_by(c->choice, got, row, prior, size, pixel, want + 1 + size);
    const unsigned type = got[0];
    REQUIRE(type < FILTER_TYPES, "filter %u", type);
    for (unsigned i = 0; i < FILTER_TYPES; i++) {
        plain_filter(i, false, row, prior, size, pixel, want);
        measure[i] = c->measure(want, size);
        least = fmin(least, measure[i]);
        CHECK(type != i || memcmp(got + 1, want, size) == 0, "not filter %u",
              i);
    }
    CHECK(measure[type] <= least + c->slack * least, "%g, not %g",
          measure[type], least);
    for (unsigned i = 0; i < type && c->slack == 0; i++)
        CHECK(measure[i] > least, "filter %u, not %u", type, i);
    free(got);
    return type;
}

/* A row of some kind, near one of what filters predict it from; short ones have
 * sums that are equal. */
static void make_near(uint8_t *row, const uint8_t *prior, size_t size,
                      unsigned pixel, uint64_t *state)
{
    enum kind kind = (enum kind)(test_random(state) >> 32 & 3);
    unsigned near = 1 + (test_random(state) >> 40 & 3);
    for (size_t i = 0; i < size; i++) {
        unsigned a = i < pixel ? 0 : row[i - pixel], b = prior[i];
        unsigned c = i < pixel ? 0 : prior[i - pixel];
        const unsigned to[] = { 0, a, b, (a + b) / 2, plain_paeth(a, b, c) };
        row[i] = make_byte(kind, test_random(state) >> 32, (uint8_t)to[near]);
    }
}

TEST(choice)
{
    static const size_t sizes[] = { 2, 3, 5, 8, 33, 64, 1009, 2000 };
    unsigned chosen[FILTER_TYPES] = { 0 };
    for (unsigned n = 0; n < COUNT(sizes) * PIXELS * 40; n++) {
        const unsigned pixel = pixels[n % PIXELS];
        const size_t size = sizes[n / PIXELS % COUNT(sizes)] * pixel;
        uint8_t *row = malloc(2 * size), *prior = row + size;
        uint64_t state = n + 1;
        must(row);
        memset(prior, 0, size);
        for (unsigned y = 0; y < 3; y++) {
            make_near(row, prior, size, pixel, &state);
            test_case("picture %u, row %u, %zu bytes", n, y, size);
            for (size_t i = 0; i < (n < 400 ? COUNT(choices) : 1); i++) {
                unsigned type =
                    check_choice(&choices[i], row, prior, size, pixel);
                chosen[type] += i == 0;
            }
            memcpy(prior, row, size);
        }
        free(row);
    }
    for (unsigned type = 0; type < FILTER_TYPES; type++)
        CHECK(chosen[type] > 100, "filter %u: %u times", type, chosen[type]);
}

/* ---- Tests ----------------------------------------------------------------*/

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
