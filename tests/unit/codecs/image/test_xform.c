/* The laws of the eight turns, against a picture that is really turned. */
#include "codecs/image/xform.h"

#include <string.h>

#include "tests/support/test.h"

/* A picture of 3 x 2 numbered pixels, turned by the definitions of the eight
 * operations and by nothing of the code under test. */
struct picture {
    int w, h, at[6];
};

static int pixel(const struct picture *p, int x, int y)
{
    return p->at[y * p->w + x];
}

static int moved(const char *op, const struct picture *s, int x, int y)
{
    int w = s->w, h = s->h;
    if (!strcmp(op, "copy"))
        return pixel(s, x, y);
    if (!strcmp(op, "fliph"))
        return pixel(s, w - 1 - x, y);
    if (!strcmp(op, "rotate180"))
        return pixel(s, w - 1 - x, h - 1 - y);
    if (!strcmp(op, "flipv"))
        return pixel(s, x, h - 1 - y);
    if (!strcmp(op, "transpose"))
        return pixel(s, y, x);
    if (!strcmp(op, "rotate90"))
        return pixel(s, y, h - 1 - x);
    if (!strcmp(op, "transverse"))
        return pixel(s, w - 1 - y, h - 1 - x);
    return pixel(s, w - 1 - y, x); /* rotate270 */
}

static struct picture turn(const char *op, struct picture s)
{
    struct picture d = s;
    if (strstr("transpose rotate90 transverse rotate270", op)) {
        d.w = s.h;
        d.h = s.w;
    }
    for (int y = 0; y < d.h; y++)
        for (int x = 0; x < d.w; x++)
            d.at[y * d.w + x] = moved(op, &s, x, y);
    return d;
}

static bool same(struct picture a, struct picture b)
{
    return a.w == b.w && a.h == b.h && !memcmp(a.at, b.at, sizeof a.at);
}

static const struct picture start = { 3, 2, { 1, 2, 3, 4, 5, 6 } };

TEST(laws)
{
    for (unsigned i = 0; i < XFORM_COUNT; i++) {
        enum xform a = (enum xform)i, back = xform_inverse(a);
        const char *name = xform_name(a);
        CHECK(xform_then(a, XFORM_NONE) == a, "%s", name);
        CHECK(xform_then(XFORM_NONE, a) == a, "%s", name);
        CHECK(xform_then(a, back) == XFORM_NONE, "%s", name);
        CHECK(xform_then(back, a) == XFORM_NONE, "%s", name);
        CHECK(same(turn(xform_name(back), turn(name, start)), start), "%s",
              name);
        for (unsigned j = 0; j < XFORM_COUNT; j++) {
            enum xform b = (enum xform)j, ab = xform_then(a, b);
            CHECK((unsigned)ab < XFORM_COUNT, "%s then %s", name, xform_name(b));
            CHECK(same(turn(xform_name(b), turn(name, start)),
                       turn(xform_name(ab), start)),
                  "%s then %s is not %s", name, xform_name(b), xform_name(ab));
            for (unsigned k = 0; k < XFORM_COUNT; k++) {
                enum xform c = (enum xform)k;
                CHECK(xform_then(ab, c) == xform_then(a, xform_then(b, c)),
                      "%u %u %u", i, j, k);
            }
        }
    }
}

/* The three bits mean what xform.h says: it is what the stage goes by. */
TEST(bits)
{
    for (unsigned i = 0; i < XFORM_COUNT; i++) {
        enum xform t = (enum xform)i;
        struct picture d = turn(xform_name(t), start);
        for (int y = 0; y < d.h; y++)
            for (int x = 0; x < d.w; x++) {
                int mx = t & XFORM_MIRROR_X ? d.w - 1 - x : x;
                int my = t & XFORM_MIRROR_Y ? d.h - 1 - y : y;
                int from = t & XFORM_TRANSPOSE ? pixel(&start, my, mx)
                                               : pixel(&start, mx, my);
                CHECK(pixel(&d, x, y) == from, "%s at %d, %d", xform_name(t),
                      x, y);
            }
    }
}

/* EXIF 2.3 says where row 0 and column 0 of the stored picture are seen. */
TEST(exif)
{
    static const char *const undone_by[] = {
        "copy",      "fliph",    "rotate180",  "flipv",
        "transpose", "rotate90", "transverse", "rotate270",
    };
    for (unsigned n = 1; n <= 8; n++) {
        enum xform t = xform_from_exif(n);
        CHECK(!strcmp(xform_name(t), undone_by[n - 1]), "%u", n);
        CHECK(xform_to_exif(t) == n, "%u", n);
    }
    CHECK(xform_from_exif(0) == XFORM_NONE, "0");
    CHECK(xform_from_exif(9) == XFORM_NONE, "9");
    CHECK(xform_from_exif(65535) == XFORM_NONE, "65535");
}

TEST(names)
{
    static const char *const aliases[][2] = {
        { "identity", "copy" }, { "flop", "fliph" },   { "hflip", "fliph" },
        { "mirror", "fliph" },  { "flip", "flipv" },   { "vflip", "flipv" },
        { "cw", "rotate90" },   { "ccw", "rotate270" },
    };
    static const char *const refused[] = { "", "rotate", "rotate9", "r90",
                                           "ROTATE90", "rotate90 ", "180" };
    enum xform t, u;
    for (unsigned i = 0; i < XFORM_COUNT; i++) {
        const char *name = xform_name((enum xform)i);
        CHECK(xform_parse(name, &t) && t == (enum xform)i, "%s", name);
    }
    for (unsigned i = 0; i < sizeof aliases / sizeof *aliases; i++) {
        bool known = xform_parse(aliases[i][0], &t);
        CHECK(known && xform_parse(aliases[i][1], &u) && t == u, "%s",
              aliases[i][0]);
    }
    for (unsigned i = 0; i < sizeof refused / sizeof *refused; i++)
        CHECK(!xform_parse(refused[i], &t), "%s", refused[i]);
}
