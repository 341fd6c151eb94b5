/* Image regions of IPTC are turned and trimmed in every form in which programs
 * write them; malformed packets do no harm. */
#include "codecs/metadata/xmp.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/fixture.h"
#include "tests/support/test.h"

#define IPTC "http://iptc.org/std/Iptc4xmpExt/2008-02-29/"
#define OPEN                                                                   \
    "<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:Description "                    \
    "xmlns:Iptc4xmpExt='" IPTC "'><Iptc4xmpExt:ImageRegion><rdf:Bag><rdf:li "  \
    "rdf:parseType='Resource'>"
#define CLOSE                                                                  \
    "</rdf:li></rdf:Bag></Iptc4xmpExt:ImageRegion></rdf:Description>"          \
    "</x:xmpmeta>"
#define RB "Iptc4xmpExt:rb"

/* Of a picture of 1000 x 1000 units: the corner and size of a rectangle. */
struct area {
    uint32_t x, y, w, h;
};

/* x, y, w and h, then the center, in an order that depends on the number. */
static const char *const forms[] = {
    OPEN "<Iptc4xmpExt:RegionBoundary " RB "Shape='rectangle' " RB
         "Unit='relative' " RB "X='0.%1$03u' " RB "Y='0.%2$03u' " RB
         "W='0.%3$03u' " RB "H='0.%4$03u'/>" CLOSE,
    OPEN "<Iptc4xmpExt:RegionBoundary rdf:parseType='Resource'><" RB
         "H>0.%4$03u</" RB "H><" RB "X> 0.%1$03u\n</" RB "X><" RB
         "Y>0.%2$03u</" RB "Y><" RB "W>0.%3$03u</" RB "W><" RB
         "Shape>rectangle</" RB "Shape><" RB "Unit>relative</" RB
         "Unit></Iptc4xmpExt:RegionBoundary>" CLOSE,
    OPEN "<Iptc4xmpExt:RegionBoundary><rdf:Description " RB "W='0.%3$03u' " RB
         "H='0.%4$03u' " RB "Y='0.%2$03u'><" RB "X>0.%1$03u</" RB "X><" RB
         "Unit>relative</" RB "Unit><" RB "Shape>rectangle</" RB
         "Shape></rdf:Description></Iptc4xmpExt:RegionBoundary>" CLOSE,
};
enum { FORMS = sizeof forms / sizeof *forms };

static void write_form(char *text, size_t room, const char *form,
                       struct area a)
{
    snprintf(text, room, form, a.x, a.y, a.w, a.h);
}

/* As a string, which its owner frees. */
static char *turned_text(const char *text, const struct change *change,
                         struct warnings *warnings)
{
    struct bytes packet = { 0 };
    struct err err;
    if (!bytes_append(&packet, text, strlen(text)))
        abort();
    CHECK(!xmp_iptc_turn(&packet, SIZE_MAX, change, warnings, &err), "memory");
    if (!bytes_append(&packet, "", 1))
        abort();
    return (char *)packet.data;
}

static struct change whole(enum xform t)
{
    return (struct change){ t, 640, 480, 640, 480 };
}

/* The number behind a name, in thousandths. */
static double number_of(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    return at ? 1000 * strtod(at + strlen(name) + strcspn(at + strlen(name),
                                                          "0123456789-"),
                              NULL)
              : -1;
}

static bool near(double a, double b)
{
    return a - b < 1e-3 && b - a < 1e-3;
}

static void check_area(const char *form, struct area a,
                       const struct change *change)
{
    char before[1000];
    struct warnings warnings = { 0 };
    enum xform t = change->turn;
    double by_x = (double)change->width / change->kept_width;
    double by_y = (double)change->height / change->kept_height;
    bool flip = xform_transposes(t);
    double x = flip ? a.y * by_y : a.x * by_x;
    double y = flip ? a.x * by_x : a.y * by_y;
    double w = flip ? a.h * by_y : a.w * by_x;
    double h = flip ? a.w * by_x : a.h * by_y;
    write_form(before, sizeof before, form, a);
    char *is = turned_text(before, change, &warnings);
    CHECK(near(number_of(is, RB "X"), t & XFORM_MIRROR_X ? 1000 - x - w : x) &&
              near(number_of(is, RB "Y"),
                   t & XFORM_MIRROR_Y ? 1000 - y - h : y) &&
              near(number_of(is, RB "W"), w) && near(number_of(is, RB "H"), h),
          "%s: %s", xform_name(t), is);
    CHECK(warnings.count == 0, "%s", warnings.list[0].text);
    if (by_x == 1 && by_y == 1) {
        const struct change back = whole(xform_inverse(t));
        char *again = turned_text(is, &back, &warnings);
        CHECK(!strcmp(again, before), "%s and back: %s", xform_name(t), again);
        free(again);
    }
    free(is);
}

TEST(rectangles)
{
    uint64_t state = 7;
    for (int i = 0; i < FORMS; i++)
        for (int t = 0; t < XFORM_COUNT; t++)
            for (int k = 0; k < 20; k++) {
                struct change change = whole((enum xform)t);
                struct area a;
                a.w = (uint32_t)(1 + test_random(&state) % 400);
                a.h = (uint32_t)(1 + test_random(&state) % 400);
                a.x = (uint32_t)(1 + test_random(&state) % 500);
                a.y = (uint32_t)(1 + test_random(&state) % 500);
                check_area(forms[i], a, &change);
                change.kept_width = 624;
                change.kept_height = 464;
                check_area(forms[i], a, &change);
            }
}

static void check(const char *before, struct change change, const char *after,
                  const char *warning)
{
    struct warnings warnings = { 0 };
    char *is = turned_text(before, &change, &warnings);
    CHECK(!strcmp(is, after), "%s makes\n%s\nnot\n%s", xform_name(change.turn),
          is, after);
    CHECK(warnings.count == (warning ? 1u : 0u), "%u: %s", warnings.count,
          warnings.list[0].text);
    CHECK(!warning || is_warned(&warnings, warning), "%s",
          warnings.list[0].text);
    free(is);
}

#define CIRCLE(x, y, rx)                                                       \
    "<Iptc4xmpExt:RegionBoundary " RB "Unit='relative' " x " " y " " RB        \
    "Rx='" rx "' " RB "Shape='circle'/>"
#define POLYGON(points)                                                        \
    "<Iptc4xmpExt:RegionBoundary rdf:parseType='Resource'><" RB                \
    "Shape>polygon</" RB "Shape><" RB "Unit>relative</" RB "Unit><" RB         \
    "Vertices><rdf:Seq>" points "</rdf:Seq></" RB                              \
    "Vertices></Iptc4xmpExt:RegionBoundary>"
#define POINT(a, b) "<rdf:li " RB a " " RB b "/>"
#define IN_PIXELS                                                              \
    "<Iptc4xmpExt:RegionBoundary " RB "Unit='pixel' " RB "Shape='circle' " RB  \
    "X='5' " RB "Y='6' " RB "Rx='3'/>"

TEST(shapes)
{
    struct change trimmed = { XFORM_MIRROR_X, 100, 50, 80, 50 };
    check(CIRCLE(RB "X='0.25'", RB "Y='0.1'", "0.3"), whole(XFORM_MIRROR_X),
          CIRCLE(RB "X='0.75'", RB "Y='0.1'", "0.3"), NULL);
    check(CIRCLE(RB "X='0.25'", RB "Y='0.1'", "0.3"), whole(XFORM_ROTATE_90),
          CIRCLE(RB "Y='0.25'", RB "X='0.9'", "0.400000"), NULL);
    check(CIRCLE(RB "X='0.2'", RB "Y='0.1'", "0.4"), trimmed,
          CIRCLE(RB "X='0.750000'", RB "Y='0.1'", "0.500000"), NULL);
    check(POLYGON(POINT("X='0.1'", "Y='0.2'") POINT("X='0.3'", "Y='0.95'")),
          whole(XFORM_ROTATE_180),
          POLYGON(POINT("X='0.9'", "Y='0.8'") POINT("X='0.7'", "Y='0.05'")),
          NULL);
    check(POLYGON(POINT("X='0.1'", "Y='0.2'") POINT("X='0.3'", "Y='0.95'")),
          whole(XFORM_TRANSPOSE),
          POLYGON(POINT("Y='0.1'", "X='0.2'") POINT("Y='0.3'", "X='0.95'")),
          NULL);
}

/* One that is not understood stays, and those beside it do not. */
TEST(left)
{
    static const char *const left[] = {
        IN_PIXELS,
        "<Iptc4xmpExt:RegionBoundary " RB "Unit='relative' " RB "X='0.5'/>",
        "<Iptc4xmpExt:RegionBoundary " RB "Unit='relative' " RB
        "Shape='rectangle' " RB "X='0.5' " RB "Y='0' " RB "H='0.5'/>",
        "<Iptc4xmpExt:RegionBoundary " RB "Unit='relative' " RB
        "Shape='polygon' " RB "X='half' " RB "Y='0'/>",
        "<" RB "X>0.5</" RB "X>",
    };
    const char *words = "not relative";
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        check(left[i], whole(XFORM_ROTATE_90), left[i], words);
        check(left[i], whole(XFORM_NONE), left[i], NULL);
    }
    check("<Iptc4xmpExt:ImageRegion/>", whole(XFORM_ROTATE_90),
          "<Iptc4xmpExt:ImageRegion/>", NULL);
    check(IN_PIXELS CIRCLE(RB "X='0.25'", RB "Y='0.1'", "0.3"),
          whole(XFORM_MIRROR_X),
          IN_PIXELS CIRCLE(RB "X='0.75'", RB "Y='0.1'", "0.3"), words);
    check(CIRCLE(RB "X='0.25'", RB "Y='0.1'", "0.3") IN_PIXELS,
          whole(XFORM_MIRROR_X),
          CIRCLE(RB "X='0.75'", RB "Y='0.1'", "0.3") IN_PIXELS, words);
}

TEST(damaged)
{
    static const char bytes[] = "\1\377<>\"'=/ :.,-e9X";
    char text[1000];
    for (int i = 0; i < FORMS; i++) {
        write_form(text, sizeof text, forms[i], (struct area){ 1, 2, 3, 4 });
        for (size_t k = 0; text[k]; k++) {
            char byte = text[k];
            for (size_t j = 0; j < sizeof bytes - 1; j++) {
                struct warnings warnings = { 0 };
                const struct change change = { XFORM_ROTATE_90, 64, 48, 56,
                                               48 };
                text[k] = bytes[j];
                free(turned_text(text, &change, &warnings));
            }
            text[k] = byte;
        }
    }
}
