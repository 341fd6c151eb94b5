/* The eight turns obey the laws of their group, and agree with a picture that
 * is turned by their definitions. */
#include "codecs/image/xform.h"

#include "tests/support/oracle.h"
#include "tests/support/test.h"

/* A picture of 3 x 2 numbered pixels. */
struct picture {
    int w, h, at[6];
};

static int pixel(const struct picture *p, int x, int y)
{
    return p->at[y * p->w + x];
}

/* By the definition of the turn of that name. */
static struct picture turn(const char *name, struct picture s)
{
    enum xform t = turn_named(name);
    struct picture d = s;
    if (oracle[t].xy) {
        d.w = s.h;
        d.h = s.w;
    }
    for (int y = 0; y < d.h; y++)
        for (int x = 0; x < d.w; x++) {
            uint32_t sx, sy;
            turn_source(t, (uint32_t)s.w, (uint32_t)s.h, (uint32_t)x,
                        (uint32_t)y, &sx, &sy);
            d.at[y * d.w + x] = pixel(&s, (int)sx, (int)sy);
        }
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
            CHECK((unsigned)ab < XFORM_COUNT, "%s then %s", name,
                  xform_name(b));
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
                CHECK(pixel(&d, x, y) == from, "%s at %d, %d", xform_name(t), x,
                      y);
            }
    }
}
