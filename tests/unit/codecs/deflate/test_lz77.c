/* Deflate with matches: zlib inflates the output to the input, matches are
 * found, and little is larger than by zlib. */
#include "codecs/deflate/flate.h"
#include "codecs/deflate/lz77.h"
#include "codecs/deflate/optimal.h"

#include <zlib.h>

#include "tests/support/inflates.h"
#include "tests/support/pairwise.h"
#include "tests/support/test.h"

enum {
    GARBAGE = 0xa5,
    MARGIN = 64,
    WINDOW = 32768,
    OPTIMAL_MOST = 1200000, /* bytes: more would take long */
};

/* Used for one thing after another: none may leave a trace. */
static struct lz77 *used, *confused;
static struct optimal *shortest;

/* Deflates to memory with guards, twice; gives the size. */
static size_t check_search(const char *name, const uint8_t *data, size_t before,
                           size_t n, bool final, enum lz77_search search)
{
    size_t bound = flate_bound(n), beside = 0;
    owned_memory uint8_t *out = malloc(bound + 2 * MARGIN),
                         *again = malloc(bound);
    memset(out, GARBAGE, bound + 2 * MARGIN);
    size_t size =
        lz77_deflate(used, out + MARGIN, data, before, n, final, search);
    for (size_t i = 0; i < MARGIN; i++)
        beside += (out[i] != GARBAGE) + (out[MARGIN + bound + i] != GARBAGE);
    CHECK(size <= bound && beside == 0, "%s, %zu and %zu bytes: %zu of %zu",
          name, before, n, size, bound);
    CHECK(lz77_steps(used) <= 5 * n + 1024, "%s: %zu steps for %zu bytes", name,
          lz77_steps(used), n);
    CHECK(inflates_to(out + MARGIN, size, data, before, n, final),
          "%s, %zu and %zu bytes, final %d", name, before, n, final);
    /* Chains every position of the first bytes, as a band behind them does. */
    size_t known = n < 20000 ? n : 20000;
    lz77_deflate(confused, again, data + known, before + known, n - known,
                 final, LZ77_PIXELS);
    CHECK(
        lz77_deflate(confused, again, data, before, n, final, search) == size &&
            memcmp(again, out + MARGIN, size) == 0,
        "%s, %zu and %zu bytes: another time, another output", name, before, n);
    return size;
}

/* Deflates to memory with guards along the shortest path; gives the size. */
static size_t check_optimal(const char *name, const uint8_t *data,
                            size_t before, size_t n, bool final)
{
    size_t bound = flate_bound(n), beside = 0;
    owned_memory uint8_t *out = malloc(bound + MARGIN);
    memset(out, GARBAGE, bound + MARGIN);
    size_t size = optimal_deflate(shortest, out, data, before, n, final);
    for (size_t i = 0; i < MARGIN; i++)
        beside += out[bound + i] != GARBAGE;
    CHECK(size <= bound && beside == 0, "%s, %zu and %zu bytes: %zu of %zu",
          name, before, n, size, bound);
    CHECK(inflates_to(out, size, data, before, n, final),
          "%s, %zu and %zu bytes, final %d, shortest", name, before, n, final);
    return size;
}

/* In all ways; gives the size of the usual one. The shortest path is hardly
 * longer: costs that are settled for a part may be those of another. */
static size_t check_round(const char *name, const uint8_t *data, size_t before,
                          size_t n, bool final)
{
    size_t of[LZ77_THREE + 1], least = SIZE_MAX;
    for (int search = LZ77_PIXELS; search <= LZ77_THREE; search++) {
        of[search] = check_search(name, data, before, n, final,
                                  (enum lz77_search)search);
        least = of[search] < least ? of[search] : least;
    }
    if (n <= OPTIMAL_MOST) {
        size_t size = check_optimal(name, data, before, n, final);
        CHECK(size <= least + least / 40 + 30, "%s: %zu, otherwise %zu", name,
              size, least);
    }
    return of[LZ77_LONG];
}

/* ---- Kinds of data --------------------------------------------------------*/

static void check_size(enum data_kind kind, size_t n, bool final)
{
    owned_memory uint8_t *data = malloc(n + 1);
    data_fill(data, n, kind);
    check_round(data_names[kind], data, 0, n, final);
}

/* ---- Matches --------------------------------------------------------------*/

TEST(periods)
{
    enum { N = 4000, HEADER = 160 };
    uint8_t noise[300], data[N];
    data_fill(noise, sizeof noise, NOISE);
    for (size_t period = 1; period <= sizeof noise; period++) {
        for (size_t i = 0; i < N; i++)
            data[i] = noise[i % period];
        size_t size = check_round("periodic", data, 0, N, true);
        CHECK(size < period + HEADER, "period %zu: %zu bytes", period, size);
    }
}

/* Noise, `distance` bytes before the same noise, and nothing between. Part of
 * it may stand before the band. */
static void check_distance(size_t distance, size_t length, bool apart)
{
    size_t n = distance + length, before = apart ? length : 0;
    owned_memory uint8_t *data = calloc(n, 1);
    data_fill(data, length, NOISE);
    memcpy(data + distance, data, length);
    size_t size =
        check_search("far", data + before, before, n - before, true, LZ77_LONG);
    size_t parts = apart ? 1 : 2;
    bool found = size < parts * length - length / 2;
    CHECK(found == (distance <= WINDOW), "distance %zu, length %zu: %zu bytes",
          distance, length, size);
    size = check_optimal("far", data + before, before, n - before, true);
    found = size < parts * length - length / 2;
    CHECK(found == (distance < WINDOW), "distance %zu, length %zu: %zu bytes",
          distance, length, size);
}

TEST(distances)
{
    for (size_t length = 250; length < 265; length++)
        for (size_t off = 0; off < 5; off++) {
            check_distance(WINDOW - 2 + off, length, false);
            check_distance(WINDOW - 2 + off, length, true);
        }
}

/* A run that ends in all places around the longest match, and at the end. */
TEST(runs)
{
    uint8_t data[1100];
    for (size_t run = 3; run < 1050; run++) {
        memset(data, 1, sizeof data);
        memset(data + 20, 2, run);
        size_t size = check_round("runs", data, 0, 20 + run + run % 20, true);
        CHECK(size < 40, "a run of %zu: %zu", run, size);
    }
}

/* A row of pixels of few values that are apart: only short matches find most of
 * them. */
TEST(short_matches)
{
    enum { N = 1 + 3 * 100000 };
    struct lz77 *rows = lz77_new(N, 3);
    owned_memory uint8_t *data = malloc(N), *out = malloc(flate_bound(N));
    uint64_t state = 5;
    data[0] = 0;
    for (size_t i = 1; i < N; i += 3) {
        unsigned value = (unsigned)(test_random(&state) >> 40) % 500;
        data[i] = (uint8_t)value;
        data[i + 1] = (uint8_t)(value * 37);
        data[i + 2] = (uint8_t)(value * 101 >> 3);
    }
    size_t usual = lz77_deflate(rows, out, data, 0, N, true, LZ77_LONG);
    size_t brief = lz77_deflate(rows, out, data, 0, N, true, LZ77_PIXELS);
    CHECK(brief < usual - usual / 5, "%zu, %zu", brief, usual);
    size_t best = optimal_deflate(shortest, out, data, 0, N, true);
    CHECK(best <= brief, "%zu, %zu by the shortest path", brief, best);
    lz77_free(rows);
}

/* Rows of all sizes of pixels, short and long, of one pixel and of none; bands
 * may end within one, as may what is before them. */
TEST(rows)
{
    static const struct {
        size_t row;
        unsigned pixel;
    } shapes[] = { { 1, 1 },  { 2, 1 },   { 7, 2 },    { 4, 3 },
                   { 97, 3 }, { 401, 4 }, { 1201, 6 }, { 70001, 8 } };
    static const size_t sizes[] = { 0, 1, 7, 8, 9, 300, 4097, 150001 };
    static const size_t befores[] = { 0, 1, 500, WINDOW + 1 };
    struct lz77 *as_used = used, *as_confused = confused;
    for (size_t i = 0; i < COUNT(shapes); i++) {
        used = lz77_new(shapes[i].row, shapes[i].pixel);
        confused = lz77_new(shapes[i].row, shapes[i].pixel);
        for (int k = 0; k < DATA_KINDS * 8 * 4; k++) {
            size_t before = befores[k % 4], n = sizes[k / 4 % 8];
            enum data_kind kind = (enum data_kind)(k / 32);
            owned_memory uint8_t *all = malloc(before + n + 1);
            data_fill(all, before + n, kind);
            check_search(data_names[kind], all + before, before, n, k % 2,
                         LZ77_PIXELS);
        }
        lz77_free(used);
        lz77_free(confused);
    }
    used = as_used;
    confused = as_confused;
}

/* Noise of few values, most of them 0, has long chains that lead to little. */
TEST(no_worst_case)
{
    enum { N = 1 << 18 };
    owned_memory uint8_t *data = malloc(N);
    uint64_t state = 7;
    for (size_t i = 0; i < N; i++) {
        uint64_t r = test_random(&state) >> 40;
        data[i] = r % 4 ? 0 : (uint8_t)(r >> 2 & 3);
    }
    check_round("few values", data, 0, N, true);
}

/* A few bytes are not worth a header. */
TEST(few)
{
    uint8_t row[50];
    for (size_t i = 0; i < sizeof row; i++)
        row[i] = (uint8_t) "background"[i % 10];
    size_t size = check_round("few", row, 0, sizeof row, true);
    CHECK(size < 20, "%zu bytes", size);
}

/* zlib looks at up to five times as many places, and at every one: 5 % are what
 * that may be worth. */
TEST(against_zlib)
{
    static const enum data_kind kinds[] = { CONSTANT, TWO, PHOTO, STEEP,
                                            WORDS };
    enum { N = 900000 };
    owned_memory uint8_t *data = malloc(N), *out = malloc(2 * N);
    for (unsigned i = 0; i < COUNT(kinds); i++) {
        data_fill(data, N, kinds[i]);
        z_stream z = { .next_in = data, .avail_in = N };
        deflateInit2(&z, 6, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY);
        z.next_out = out;
        z.avail_out = 2 * N;
        deflate(&z, Z_FINISH);
        deflateEnd(&z);
        size_t size = check_round(data_names[kinds[i]], data, 0, N, true);
        CHECK(size <= z.total_out + z.total_out / 20, "%s: %zu, zlib %lu",
              data_names[kinds[i]], size, z.total_out);
    }
}

/* ---- All sizes ------------------------------------------------------------*/

TEST_SET_UP()
{
    used = lz77_new(1921, 3);
    confused = lz77_new(1921, 3);
    shortest = optimal_new();
}

TEST_TEAR_DOWN()
{
    optimal_free(shortest);
    lz77_free(confused);
    lz77_free(used);
}

/* The large ones take long: once each, and the largest only of all kinds, which
 * MIXED has in turns. If not WHOLE=1, each kind has some of the sizes, and only
 * MIXED a large one. */
TEST(sizes)
{
    for (enum data_kind kind = 0; kind < DATA_KINDS; kind++) {
        static const size_t sizes[] = { 1000,  4095,  4096,  4097,  8192,
                                        65534, 65535, 65536, 65537, 98304 };
        static const size_t large[] = { 131070, 524288, 1100000, 3000001 };
        const bool whole = tests_are_whole();
        const unsigned step = whole ? 1 : 4, steps = whole ? 1 : 3;
        for (unsigned final = 0; final <= 1; final++) {
            for (unsigned n = kind % step; n <= 300; n += step)
                if (whole || n / 4 % 2 == final)
                    check_size(kind, n, final);
            for (unsigned i = kind % steps; i < COUNT(sizes); i += steps)
                if (whole || (i + kind / 3) % 2 == final)
                    check_size(kind, sizes[i], final);
        }
        for (size_t i = 0; i < COUNT(large); i++)
            if (whole ? i < 3 || kind == MIXED : i == 2 && kind == MIXED)
                check_size(kind, large[i], true);
    }
}

TEST(before)
{
    for (enum data_kind kind = 0; kind < DATA_KINDS; kind++) {
        static const size_t befores[] = {
            0, 1, 100, WINDOW - 1, WINDOW, 50000
        };
        static const size_t sizes[] = { 0, 1, 5, 300, 70000 };
        for (size_t i = 0; i < COUNT(befores); i++)
            for (size_t k = 0; k < COUNT(sizes); k++) {
                owned_memory uint8_t *all = malloc(befores[i] + sizes[k] + 1);
                data_fill(all, befores[i] + sizes[k], kind);
                check_round(data_names[kind], all + befores[i], befores[i],
                            sizes[k], k % 2);
            }
    }
}
