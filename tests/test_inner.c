/* Which turn lays an inner picture, such as a thumbnail, as the picture lies.
 */
#include "codecs/inner.h"

#include "tests/test.h"

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
static void test_law(void)
{
    for (unsigned tag = 1; tag <= 8; tag++)
        for (unsigned own = 1; own <= 8; own++)
            for (int op = 0; op < XFORM_COUNT; op++) {
                struct image img = outer_of(tag, (enum xform)op, 50, 50);
                enum xform t = inner_choose(&img, own, true, 5, 5);
                enum xform undone = xform_inverse(xform_from_exif(own));
                CHECK(xform_then(undone, t) == (enum xform)op,
                      "%u, %u and %s: %s", tag, own, xform_name(op),
                      xform_name(t));
                CHECK(inner_choose(&img, 0, true, 5, 5) == img.turned,
                      "no tag");
                CHECK(inner_choose(&img, own, false, 5, 5) == img.turned,
                      "tags are left");
            }
}

/* A picture stored broad and shown high, and a thumbnail whose tag says 1. */
static void test_stale(void)
{
    struct image img = outer_of(6, XFORM_NONE, 40, 30);
    CHECK(inner_choose(&img, 1, true, 16, 12) == XFORM_ROTATE_90,
          "stored broad as the picture is: nobody has set its tag");
    CHECK(inner_choose(&img, 1, true, 12, 16) == XFORM_NONE, "high already");
    CHECK(inner_choose(&img, 8, true, 16, 12) == XFORM_ROTATE_270,
          "high by its tag");
    CHECK(inner_choose(&img, 3, true, 16, 12) == XFORM_ROTATE_90,
          "across by its tag");
    img = outer_of(3, XFORM_NONE, 40, 30);
    CHECK(inner_choose(&img, 1, true, 16, 12) == XFORM_NONE, "upright");
}

int main(void)
{
    test_law();
    test_stale();
    return test_end();
}
