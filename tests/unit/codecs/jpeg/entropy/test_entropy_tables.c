/* Which Huffman tables a turned scan has: those of the file, these with more
 * codes, or the shortest ones. */

#include "codecs/jpeg/entropy/huffman_table.h"
#include "codecs/jpeg/entropy/sequential.h"
#include "tests/support/fixture.h"
#include "tests/support/jpeg_file.h"
#include "tests/support/pools.h"

/* ---- Kept --------------------------------------------------------------- */

static bool has_codes(const struct huffman_spec *spec,
                      const uint64_t counts[256])
{
    struct huffman_encoder encoder;
    bool all = true;
    huffman_encoder_make(&encoder, spec);
    for (unsigned i = 0; i < 256; i++)
        all = all && !(counts[i] && encoder.code[i] & HUFFMAN_NONE);
    return all;
}

/* Whether a scan can keep its tables, as its symbols say. */
static bool can_keep(const struct entropy_scan *to,
                     const struct entropy_source *from)
{
    struct entropy_statistics counts;
    struct err err;
    bool all = true;
    must(entropy_count(&counts, to, from, NULL, &err) == 0);
    for (unsigned c = 0; c < to->components; c++) {
        const struct entropy_component *one = &to->component[c];
        all = all && has_codes(&to->dc[one->dc], counts.dc[one->dc]) &&
              has_codes(&to->ac[one->ac], counts.ac[one->ac]);
    }
    return all;
}

/* Turns a file in all ways. Returns in how many of them it has kept its tables,
 * and could. */
static unsigned check_kept(struct bytes file)
{
    unsigned kept = 0;
    for (EACH_TURN(t)) {
        const enum xform turn = t;
        struct sequential s, to;
        owned_bytes made = { 0 };
        struct err err;
        size_t end;
        must(!sequential_read(&s, file, xform_transposes(turn), NULL, &end,
                              &err));
        sequential_turn(&to, &s, turn);
        const struct entropy_scan before = to.scan[0].coding;
        const struct entropy_source source = { &s.scan[0].blocks,
                                               &s.scan[0].coding, turn };
        bool can = can_keep(&before, &source);
        must(!sequential_write(&made, &to, &s, false, NULL, &err));
        const struct entropy_scan *after = &to.scan[0].coding;
        CHECK((memcmp(before.dc, after->dc, sizeof before.dc) == 0 &&
               memcmp(before.ac, after->ac, sizeof before.ac) == 0) == can,
              "%zu bytes, turn %u", file.size, t);
        kept += can;
        sequential_free(&s);
    }
    return kept;
}

TEST(kept_with_all_codes)
{
    static const uint32_t sizes[][2] = { { 40, 40 },
                                         { 131, 97 },
                                         { 901, 603 } };
    unsigned kept = 0, lacking = 0, large = 0;
    for (unsigned i = 0; i < 3; i++)
        for (unsigned way = 0; way < 8; way++) {
            const struct coding coding = {
                .width = sizes[i][0],
                .height = sizes[i][1],
                .space = way % 2 ? JCS_YCbCr : JCS_GRAYSCALE,
                .quality = way / 2 % 2 ? 40 : 95,
            };
            owned_bytes file = make_noisy_jpeg(&coding, way / 4 * 30);
            unsigned n = check_kept(file);
            kept += n;
            lacking += XFORM_COUNT - n;
            large += file.size > 1 << 16 ? n : 0;
        }
    CHECK(kept > 48 && lacking > 48 && large > 4, "%u kept, %u not, %u large",
          kept, lacking, large);
}

/* ---- Completed ---------------------------------------------------------- */

TEST_POOLS(2, 3, 8)

static struct bytes write_turned(const struct sequential *s, bool optimize,
                                 struct thread_pool *pool, bool complete)
{
    struct bytes made = { 0 };
    struct sequential to;
    struct err err;
    sequential_turn(&to, s, XFORM_ROTATE_90);
    CHECK(!sequential_write(&made, &to, s, optimize, pool, &err),
          "not written");
    for (unsigned i = 0; i < 2; i++)
        CHECK(huffman_spec_complete(&to.scan[0].coding.ac[i], true) != complete,
              "table %u is %scomplete", i, complete ? "not " : "");
    return made;
}

/* Reads a file whose tables lack codes and writes it, with all codes or with
 * the shortest tables. */
static void check_tables(struct bytes file, bool complete)
{
    struct sequential s;
    struct err err;
    size_t end;
    CHECK(!sequential_read(&s, file, true, NULL, &end, &err), "not read");
    owned_bytes one = write_turned(&s, false, NULL, complete);
    owned_bytes shortest = write_turned(&s, true, NULL, false);
    CHECK(complete ? one.size > shortest.size && one.size < file.size * 1.015
                   : same_bytes(one, shortest),
          "%zu bytes, %zu with the shortest tables", one.size, shortest.size);
    for (unsigned p = 0; p < COUNTS; p++) {
        owned_bytes made = write_turned(&s, false, pools[p], complete);
        CHECK(same_bytes(made, one), "%u threads", counts[p]);
    }
    sequential_free(&s);
}

TEST(completed)
{
    const struct coding coding = { 1201, 1003, JCS_YCbCr, .h = 2, .v = 2 };
    struct bytes file = make_noisy_jpeg(&coding, 40);
    check_tables(file, true);
    bytes_free(&file);
    file = make_columns_jpeg(&coding);
    check_tables(file, false);
    bytes_free(&file);
}
