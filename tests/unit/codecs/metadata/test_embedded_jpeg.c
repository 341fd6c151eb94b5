/* Embedded pictures, such as thumbnails, are turned to lie as the picture lies;
 * the tests check the loss, the cost and the limits. */
#include "codecs/metadata/blocks.h"

#include "codecs/base/account.h"
#include "tests/support/fixture.h"
#include "tests/support/jpeg_file.h"

/* A picture that had a tag, after an operation on what a viewer shows. */
static struct image outer_of(unsigned tag, enum xform op, uint32_t w,
                             uint32_t h)
{
    struct image img = { .orientation = tag };
    img.turned = xform_then(xform_from_exif(tag), op);
    img.width = xform_transposes(img.turned) ? h : w;
    img.height = xform_transposes(img.turned) ? w : h;
    return img;
}

/* What a viewer shows of the inner one is what it showed, after op. */
TEST(law)
{
    for (unsigned tag = 1; tag <= 8; tag++)
        for (unsigned own = 1; own <= 8; own++)
            for (int op = 0; op < XFORM_COUNT; op++) {
                struct image img = outer_of(tag, (enum xform)op, 50, 50);
                enum xform t = embedded_jpeg_choose(&img, own, true, 5, 5);
                enum xform undone = xform_inverse(xform_from_exif(own));
                CHECK(xform_then(undone, t) == (enum xform)op,
                      "%u, %u and %s: %s", tag, own, xform_name(op),
                      xform_name(t));
                CHECK(embedded_jpeg_choose(&img, 0, true, 5, 5) == img.turned,
                      "no tag");
                CHECK(embedded_jpeg_choose(&img, own, false, 5, 5) ==
                          img.turned,
                      "tags are left");
            }
}

/* A picture stored broad and shown high, and a thumbnail whose tag says 1. */
TEST(stale)
{
    struct image img = outer_of(6, XFORM_NONE, 40, 30);
    CHECK(embedded_jpeg_choose(&img, 1, true, 16, 12) == XFORM_ROTATE_90,
          "stored broad as the picture is: nobody has set its tag");
    CHECK(embedded_jpeg_choose(&img, 1, true, 12, 16) == XFORM_NONE,
          "high already");
    CHECK(embedded_jpeg_choose(&img, 8, true, 16, 12) == XFORM_ROTATE_270,
          "high by its tag");
    CHECK(embedded_jpeg_choose(&img, 3, true, 16, 12) == XFORM_ROTATE_90,
          "across by its tag");
    img = outer_of(3, XFORM_NONE, 40, 30);
    CHECK(embedded_jpeg_choose(&img, 1, true, 16, 12) == XFORM_NONE, "upright");
}

/* ---- Files ----------------------------------------------------------------*/

enum { W = 96, H = 64 };

/* A picture of W x H that was turned; `meta` says what it was trimmed from. */
/* One that was trimmed from `width` x `height`; 0 x 0: it was not. */
static struct image turned_outer(enum xform t, uint32_t width, uint32_t height)
{
    struct image img = outer_of(1, t, W, H);
    img.untrimmed_width = width;
    img.untrimmed_height = height;
    return img;
}

struct given {
    struct bytes made;
    struct decoded is;
    struct warnings warnings;
    struct embedded_jpeg inner;
    struct err err;
    bool done;
};

static void give(struct given *g, struct bytes file, const struct image *outer,
                 enum edge edge, bool view)
{
    struct save_opts save = plain_save(&g->warnings);
    save.orientation = 1;
    save.edge = edge;
    g->inner = (struct embedded_jpeg){ .outer = outer,
                                       .limits = small_limits,
                                       .view = view };
    g->done =
        embedded_jpeg_turn(&g->made, file, &g->inner, &save, &g->err) == 0;
    if (g->done)
        g->is = libjpeg_decode(g->made, JCS_UNKNOWN);
}

static void give_coding(struct given *g, const struct coding *coding,
                        const struct image *outer, enum edge edge, bool view)
{
    owned_bytes file = make_jpeg(coding);
    *g = (struct given){ .done = false };
    give(g, file, outer, edge, view);
}

static void drop(struct given *g)
{
    bytes_free(&g->made);
    free(g->is.samples);
    *g = (struct given){ 0 };
}

/* Of 4:2:0, in whole samples of chroma and no whole blocks. */
static const struct coding odd = { 24, 14, JCS_YCbCr, .h = 2, .v = 2 };

/* A picture that was 100 x 70 is 96 x 64: its views lose as much of theirs, by
 * whole blocks if that is the same. */
TEST(trim)
{
    static const struct {
        uint32_t width, height, to_width, to_height;
        bool lossless;
    } views[] = {
        { 100, 70, 96, 64, true }, { 50, 35, 48, 32, true },
        { 25, 18, 24, 16, true },  { 75, 53, 72, 48, true },
        { 30, 21, 29, 19, false }, { 1, 1, 1, 1, false },
    };
    for (size_t i = 0; i < COUNT(views); i++)
        for (EACH_TURN(t)) {
            struct image outer = turned_outer(t, 100, 70);
            struct coding coding = { views[i].width, views[i].height,
                                     JCS_GRAYSCALE, .h = 1 };
            bool flip = xform_transposes(t);
            bool anew = !views[i].lossless && (t & XFORM_ROTATE_180);
            uint32_t w = views[i].to_width, h = views[i].to_height;
            struct given g;
            if (t == XFORM_NONE || t == XFORM_TRANSPOSE)
                continue; /* nothing would have been trimmed */
            give_coding(&g, &coding, &outer, EDGE_TRIM, true);
            CHECK(g.done, "%s", g.err.text);
            CHECK(g.is.coding.width == (flip ? h : w) &&
                      g.is.coding.height == (flip ? w : h),
                  "%zu, %s: %u x %u", i, xform_name(t), g.is.coding.width,
                  g.is.coding.height);
            CHECK(is_warned(&g.warnings, "encoded anew") == anew, "%zu", i);
            drop(&g);
            give_coding(&g, &coding, &outer, EDGE_TRIM, false);
            CHECK(g.is.coding.width == (flip ? coding.height : coding.width),
                  "a thumbnail stays");
            drop(&g);
        }
}

/* A view that is stored the other way round would be trimmed at its begin. */
TEST(trim_other_way)
{
    struct image outer = turned_outer(XFORM_MIRROR_X, 100, 64);
    struct coding coding = { 48, 32, JCS_GRAYSCALE, .h = 1 };
    owned_bytes file = make_jpeg(&coding);
    struct given g = { .done = false };
    struct save_opts save = plain_save(&g.warnings);
    save.orientation = 1;
    g.inner = (struct embedded_jpeg){
        .outer = &outer, .limits = small_limits, .tag = 3, .view = true
    };
    CHECK(!embedded_jpeg_turn(&g.made, file, &g.inner, &save, &g.err), "%s",
          g.err.text);
    CHECK(is_warned(&g.warnings, "trimmed off") && g.warnings.count == 1,
          "a warning");
    drop(&g);
}

/* What counts for the place of chroma is the size that is left. */
TEST(trim_chroma)
{
    struct image outer = turned_outer(XFORM_ROTATE_180, 100, 70);
    const struct coding coding = { 30, 21, JCS_YCbCr, .h = 2, .v = 2 };
    const struct coding other = { 31, 22, JCS_YCbCr, .h = 2, .v = 2 };
    struct given g;
    give_coding(&g, &coding, &outer, EDGE_TRIM, true);
    CHECK(g.is.coding.width == 29 && g.is.coding.h == 1, "%u, %d",
          g.is.coding.width, g.is.coding.h);
    drop(&g);
    give_coding(&g, &other, &outer, EDGE_TRIM, true);
    CHECK(g.is.coding.width == 30 && g.is.coding.h == 2, "%u, %d",
          g.is.coding.width, g.is.coding.h);
    CHECK(g.is.coding.height == 20 && g.is.coding.v == 2, "%u, %d",
          g.is.coding.height, g.is.coding.v);
    drop(&g);
}

/* What has nothing done to it may hold anything. */
TEST(same)
{
    struct image outer = turned_outer(XFORM_NONE, 0, 0);
    owned_bytes file = make_jpeg(&odd);
    struct given g = { .done = false };
    struct save_opts save = plain_save(&g.warnings);
    const struct segments list = read_segments(file);
    memset(file.data + list.scan + 14, 0xfe, 20);
    g.inner = (struct embedded_jpeg){ .outer = &outer };
    CHECK(!embedded_jpeg_turn(&g.made, file, &g.inner, &save, &g.err), "%s",
          g.err.text);
    CHECK(g.made.size == file.size &&
              !memcmp(g.made.data, file.data, file.size),
          "byte for byte");
    drop(&g);
}

/* Scans are work of the picture that it stands in, which gets no more. */
TEST(work)
{
    enum { SIDE = 64, WORK = 1 << 20 };
    const struct coding coding = { SIDE, SIDE, JCS_GRAYSCALE, .h = 1 };
    struct account account = { .work = WORK };
    struct meta meta = { .account = &account };
    struct image outer = turned_outer(XFORM_ROTATE_90, 0, 0);
    struct given g;
    outer.meta = &meta;
    give_coding(&g, &coding, &outer, EDGE_REENCODE, false);
    CHECK(g.done && account.spent > 0, "one scan");
    drop(&g);
    account.spent = WORK - 1;
    give_coding(&g, &coding, &outer, EDGE_REENCODE, false);
    CHECK(!g.done && strstr(g.err.text, "work") && account.work == WORK, "%s",
          g.err.text);
    drop(&g);
}
