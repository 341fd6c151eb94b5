/* Regions in XMP are turned and trimmed in every form in
 * which programs write them; malformed packets do no harm. */
#include "codecs/metadata/xmp.h"

#include "tests/support/fixture.h"

#define SPACES                                                                 \
    " xmlns:mwg-rs='http://www.metadataworkinggroup.com/schemas/regions/'"     \
    " xmlns:stArea=\"http://ns.adobe.com/xmp/sType/Area#\""                    \
    " xmlns:stDim='http://ns.adobe.com/xap/1.0/sType/Dimensions#'"
#define OPEN  "<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:Description" SPACES ">"
#define CLOSE "</rdf:Description></x:xmpmeta>"

/* Of a picture of 1000 x 1000 units: center, width and height. */
struct area {
    uint32_t x, y, w, h;
};

static struct area turned_area(struct area a, enum xform t)
{
    struct area b = a;
    bool flip = xform_transposes(t);
    uint32_t x = flip ? a.y : a.x, y = flip ? a.x : a.y;
    b.x = t & XFORM_MIRROR_X ? 1000 - x : x;
    b.y = t & XFORM_MIRROR_Y ? 1000 - y : y;
    b.w = flip ? a.h : a.w;
    b.h = flip ? a.w : a.h;
    return b;
}

/* Numbered: x, y, w, h of an area; then the size it applies to. */
static const char *const forms[] = {
    OPEN
    "<mwg-rs:AppliedToDimensions stDim:w='%5$u' stDim:h='%6$u'/>"
    "<stDim:w>7</stDim:w>"
    "<mwg-rs:Area stArea:x='0.%1$03u' stArea:y=\"0.%2$03u\" "
    "stArea:w='0.%3$03u' stArea:h='0.%4$03u' stArea:unit='normalized'/>" CLOSE,
    OPEN "<mwg-rs:AppliedToDimensions rdf:parseType='Resource'>"
         "<stDim:w>%5$u</stDim:w><stDim:h>%6$u</stDim:h>"
         "</mwg-rs:AppliedToDimensions><stDim:w>7</stDim:w>"
         "<stArea:unit>normalized</stArea:unit><stArea:x> 0.%1$03u\n</stArea:x>"
         "<stArea:y>0.%2$03u</stArea:y><stArea:w>0.%3$03u</stArea:w>"
         "<stArea:h>0.%4$03u</stArea:h>" CLOSE,
};

static void write_form(char *text, size_t room, const char *form, struct area a,
                       uint32_t width, uint32_t height)
{
    snprintf(text, room, form, a.x, a.y, a.w, a.h, width, height);
}

/* The number behind a name and what stands between. */
static double number_of(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    if (!at)
        return -1;
    at += strlen(name);
    return strtod(at + strcspn(at, "0123456789-"), NULL);
}

static bool is_share(const char *text, const char *name, double want)
{
    double off = number_of(text, name) * 1000 - want;
    return off < 1e-3 && off > -1e-3;
}

/* What a packet becomes, as a string, which its owner frees. */
static char *edited(const char *text, size_t room, const struct change *change,
                    struct warnings *warnings)
{
    const struct lengths none = { .count = 0 };
    struct bytes packet = { 0 };
    struct err err;
    must(bytes_append(&packet, text, strlen(text)));
    CHECK(!xmp_edit(&packet, room, change, &none, warnings, &err), "memory");
    must(bytes_append(&packet, "", 1));
    return (char *)packet.data;
}

static struct change whole(enum xform t)
{
    return (struct change){ t, 640, 480, 640, 480 };
}

/* Checks what a packet becomes, and whether there is this warning, or none. */
static void check_in(size_t room, const char *before, struct change change,
                     const char *after, const char *warning)
{
    struct warnings warnings = { 0 };
    owned_memory char *is = edited(before, room, &change, &warnings);
    CHECK(!strcmp(is, after), "%s makes\n%s\nnot\n%s", xform_name(change.turn),
          is, after);
    CHECK(warnings.count == (warning ? 1u : 0u), "%u: %s", warnings.count,
          warnings.list[0].text);
    CHECK(!warning || is_warned(&warnings, warning), "%s",
          warnings.list[0].text);
}

static void check(const char *before, struct change change, const char *after,
                  const char *warning)
{
    check_in(SIZE_MAX, before, change, after, warning);
}

static void check_form(const char *form, struct area a, enum xform t)
{
    char before[2000];
    struct warnings warnings = { 0 };
    struct area b = turned_area(a, t);
    bool flip = xform_transposes(t);
    write_form(before, sizeof before, form, a, 640, 480);
    const struct change there = whole(t), back_again = whole(xform_inverse(t));
    owned_memory char *is = edited(before, strlen(before), &there, &warnings);
    CHECK(is_share(is, "stArea:x", b.x) && is_share(is, "stArea:y", b.y),
          "%s: %s", xform_name(t), is);
    CHECK(is_share(is, "stArea:w", b.w) && is_share(is, "stArea:h", b.h),
          "%s: %s", xform_name(t), is);
    CHECK(number_of(is, "stDim:w") == (flip ? 480 : 640), "%s", is);
    CHECK(number_of(is, "stDim:h") == (flip ? 640 : 480), "%s", is);
    CHECK(strstr(is, "<stDim:w>7</stDim:w>"), "another size: %s", is);
    CHECK(strlen(is) == strlen(before), "it keeps its size");
    owned_memory char *back = edited(is, strlen(is), &back_again, &warnings);
    CHECK(!strcmp(back, before), "%s and back: %s", xform_name(t), back);
    CHECK(warnings.count == 0, "%s", warnings.list[0].text);
}

TEST(forms)
{
    uint64_t state = 7;
    for (size_t i = 0; i < COUNT(forms); i++)
        for (EACH_TURN(t))
            for (int k = 0; k < 20; k++) {
                struct area a;
                a.w = (uint32_t)(2 + 2 * (test_random(&state) % 150));
                a.h = (uint32_t)(2 + 2 * (test_random(&state) % 150));
                a.x = a.w / 2 + (uint32_t)(test_random(&state) % 500) + 1;
                a.y = a.h / 2 + (uint32_t)(test_random(&state) % 500) + 1;
                check_form(forms[i], a, t);
            }
}

/* ---- Of a picture that was trimmed ----------------------------------------*/

TEST(trimmed)
{
    const struct change none = { XFORM_NONE, 100, 50, 80, 40 };
    const struct change wide = { XFORM_MIRROR_X, 100, 50, 80, 50 };
    const struct change turn = { XFORM_ROTATE_90, 100, 50, 100, 40 };
    check("<a stArea:x='0.4' stArea:y='0.4' stArea:w='0.2'/>", none,
          "<a stArea:x='0.500000' stArea:y='0.500000' "
          "stArea:w='0.250000'/>",
          NULL);
    check("<a stArea:x='0.4' stArea:y='0.4' stArea:w='0.2' "
          "stArea:h='0.1'/>",
          wide,
          "<a stArea:x='0.500000' stArea:y='0.4' stArea:w='0.250000' "
          "stArea:h='0.1'/>",
          NULL);
    check("<a stArea:x='0.4' stArea:y='0.2' stArea:w='0.2' "
          "stArea:h='0.4'/>",
          turn,
          "<a stArea:y='0.4' stArea:x='0.750000' stArea:h='0.2' "
          "stArea:w='0.500000'/>",
          NULL);
    check("<mwg-rs:AppliedToDimensions stDim:w='100' stDim:h='50'/>", turn,
          "<mwg-rs:AppliedToDimensions stDim:h='100' stDim:w='40'/>", NULL);
    check("<mwg-rs:AppliedToDimensions stDim:w='1000' stDim:h='500'/>", none,
          "<mwg-rs:AppliedToDimensions stDim:w='800' stDim:h='400'/>", NULL);
}

/* One prefix for two namespaces counts as each where that is bound to it. */
TEST(shared_prefix)
{
#define DIM  " xmlns:s='http://ns.adobe.com/xap/1.0/sType/Dimensions#'"
#define AREA " xmlns:s='http://ns.adobe.com/xmp/sType/Area#'"
    const struct change none = { XFORM_NONE, 100, 50, 80, 40 };
    const struct change turn = { XFORM_ROTATE_90, 100, 50, 100, 40 };
    check("<mwg-rs:AppliedToDimensions" DIM " s:w='1000' s:h='500'/>"
          "<a" AREA " s:x='0.4' s:w='0.2'/>",
          none,
          "<mwg-rs:AppliedToDimensions" DIM " s:w='800' s:h='400'/>"
          "<a" AREA " s:x='0.500000' s:w='0.250000'/>",
          NULL);
    check("<mwg-rs:AppliedToDimensions s:w='1000'" AREA DIM "/>", none,
          "<mwg-rs:AppliedToDimensions s:w='800'" AREA DIM "/>", NULL);
    check("<d" DIM "><mwg-rs:AppliedToDimensions s:w='100' s:h='50'/>"
          "<a s:x='0.4'" AREA "><s:y>0.2</s:y><b" DIM "><s:x>0.5</s:x>"
          "</b><s:w>0.2</s:w></a><s:w>5</s:w><s:y>0.4</s:y></d>",
          turn,
          "<d" DIM "><mwg-rs:AppliedToDimensions s:h='100' s:w='40'/>"
          "<a s:y='0.4'" AREA "><s:x>0.750000</s:x><b" DIM "><s:x>0.5</s:x>"
          "</b><s:h>0.2</s:h></a><s:w>5</s:w><s:y>0.4</s:y></d>",
          NULL);
#undef DIM
#undef AREA
}

/* ---- Numbers of all kinds -------------------------------------------------*/

#define X(n)           "<a stArea:x='" n "'/>"
#define PADDED(blanks) blanks "<?xpacket end='w'?>"

TEST(numbers)
{
    static const char *const pairs[][2] = {
        { X("0"), X("1") },
        { X("1.0"), X("0.0") },
        { X("0.5"), X("0.5") },
        { X(" 0.123456789012345 "), X(" 0.876543210987655 ") },
    };
    for (size_t i = 0; i < COUNT(pairs); i++)
        check(pairs[i][0], whole(XFORM_MIRROR_X), pairs[i][1], NULL);
    check(X("1e-05"), whole(XFORM_MIRROR_X), X("0.999990000"), NULL);
    check(X(".25"), whole(XFORM_MIRROR_X), X("0.75"), NULL);
    check(X("half"), whole(XFORM_MIRROR_X), X("half"), "not understood");
    check(X("nan"), whole(XFORM_MIRROR_X), X("nan"), "not understood");
    check(X("1e999"), whole(XFORM_MIRROR_X), X("1e999"), "not understood");
    check(X("0.1 2"), whole(XFORM_MIRROR_X), X("0.1 2"), "not understood");
    check("<a stArea:unit='pixel' stArea:x='5' stArea:w='3'/>",
          whole(XFORM_TRANSPOSE),
          "<a stArea:unit='pixel' stArea:x='5' stArea:w='3'/>",
          "not understood");
}

/* What a packet grows by comes out of its padding, or it stays. */
TEST(room)
{
    const char *grown = X("0.990000000"), *before = X("1e-2");
    check_in(1, X("1e-2") PADDED("\n         "), whole(XFORM_MIRROR_X),
             X("1e-2") PADDED("\n         "), "no room");
    check_in(200, X("1e-2") PADDED("\n         "), whole(XFORM_MIRROR_X),
             X("0.990000000") PADDED("\n  "), NULL);
    check_in(200, X("0.75") PADDED("\n"), whole(XFORM_MIRROR_X),
             X("0.25") PADDED("\n"), NULL);
    check_in(strlen(grown), before, whole(XFORM_MIRROR_X), grown, NULL);
    check_in(strlen(grown) - 1, before, whole(XFORM_MIRROR_X), before,
             "no room");
}

TEST(others)
{
    static const char *const left[][2] = {
        { "<a crs:HasCrop='True' crs:CropTop='0.1'/>", "crop" },
        { "<a crs:HasCrop='True' crs:AlreadyApplied='True'/>", NULL },
        { "<a crs:HasCrop='False' crs:CropTop='0'/>", NULL },
        { "<a Iptc4xmpExt:rbX='0.5'/>", "IPTC" },
        { "<a MPReg:Rectangle='0, 0, 0.25, 0.5'/>", "Microsoft" },
        { "<b:x>0.5</b:x>", NULL },
        { "<!-- <a stArea:x='0.25'/> -->", NULL },
    };
    for (size_t i = 0; i < COUNT(left); i++) {
        check(left[i][0], whole(XFORM_MIRROR_X), left[i][0], left[i][1]);
        check(left[i][0], whole(XFORM_NONE), left[i][0], NULL);
    }
}

/* ---- Hostile packets ------------------------------------------------------*/

static void check_damaged(char *text)
{
    static const char bytes[] = "\1\377<>\"'=/ :.,-e9X";
    const struct change changes[] = { { XFORM_ROTATE_90, 64, 48, 56, 48 },
                                      { XFORM_TRANSVERSE, 64, 48, 64, 48 } };
    const size_t size = strlen(text);
    for (size_t k = 0; k < size; k++) {
        char byte = text[k];
        for (size_t j = 0; j < sizeof bytes; j++) {
            struct warnings warnings = { 0 };
            text[k] = bytes[j];
            free(edited(text, SIZE_MAX, &changes[0], &warnings));
            free(edited(text, size, &changes[1], &warnings));
        }
        text[k] = byte;
    }
}

TEST(damaged)
{
    const struct area a = { 250, 375, 100, 50 };
    char text[2000];
    for (size_t i = 0; i < COUNT(forms); i++) {
        write_form(text, sizeof text, forms[i], a, 640, 480);
        check_damaged(text);
    }
}
