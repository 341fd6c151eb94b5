/* Deflate without matches: zlib inflates the output to the input, Huffman codes
 * are complete, and they cost no more than the optimum. Each way to write runs
 * of literals that this CPU has gives the bits that one code after the other
 * gives. */
#include "codecs/deflate/deflate_block.h"
#include "codecs/deflate/flate.h"

#include <zlib.h>

#include "tests/support/inflates.h"
#include "tests/support/test.h"

enum { GARBAGE = 0xa5, MARGIN = 64 };

typedef size_t deflate_function(uint8_t *out, const uint8_t *data, size_t size,
                                bool final);

static size_t check_way(const char *name, deflate_function *deflate,
                        size_t bound, const uint8_t *data, size_t n, bool final)
{
    size_t beside = 0;
    owned_memory uint8_t *out = malloc(bound + MARGIN);
    memset(out, GARBAGE, bound + MARGIN);
    size_t size = deflate(out, data, n, final);
    for (size_t i = bound; i < bound + MARGIN; i++)
        beside += out[i] != GARBAGE;
    CHECK(size <= flate_bound(n) && beside == 0, "%s, %zu bytes: %zu", name, n,
          size);
    CHECK(inflates_to(out, size, data, 0, n, final), "%s, %zu bytes, final %d",
          name, n, final);
    return size;
}

/* In both ways; gives the size of the usual one. */
static size_t check_round(const char *name, const uint8_t *data, size_t n,
                          bool final)
{
    check_way(name, literal_block_deflate_quickly, literal_block_quick_room(n),
              data, n, final);
    return check_way(name, literal_block_deflate, flate_bound(n), data, n,
                     final);
}

/* What a Huffman code costs at least: the sum of all inner nodes' weights,
 * found by joining the two lightest, again and again. */
static uint64_t least_cost(const uint32_t *count, unsigned n)
{
    uint64_t weight[288], cost = 0;
    unsigned left = 0;
    for (unsigned i = 0; i < n; i++)
        if (count[i])
            weight[left++] = count[i];
    while (left > 1) {
        for (int k = 0; k < 2; k++) { /* the lightest to the end */
            unsigned least = 0;
            for (unsigned i = 1; i < left - (unsigned)k; i++)
                if (weight[i] < weight[least])
                    least = i;
            uint64_t keep = weight[least];
            weight[least] = weight[left - 1 - (unsigned)k];
            weight[left - 1 - (unsigned)k] = keep;
        }
        weight[left - 2] += weight[left - 1];
        cost += weight[left - 2];
        left--;
    }
    return cost;
}

static void check_code(const uint32_t *count, unsigned n, unsigned limit,
                       bool optimal)
{
    uint8_t length[288];
    uint64_t cost = 0, sum = 0, least = least_cost(count, n);
    bool used = true;
    huffman_code_lengths(length, count, n, limit);
    for (unsigned i = 0; i < n; i++) {
        cost += (uint64_t)count[i] * length[i];
        sum += length[i] ? (uint64_t)1 << (limit - length[i]) : 0;
        used =
            used && (count[i] != 0) == (length[i] != 0) && length[i] <= limit;
    }
    CHECK(used, "%u symbols, limit %u", n, limit);
    CHECK(sum == (uint64_t)1 << limit, "%u symbols, limit %u: incomplete", n,
          limit);
    CHECK(optimal ? cost == least : cost >= least, "%u symbols: %llu, %llu", n,
          (unsigned long long)cost, (unsigned long long)least);
}

/* Bytes of which only those that are all the same are counted: the others have
 * the longest codes, or are coded otherwise. */
TEST(not_counted)
{
    enum { N = 1 << 18, RUN = 1024, COUNTED = 8 };
    owned_memory uint8_t *data = malloc(N);
    for (size_t noisy = 1; noisy <= COUNTED - 1; noisy++) {
        for (size_t i = 0; i < N; i++) {
            size_t run = i / RUN % COUNTED;
            data[i] = run == 0 || run > noisy ? 0 : (uint8_t)(i * i / 7);
        }
        check_round("not counted", data, N, true);
    }
}

/* Where a share of the bytes is like all, little is lost. */
TEST(quickly)
{
    enum { N = 1 << 19 };
    owned_memory uint8_t *data = malloc(N);
    data_fill(data, N, PHOTO);
    size_t usual = check_round("photo", data, N, true);
    size_t quick = check_way("photo", literal_block_deflate_quickly,
                             literal_block_quick_room(N), data, N, true);
    CHECK(quick <= usual + usual / 50, "%zu, %zu", quick, usual);
}

TEST(codes)
{
    uint64_t state = 5;
    for (int round = 0; round < 3000; round++) {
        unsigned n = 2 + test_random(&state) % 287;
        unsigned steep = test_random(&state) % 16;
        uint32_t count[288] = { 0 };
        for (unsigned i = 0; i < n; i++)
            count[i] = (uint32_t)(test_random(&state) >> 48 >>
                                  test_random(&state) % (steep + 1));
        count[0] += count[0] == 0;
        count[1] += count[1] == 0;
        check_code(count, n, 31, true);
        check_code(count, n, 12, false);
        check_code(count, n, 9, false);
    }
    uint32_t fibonacci[24] = { 1, 1 };
    for (int i = 2; i < 24; i++)
        fibonacci[i] = fibonacci[i - 1] + fibonacci[i - 2];
    check_code(fibonacci, 24, 31, true);
    for (unsigned limit = 5; limit < 16; limit++)
        check_code(fibonacci, 24, limit, false);
}

TEST(sizes)
{
    for (enum data_kind kind = 0; kind <= STEEP; kind++) {
        static const size_t sizes[] = { 0,      1,     2,     3,     4,
                                        5,      100,   257,   1000,  65534,
                                        65535,  65536, 65537, 98304, 131070,
                                        131071, 524288 };
        for (size_t i = 0; i < COUNT(sizes); i++) {
            owned_memory uint8_t *data = malloc(sizes[i] + 1);
            data_fill(data, sizes[i], kind);
            check_round(data_names[kind], data, sizes[i], true);
            check_round(data_names[kind], data, sizes[i], false);
        }
    }
}

/* Without matches the output is larger than that of zlib without matches at
 * most by the cost of shorter codes. */
TEST(against_zlib)
{
    for (enum data_kind kind = 0; kind <= STEEP; kind++) {
        enum { N = 600000 };
        owned_memory uint8_t *data = malloc(N), *out = malloc(2 * N);
        z_stream z = { 0 };
        data_fill(data, N, kind);
        deflateInit2(&z, 6, Z_DEFLATED, -15, 9, Z_HUFFMAN_ONLY);
        z.next_in = data;
        z.avail_in = N;
        z.next_out = out;
        z.avail_out = 2 * N;
        deflate(&z, Z_FINISH);
        size_t size = check_round(data_names[kind], data, N, true);
        CHECK(size <= z.total_out + z.total_out / 200, "%s: %zu, zlib %lu",
              data_names[kind], size, z.total_out);
        size_t estimate = literal_block_estimate(data, N) / 8;
        CHECK(kind == NOISE ||
                  (estimate <= size && size - estimate < size / 20),
              "%s: %zu, estimated %zu", data_names[kind], size, estimate);
        deflateEnd(&z);
    }
}

/* ---- Runs of literals -----------------------------------------------------
 */

enum { MOST = 1000, ROOM = MOST * LITERAL_LIMIT / 8 + 16 };

/* Makes codes of `least` to `most` bits. They need not form a prefix code. */
static void make_codes(uint32_t code[256], unsigned least, unsigned most,
                       uint64_t *state)
{
    for (unsigned i = 0; i < 256; i++) {
        unsigned bits = least + test_random(state) % (most - least + 1);
        code[i] = (uint32_t)(test_random(state) >> (64 - bits)) << 8 | bits;
    }
}

/* Writes codes bit by bit, behind `at` bits. Returns the number of all bits. */
static size_t expect(uint8_t *out, size_t at, const uint32_t *code,
                     const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        for (unsigned bit = 0; bit < (code[data[i]] & 255); bit++, at++)
            if (code[data[i]] >> (8 + bit) & 1)
                out[at / 8] |= (uint8_t)(1 << at % 8);
    return at;
}

static void check_run(const struct literal_runs *runs, const uint32_t *code,
                      const uint8_t *data, size_t size, unsigned held)
{
    uint8_t out[ROOM] = { 0 }, want[ROOM] = { 0 };
    struct bit_writer b = { .out = out };
    bit_writer_put(&b, (1u << held) - 1, held);
    want[0] = (uint8_t)((1u << held) - 1);
    size_t bits = expect(want, held, code, data, size);
    runs->put(&b, code, data, size);
    CHECK((size_t)(b.out - out) * 8 + b.count == bits, "%s, %zu bytes: %zu",
          runs->name, size, bits);
    bit_writer_align(&b);
    CHECK(memcmp(out, want, (bits + 7) / 8) == 0, "%s, %zu bytes after %u bits",
          runs->name, size, held);
}

static void check_run_lengths(const struct literal_runs *runs, unsigned least,
                              unsigned most)
{
    uint64_t state = least * 100 + most;
    uint32_t code[256];
    uint8_t data[MOST];
    make_codes(code, least, most, &state);
    for (size_t i = 0; i < MOST; i++)
        data[i] = (uint8_t)(test_random(&state) >> 40);
    for (unsigned size = 0; size < MOST; size += 1 + size / 7)
        check_run(runs, code, data, size, size % 8);
}

TEST(runs)
{
    for (size_t i = 0; literal_runs[i]; i++) {
        if (!literal_runs[i]->usable()) {
            test_skip("%s: not on this CPU", literal_runs[i]->name);
            continue;
        }
        for (unsigned most = 1; most <= LITERAL_LIMIT; most++)
            for (unsigned least = 1; least <= most; least++)
                check_run_lengths(literal_runs[i], least, most);
    }
}
