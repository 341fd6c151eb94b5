/* Our coder of sequential JPEG beside libjpeg: both read the same coefficients,
 * and what we write libjpeg reads. */
#include "codecs/jpeg/entropy/sequential.h"

#include "tests/support/entropy_oracle.h"
#include "tests/support/fixture.h"
#include "tests/support/pairwise.h"
#include "tests/support/pools.h"

TEST_POOLS(2, 3, 8)

static void check_trial(struct bytes file, struct entropy_trial trial,
                        enum entropy_verdict want)
{
    enum entropy_verdict found = entropy_try(file, &trial);
    CHECK(found == want, "turn %d%s%s, %u threads: %s, expected %s", trial.turn,
          trial.optimize ? ", optimized" : "", trial.planes ? ", planes" : "",
          thread_pool_threads(trial.pool), entropy_verdict_name(found),
          entropy_verdict_name(want));
}

/* Each `step`th turn from one on, each in another one of the other ways. */
static void check_some_turns(struct bytes file, unsigned from, unsigned step)
{
    for (unsigned t = from; t < XFORM_COUNT; t += step) {
        struct entropy_trial trial = { .turn = (enum xform)t };
        check_trial(file, trial, ENTROPY_SAME);
        trial.optimize = t % 2;
        trial.planes = t / 2 % 2;
        trial.pool = pools[t % COUNTS];
        check_trial(file, trial, ENTROPY_SAME);
    }
}

/* All turns. Frees the file. */
static void check_turns(const char *name, struct bytes file)
{
    test_case("%s", name);
    check_some_turns(file, 0, 1);
    bytes_free(&file);
}

/* A picture of a grid: each goes through some turns, all with WHOLE=1. */
static void check_grid(unsigned k, const uint32_t size[2], unsigned restart,
                       unsigned number)
{
    static unsigned way;
    owned_bytes file = entropy_make_kind(k, size[0], size[1], restart, way++);
    const bool whole = tests_are_whole();
    test_case("%s, %u x %u, %u MCUs", entropy_kinds[k].name, size[0], size[1],
              restart);
    check_some_turns(file, whole ? 0 : number % 3, whole ? 1 : 3);
}

/* ---- Sound files -------------------------------------------------------- */

/* Of restarts: 1, an odd number, parts of a row, whole rows, more than the
 * picture has. */
TEST(grids)
{
    static const uint32_t sizes[][2] = { { 1, 1 },   { 8, 8 },   { 9, 7 },
                                         { 16, 1 },  { 1, 33 },  { 17, 40 },
                                         { 64, 48 }, { 97, 131 } },
                          large[2] = { 205, 91 };
    static const unsigned restarts[] = { 1, 3, 5, 13, 26, 1000 };
    for (unsigned k = 0; k < ENTROPY_KINDS; k++) {
        for (unsigned i = 0; i < COUNT(sizes); i++)
            check_grid(k, sizes[i], 0, k + i);
        for (unsigned i = 0; i < COUNT(restarts); i++)
            check_grid(k, large, restarts[i], k + i);
    }
}

/* So large that each thread has a part, which begins with a guess: few bits a
 * block, and many; and one block like all others, where no guess can tell. */
TEST(guesses)
{
    static const struct {
        unsigned k;
        int quality;
        unsigned noise;
    } ways[] = { { 0, 100, 255 }, { 5, 95, 100 }, { 5, 100, 255 },
                 { 7, 90, 60 },   { 9, 75, 250 }, { 14, 95, 90 } };
    for (unsigned i = 0; i < COUNT(ways); i++)
        for (unsigned restart = 0; restart < 200; restart += 111) {
            struct coding coding =
                sized(entropy_kinds[ways[i].k].coding, 1201, 1003);
            coding.quality = ways[i].quality;
            coding.restart = restart;
            coding.standard = i % 2;
            owned_bytes file = make_noisy_jpeg(&coding, ways[i].noise);
            test_case("%s", entropy_kinds[ways[i].k].name);
            for (unsigned p = 0; p < COUNTS; p++) {
                struct entropy_trial trial = {
                    .turn = (enum xform)((p + i) % XFORM_COUNT),
                    .pool = pools[p],
                };
                check_trial(file, trial, ENTROPY_SAME);
            }
        }
}

static void same_row(uint8_t *row, uint32_t y, const struct coding *coding,
                     const void *context)
{
    (void)context;
    for (uint32_t x = 0; x < coding->width; x++)
        row[x] = (uint8_t)(x % 8 * 29 + y % 8 * 3);
}

TEST(blocks_alike)
{
    const struct coding coding = { .width = 3000,
                                   .height = 3000,
                                   .space = JCS_GRAYSCALE,
                                   .quality = 100,
                                   .standard = true };
    owned_bytes file = make_jpeg_of(&coding, same_row, NULL);
    for (unsigned p = 0; p < COUNTS; p++) {
        struct entropy_trial trial = { .turn = XFORM_ROTATE_90,
                                       .pool = pools[p] };
        check_trial(file, trial, ENTROPY_SAME);
    }
}

/* Without a turn all that follows SOI is what libjpeg wrote, also where we make
 * the shortest tables as it does. */
TEST(bytes_of_libjpeg)
{
    for (unsigned k = 0; k < ENTROPY_KINDS; k++)
        for (unsigned way = 0; way < 8; way++) {
            owned_bytes file = entropy_make_kind(k, 131, 97, 0, way),
                        made = { 0 };
            struct sequential s, to;
            struct err err;
            size_t end;
            CHECK(!sequential_read(&s, file, false, NULL, &end, &err), "%s",
                  entropy_kinds[k].name);
            sequential_turn(&to, &s, XFORM_NONE);
            CHECK(end == file.size, "%s: %zu", entropy_kinds[k].name, end);
            must(bytes_append(&made, file.data, 2));
            CHECK(!sequential_write(&made, &to, &s, way % 2 == 0, NULL, &err),
                  "%s", entropy_kinds[k].name);
            CHECK(same_bytes(made, file), "%s, way %u", entropy_kinds[k].name,
                  way);
            sequential_free(&s);
        }
}

/* ---- Odd but sound ------------------------------------------------------ */

/* Returns where the n-th restart marker stands, from 0. */
static size_t find_restart(struct bytes file, unsigned n)
{
    size_t at = find_marker(file, 0, 0xd0, 0xd7);
    while (n-- > 0)
        at = find_marker(file, at + 1, 0xd0, 0xd7);
    must(at < file.size);
    return at;
}

static struct bytes small_file(unsigned restart)
{
    return entropy_make_kind(5, 70, 40, restart, 3);
}

TEST(fill_bytes)
{
    struct bytes file = small_file(1);
    for (unsigned n = 0; n < 5; n++)
        insert_bytes(&file, find_restart(file, n), "\xff\xff\xff", 1 + n % 3);
    insert_bytes(&file, file.size - 2, "\xff\xff", 2);
    insert_bytes(&file, find_marker(file, 0, 0xc0, 0xc0), "\xff", 1);
    check_turns("fill bytes", file);
}

/* An extended frame, and 16-bit quantization tables, which only such a one has.
 */
TEST(extended)
{
    struct bytes file = small_file(0);
    file.data[find_marker(file, 0, 0xc0, 0xc0) + 1] = 0xc1;
    for (size_t at = 2; (at = find_marker(file, at, 0xdb, 0xdb)) < file.size;
         at += 133) {
        uint8_t steps[128];
        for (unsigned k = 0; k < 64; k++) {
            steps[2 * k] = (uint8_t)(k % 5);
            steps[2 * k + 1] = file.data[at + 5 + k];
        }
        must(file.data[at + 3] == 67); /* one table a segment */
        insert_bytes(&file, at + 5, steps, 64);
        memcpy(file.data + at + 5, steps, sizeof steps);
        file.data[at + 3] = 131;
        file.data[at + 4] |= 0x10;
    }
    check_turns("wide steps", file);
    file = small_file(0);
    file.data[find_marker(file, 0, 0xc0, 0xc0) + 1] = 0xc1;
    check_turns("SOF1", file);
}

/* Optimized scans each have tables of their own, under the same numbers. */
TEST(tables_redefined)
{
    struct bytes file = entropy_make_kind(14, 100, 70, 0, 2);
    size_t scan = find_marker(file, 0, 0xda, 0xda);
    CHECK(find_marker(file, scan, 0xc4, 0xc4) < file.size, "no DHT in between");
    check_turns("tables redefined", file);
}

/* ---- Damage ------------------------------------------------------------- */

/* Damage at a place: `skip` bytes behind a marker or before the end are
 * removed, replaced, or others are put there. libjpeg warns of each of these;
 * we refuse it.
 */
TEST(damaged)
{
    enum place { RESTART, FRAME, END };
    static const struct {
        const char *name;
        unsigned restart; /* of the file */
        enum place place;
        unsigned n;      /* of the restart marker */
        unsigned before; /* so many bytes before it, or behind a marker */
        unsigned removed;
        const char *put;
        size_t size;
    } cases[] = {
        { "wrong RST", 1, RESTART, 2, 0, 2, "\xff\xd3", 2 },
        { "missing RST", 1, RESTART, 2, 0, 2, "", 0 },
        { "RST twice", 1, RESTART, 2, 0, 0, "\xff\xd2", 2 },
        { "RST without DRI", 0, END, 0, 20, 0, "\xff\xd0", 2 },
        { "more intervals than it has", 1, FRAME, 0, 6, 1, "\x14", 1 },
        { "bytes before EOI", 0, END, 0, 2, 0, "\x55\x55", 2 },
        { "a marker before EOI", 0, END, 0, 2, 0, "\xff\x02", 2 },
        { "the code of ones", 0, END, 0, 40, 6, "\xff\0\xff\0\xff\0", 6 },
        { "a byte before RST", 1, RESTART, 3, 0, 0, "\x55", 1 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        owned_bytes file = small_file(cases[i].restart);
        const size_t at =
            cases[i].place == RESTART ? find_restart(file, cases[i].n)
            : cases[i].place == FRAME
                ? find_marker(file, 0, 0xc0, 0xc0) + cases[i].before
                : file.size - cases[i].before;
        /* libjpeg says nothing of a byte that it has in 64 bits read ahead. */
        const bool unsaid = i == COUNT(cases) - 1 && sizeof(size_t) == 8;
        remove_bytes(&file, at, cases[i].removed);
        insert_bytes(&file, at, cases[i].put, cases[i].size);
        test_case("%s", cases[i].name);
        for (unsigned k = 0; k < 2; k++)
            check_trial(file,
                        (struct entropy_trial){ .pool = k ? pools[1] : NULL },
                        unsaid ? ENTROPY_ONLY_LIBJPEG : ENTROPY_REFUSED);
    }
}

/* A DC coefficient that no samples have, near the end, where several threads
 * first know a part of it. */
TEST(dc_range)
{
    const struct coding coding = { 900, 800, JCS_YCbCr, .h = 2, .v = 2 };
    owned_bytes file = make_noisy_jpeg(&coding, 100), made = { 0 };
    struct sequential s, to;
    struct err err;
    size_t end;
    must(sequential_read(&s, file, false, NULL, &end, &err) == 0);
    struct entropy_blocks *blocks = &s.scan[0].blocks;
    blocks->block[blocks->count - 20].dc = ENTROPY_DC_MAX;
    sequential_turn(&to, &s, XFORM_NONE);
    must(bytes_append(&made, file.data, 2));
    must(!sequential_write(&made, &to, &s, true, NULL, &err));
    for (unsigned i = 0; i <= COUNTS; i++)
        check_trial(
            made,
            (struct entropy_trial){ .pool = i < COUNTS ? pools[i] : NULL },
            ENTROPY_ONLY_LIBJPEG);
    sequential_free(&s);
}

/* A header may claim what it likes: fewer than two bits a block are none, and
 * nothing is allocated for them. */
TEST(sizes_claimed)
{
    owned_bytes file = small_file(0);
    size_t frame = find_marker(file, 0, 0xc0, 0xc0);
    memset(file.data + frame + 5, 0xff, 4);
    for (unsigned restart = 0; restart < 2; restart++) {
        struct sequential s;
        struct err err;
        size_t end;
        CHECK(sequential_read(&s, file, false, pools[0], &end, &err),
              "65535 x 65535");
        CHECK(!err.memory && s.scan[0].blocks.block == NULL,
              "blocks were allocated");
        sequential_free(&s);
        insert_bytes(&file, frame, "\xff\xdd\0\4\0\1", 6);
    }
}

static void check_mutations(struct bytes file, unsigned runs, uint64_t *random)
{
    for (unsigned i = 0; i < runs; i++) {
        owned_bytes damaged = copied(file.data, file.size);
        struct entropy_trial trial = { .pixels_max = 1 << 22 };
        uint64_t way = test_random(random);
        entropy_mutate(&damaged, random);
        trial.turn = (enum xform)(way % XFORM_COUNT);
        trial.optimize = way & 8;
        trial.planes = way & 16;
        trial.pool = way & 32 ? pools[way >> 6 & 1] : NULL;
        CHECK(entropy_try(damaged, &trial) != ENTROPY_WRONG,
              "mutation %u, turn %d%s%s, %u threads", i, trial.turn,
              trial.optimize ? ", optimized" : "",
              trial.planes ? ", planes" : "", thread_pool_threads(trial.pool));
    }
}

/* How often each of 128 pictures is damaged: MUTATIONS of the environment, or
 * 15, with WHOLE=1 40. */
static unsigned mutations(void)
{
    const char *asked = getenv("MUTATIONS");
    return asked               ? (unsigned)strtoul(asked, NULL, 10)
           : tests_are_whole() ? 40
                               : 15;
}

TEST(mutations)
{
    uint64_t random = 7;
    for (unsigned k = 0; k < ENTROPY_KINDS; k++)
        for (unsigned way = 0; way < 8; way++) {
            owned_bytes file = entropy_make_kind(k, 47, 60, way % 3, way);
            test_case("%s, way %u", entropy_kinds[k].name, way);
            check_mutations(file, mutations(), &random);
        }
}

/* Damage that several threads meet. */
TEST(large_mutations)
{
    const struct coding coding = { 900, 800, JCS_YCbCr, .h = 2, .v = 2 };
    owned_bytes file = make_noisy_jpeg(&coding, 100);
    uint64_t random = 11;
    CHECK(file.size > 3 << 17, "%zu bytes", file.size);
    check_mutations(file, 40, &random);
}
