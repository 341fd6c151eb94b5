/* Pictures that go through samples and are turned elsewhere, as the kernels of
 * a GPU do it: the file is, byte for byte, the one that is made here. */
#include <stdlib.h>
#include <string.h>

#include "codecs/codec.h"
#include "codecs/jpeg/entropy/scan_turner.h"
#include "tests/support/fixture.h"
#include "tests/support/host_turn.h"
#include "tests/support/jpeg_file.h"
#include "tests/support/must.h"
#include "tests/support/oracle.h"
#include "tests/support/test.h"

struct elsewhere {
    struct bytes made[4];
    unsigned scans; /* how many it has turned */
};

static bool begin(void *context, struct scan_turn *scans, unsigned count)
{
    struct elsewhere *e = context;
    must(count <= 4);
    for (unsigned i = 0; i < count; i++) {
        struct scan_turn *s = &scans[i];
        must(s->samples && host_turn_samples(&e->made[i], s));
        s->turned =
            (struct bytes){ .data = e->made[i].data, .size = e->made[i].size };
        e->scans++;
    }
    return true;
}

/* Reads, turns and writes a file, with a turner of scans or without. */
static struct bytes turn_file(struct bytes file,
                              enum representation representation, enum xform t,
                              const struct scan_turner *turner)
{
    struct fixture *f = fixture_new(&codec_jpeg);
    f->plan.representation = representation;
    f->plan.turn = t;
    f->plan.scan_turner = turner;
    CHECK(!fixture_decode(f, file), "%s", f->err.text);
    if (f->img.cells)
        turn_image(&f->img, t);
    CHECK(f->img.turned == t && !fixture_encode(f), "%s", f->err.text);
    return fixture_take_made(f);
}

static void check_same(const char *name, struct bytes file,
                       enum representation representation, enum xform t,
                       unsigned scans)
{
    struct elsewhere e = { .scans = 0 };
    const struct scan_turner turner = { .begin = begin,
                                        .context = &e,
                                        .samples = true };
    struct bytes here = turn_file(file, representation, t, NULL);
    struct bytes there = turn_file(file, representation, t, &turner);
    CHECK(e.scans == scans, "%s: %u scans of %u", name, e.scans, scans);
    CHECK(here.size == there.size &&
              memcmp(here.data, there.data, here.size) == 0,
          "%s, %s: %zu bytes, not %zu", name, xform_name(t), there.size,
          here.size);
    for (unsigned i = 0; i < 4; i++)
        bytes_free(&e.made[i]);
    bytes_free(&here);
    bytes_free(&there);
}

static const jpeg_scan_info alone[] = { { 1, { 1 }, 0, 63, 0, 0 },
                                        { 1, { 0 }, 0, 63, 0, 0 },
                                        { 1, { 2 }, 0, 63, 0, 0 } };

static const struct {
    const char *name;
    unsigned scans; /* that are taken if all components are made anew */
    struct coding coding;
} kinds[] = {
    { "gray", 1, { .space = JCS_GRAYSCALE } },
    { "4:4:4", 1, { .space = JCS_YCbCr } },
    { "4:2:0", 1, { .space = JCS_YCbCr, .h = 2, .v = 2 } },
    { "4:2:2, restarts", 1, { .space = JCS_YCbCr, .h = 2, .restart = 4 } },
    { "4:4:0", 1, { .space = JCS_YCbCr, .v = 2, .restart = 7 } },
    { "4:1:1", 1, { .space = JCS_YCbCr, .h = 4 } },
    { "4:2:0, coarse",
      1,
      { .space = JCS_YCbCr, .h = 2, .v = 2, .quality = 20 } },
    { "4:4:4, coarse", 1, { .space = JCS_YCbCr, .quality = 5 } },
    { "unlike chroma",
      1,
      { .space = JCS_YCbCr,
        .h = 2,
        .v = 2,
        .others = { { 1, 2 }, { 2, 1 } } } },
    { "RGB", 1, { .space = JCS_RGB, .quality = 30 } },
    { "CMYK", 1, { .space = JCS_CMYK } },
    { "YCCK", 1, { .space = JCS_YCCK, .h = 2, .v = 2 } },
    { "scans of one",
      0,
      { .space = JCS_YCbCr, .h = 2, .v = 2, .scan = alone, .scans = 3 } },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static struct bytes make_kind(unsigned k, uint32_t width, uint32_t height)
{
    struct coding coding = kinds[k].coding;
    coding.width = width;
    coding.height = height;
    return make_noisy_jpeg(&coding, 20);
}

/* All components are made anew. */
TEST(anew)
{
    static const uint32_t sizes[][2] = {
        { 103, 77 }, { 1, 1 }, { 16, 33 }, { 5, 40 }, { 500, 375 }
    };
    for (unsigned k = 0; k < KINDS; k++)
        for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            struct bytes file = make_kind(k, sizes[i][0], sizes[i][1]);
            for (int t = i == 4 ? 5 : 0; t < XFORM_COUNT; t++)
                check_same(kinds[k].name, file, REPRESENTATION_PLANES,
                           (enum xform)t, kinds[k].scans);
            bytes_free(&file);
        }
}

/* Only chroma goes through samples, or luma as well. */
TEST(realigned)
{
    static const uint32_t sizes[][2] = { { 104, 72 }, { 8, 8 }, { 200, 120 } };
    for (unsigned k = 0; k < KINDS; k++)
        for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            struct bytes file = make_kind(k, sizes[i][0], sizes[i][1]);
            for (int t = 0; t < XFORM_COUNT; t++)
                check_same(kinds[k].name, file, REPRESENTATION_REALIGNED,
                           (enum xform)t, kinds[k].scans ? 1 : 3);
            bytes_free(&file);
        }
}

/* A device that does not take them is not asked. */
TEST(not_taken)
{
    struct bytes file = make_kind(2, 103, 77);
    struct elsewhere e = { .scans = 0 };
    const struct scan_turner turner = { .begin = begin, .context = &e };
    struct bytes made =
        turn_file(file, REPRESENTATION_PLANES, XFORM_ROTATE_90, &turner);
    CHECK(e.scans == 0 && made.size, "%u scans", e.scans);
    bytes_free(&made);
    bytes_free(&file);
}
