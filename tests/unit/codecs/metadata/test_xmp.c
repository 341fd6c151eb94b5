/* XMP packets of many programs, and damaged ones: the orientation and the size
 * are found and set. */
#include "codecs/metadata/xmp.h"

#include "tests/support/fixture.h"

#define TIFF " xmlns:tiff=\"http://ns.adobe.com/tiff/1.0/\""
#define EXIF " xmlns:exif='http://ns.adobe.com/exif/1.0/'"
#define OPEN                                                                   \
    "<?xpacket begin='\xef\xbb\xbf' id='W5M0MpCehiHzreSzNTczkc9d'?>"           \
    "<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf="                  \
    "'http://www.w3.org/1999/02/22-rdf-syntax-ns#'><rdf:Description"
#define CLOSE                                                                  \
    "</rdf:Description></rdf:RDF></x:xmpmeta>\n   \n<?xpacket end=\"w\"?>"

static void check_turn(const char *before, enum xform t, unsigned orientation,
                       const char *after)
{
    size_t size = strlen(before);
    owned_bytes packet = copied(before, size);
    xmp_turn(packet.data, size, t, orientation);
    CHECK(size == strlen(after) && !memcmp(packet.data, after, size),
          "%s and %u make\n%.*s\nnot\n%s", xform_name(t), orientation,
          (int)size, (const char *)packet.data, after);
}

static unsigned orientation_of(const char *text)
{
    owned_bytes packet = copied(text, strlen(text));
    const unsigned orientation = xmp_orientation(packet.data, packet.size);
    return orientation;
}

/* ---- Orientation ----------------------------------------------------------*/

/* Each %c is the digit. */
static const char *const good[] = {
    OPEN TIFF " tiff:Orientation=\"%c\">" CLOSE,
    OPEN TIFF " tiff:Orientation='%c'/>" CLOSE,
    OPEN TIFF "\n tiff:Orientation \t=\r\n \"%c\"\n>" CLOSE,
    OPEN " tiff:Orientation=\" %c \"" TIFF ">" CLOSE,
    OPEN TIFF "><tiff:Orientation>%c</tiff:Orientation>" CLOSE,
    OPEN TIFF "><tiff:Orientation >\n %c\n</tiff:Orientation >" CLOSE,
    OPEN TIFF "><tiff:Orientation a:b='>' c:d=\"/>\">%c</tiff:Orientation>",
    OPEN " xmlns:t=\"http://ns.adobe.com/tiff/1.0/\" t:Orientation='%c'/>",
    OPEN " xmlns:t = 'http://ns.adobe.com/tiff/1.0/'>"
         "<t:Orientation>%c</t:Orientation>" CLOSE,
    OPEN TIFF "><a:b xmlns:t='http://ns.adobe.com/tiff/1.0/'>"
              "<t:Orientation>%c</t:Orientation></a:b>"
              "<tiff:Orientation>%c</tiff:Orientation>" CLOSE,
    "<a tiff:Orientation=\"%c\"/>", /* declared nowhere */
    "<a xmlns:tiff='x'><b/></a></a><a tiff:Orientation=\"%c\"/>",
    "<a b='1' tiff:Orientation=\"%c\" c='2'>",
    "<tiff:Orientation>%c",
    "< <<a \"<tiff:Orientation>%c</tiff:Orientation>",
    "<a b=\"<tiff:Orientation>%c</tiff:Orientation>",
    "<!----><?a?><![CDATA[]]><a tiff:Orientation='%c'/>",
    "<!-- > ' --><a tiff:Orientation='%c'/><!-- \" -->",
};

/* Nothing of this is the orientation of the picture. */
static const char *const other[] = {
    "",
    "6",
    OPEN TIFF ">" CLOSE,
    OPEN TIFF "><dc:description>tiff:Orientation=\"6\"</dc:description>" CLOSE,
    OPEN TIFF " dc:description='tiff:Orientation=\"6\"'>" CLOSE,
    OPEN TIFF " dc:description='&lt;tiff:Orientation>6&lt;/tiff:Orientation>'>",
    OPEN TIFF "><!-- <a tiff:Orientation=\"6\"/> -->" CLOSE,
    OPEN TIFF "><!-- <a tiff:Orientation=\"6\"/>",
    OPEN TIFF "><? <a tiff:Orientation=\"6\"/> ?>" CLOSE,
    OPEN TIFF "><![CDATA[<tiff:Orientation>6</tiff:Orientation>]]>" CLOSE,
    OPEN TIFF " xtiff:Orientation='6' Orientation='6' :Orientation='6'>",
    OPEN TIFF " tiff:Orientation2='6' tiff:XOrientation='6' tiff='6'>",
    OPEN TIFF " tiff.Orientation='6' tiff-Orientation='6'>",
    OPEN TIFF " tiff:orientation='6' TIFF:Orientation='6'>",
    OPEN TIFF "><x:tiff:Orientation>6</x:tiff:Orientation>" CLOSE,
    OPEN " xmlns:tiff='http://ns.adobe.com/exif/1.0/' tiff:Orientation='6'>",
    OPEN "><b xmlns:t='http://ns.adobe.com/tiff/1.0/'/><t:Orientation>6<",
    OPEN " xmlns:t='http://ns.adobe.com/tiff/2.0/' t:Orientation='6'>",
    OPEN TIFF " tiff:Orientation='0'>" CLOSE,
    OPEN TIFF " tiff:Orientation='9'>" CLOSE,
    OPEN TIFF " tiff:Orientation='16'>" CLOSE,
    OPEN TIFF " tiff:Orientation='6 6'>" CLOSE,
    OPEN TIFF " tiff:Orientation=''>" CLOSE,
    OPEN TIFF " tiff:Orientation=' '>" CLOSE,
    OPEN TIFF " tiff:Orientation='Rotate 90'>" CLOSE,
    OPEN TIFF " tiff:Orientation=6>" CLOSE,
    OPEN TIFF " tiff:Orientation='6",
    OPEN TIFF "><tiff:Orientation/>6</tiff:Orientation>" CLOSE,
    OPEN TIFF "><tiff:Orientation><a>6</a></tiff:Orientation>" CLOSE,
    OPEN TIFF "></tiff:Orientation>6" CLOSE,
};

static void fill(char *text, size_t room, const char *pattern, char digit)
{
    snprintf(text, room, pattern, digit, digit);
}

TEST(orientation)
{
    char before[1024], after[1024];
    for (size_t i = 0; i < COUNT(good); i++)
        for (unsigned from = 1; from <= 8; from++) {
            fill(before, sizeof before, good[i], (char)('0' + from));
            CHECK(orientation_of(before) == from, "%s", before);
            check_turn(before, XFORM_ROTATE_90, 0, before);
            for (unsigned to = 1; to <= 8; to++) {
                fill(after, sizeof after, good[i], (char)('0' + to));
                check_turn(before, XFORM_NONE, to, after);
                check_turn(before, XFORM_ROTATE_90, to, after);
            }
        }
    for (size_t i = 0; i < COUNT(other); i++) {
        CHECK(orientation_of(other[i]) == 0, "%s", other[i]);
        check_turn(other[i], XFORM_ROTATE_90, 1, other[i]);
    }
    CHECK(xmp_orientation(NULL, 0) == 0, "nothing at all");
    CHECK(orientation_of("<a xmlns:p='b'><p:Orientation>3</p:Orientation>"
                         "<b xmlns:p='http://ns.adobe.com/tiff/1.0/'"
                         " p:Orientation='8'/></a>") == 8,
          "a prefix that is bound to two namespaces");
    CHECK(orientation_of("<a tiff:Orientation='x'/>"
                         "<a tiff:Orientation='7'/>"
                         "<a tiff:Orientation='5'/>") == 7,
          "the first good one");
}

/* ---- Sizes and densities --------------------------------------------------*/

static const char *const exchanged[][2] = {
    { OPEN TIFF " tiff:XResolution='72/1' tiff:YResolution='300/1'/>",
      OPEN TIFF " tiff:YResolution='72/1' tiff:XResolution='300/1'/>" },
    { OPEN TIFF "><tiff:XResolution>72/1</tiff:XResolution>"
                "<tiff:YResolution>300/1</tiff:YResolution>" CLOSE,
      OPEN TIFF "><tiff:YResolution>72/1</tiff:YResolution>"
                "<tiff:XResolution>300/1</tiff:XResolution>" CLOSE },
    { OPEN EXIF " exif:PixelXDimension='640' exif:PixelYDimension='80'/>",
      OPEN EXIF " exif:PixelYDimension='640' exif:PixelXDimension='80'/>" },
    { OPEN EXIF "><exif:FocalPlaneXResolution>3</exif:FocalPlaneXResolution>",
      OPEN EXIF "><exif:FocalPlaneYResolution>3</exif:FocalPlaneYResolution>" },
    { OPEN " xmlns:e='http://ns.adobe.com/exif/1.0/' e:PixelXDimension='1'"
           " xmlns:exif='x' exif:PixelXDimension='2'/>",
      OPEN " xmlns:e='http://ns.adobe.com/exif/1.0/' e:PixelYDimension='1'"
           " xmlns:exif='x' exif:PixelXDimension='2'/>" },
    { OPEN TIFF " tiff:ImageWidth='640' tiff:ImageLength='480'/>",
      OPEN TIFF " tiff:ImageWidth='480' tiff:ImageLength='640'/>" },
    { OPEN TIFF " tiff:ImageWidth='10000' a='b' tiff:ImageLength='9'/>",
      OPEN TIFF " tiff:ImageWidth='9' a='b' tiff:ImageLength='10000'/>" },
    { OPEN TIFF "><tiff:ImageLength> 99\n</tiff:ImageLength>"
                "<tiff:ImageWidth>1024</tiff:ImageWidth>" CLOSE,
      OPEN TIFF "><tiff:ImageLength> 1024\n</tiff:ImageLength>"
                "<tiff:ImageWidth>99</tiff:ImageWidth>" CLOSE },
    { "<tiff:ImageWidth tiff:ImageLength='3' tiff:XResolution='1'>44<b/>"
      "<tiff:YResolution/>",
      "<tiff:ImageWidth tiff:ImageLength='44' tiff:YResolution='1'>3<b/>"
      "<tiff:XResolution/>" },
};

static const char *const kept[] = {
    OPEN TIFF " tiff:ImageWidth='640'/>",
    OPEN TIFF " tiff:ImageWidth='640' tiff:ImageLength=''/>",
    OPEN TIFF " tiff:ImageWidth='640' tiff:ImageLength='48o'/>",
    OPEN TIFF " exif:XResolution='1' tiff:PixelXDimension='2'/>",
    OPEN TIFF EXIF "><a:b>exif:PixelXDimension='2' tiff:XResolution</a:b>",
    OPEN TIFF EXIF "><!-- <exif:PixelXDimension/><tiff:XResolution/> -->",
    "<X a:XResolution='1' tiff:XResolutionX='2' XResolution='3'>",
};

TEST(sizes)
{
    for (unsigned i = 0; i < XFORM_COUNT; i++) {
        enum xform t = (enum xform)i;
        bool swap = xform_transposes(t);
        for (size_t j = 0; j < COUNT(exchanged); j++) {
            check_turn(exchanged[j][0], t, 1, exchanged[j][swap]);
            check_turn(exchanged[j][1], t, 1, exchanged[j][!swap]);
        }
        for (size_t j = 0; j < COUNT(kept); j++)
            check_turn(kept[j], t, 1, kept[j]);
    }
}

static void check_size(enum xform t, const char *before, size_t room,
                       const char *after, bool warned)
{
    const struct change trimmed = { t, 1009, 100, 1000, 96 };
    const struct lengths none = { .count = 0 };
    owned_bytes packet = { 0 };
    struct warnings warnings = { 0 };
    struct err err;
    must(bytes_append(&packet, before, strlen(before)));
    CHECK(!xmp_edit(&packet, room, &trimmed, &none, &warnings, &err), "memory");
    CHECK(packet.size == strlen(after) &&
              !memcmp(packet.data, after, packet.size),
          "%.*s\nnot\n%s", (int)packet.size, (const char *)packet.data, after);
    CHECK(warnings.count == warned, "%s", warnings.list[0].text);
}

/* Those of what was trimmed; others stay. */
TEST(trimmed)
{
    const char *large =
        OPEN TIFF EXIF " tiff:ImageWidth='1009' "
                       "exif:PixelXDimension=' 1009 '>"
                       "<tiff:ImageLength>100</tiff:ImageLength>"
                       "<exif:PixelYDimension>100"
                       "</exif:PixelYDimension>" CLOSE;
    const char *rest =
        OPEN TIFF EXIF " tiff:ImageWidth='999' "
                       "tiff:ImageLength='12o' exif:ImageWidth='5000' "
                       "exif:PixelXDimension='' exif:PixelYDimension='3'"
                       "/>" CLOSE;
    check_size(XFORM_NONE, large, strlen(large),
               OPEN TIFF EXIF " tiff:ImageWidth='1000' "
                              "exif:PixelXDimension=' 1000 '>"
                              "<tiff:ImageLength>96</tiff:ImageLength>"
                              "<exif:PixelYDimension>96"
                              "</exif:PixelYDimension></rdf:Description>"
                              "</rdf:RDF></x:xmpmeta>\n   \n  "
                              "<?xpacket end=\"w\"?>",
               false);
    check_size(XFORM_NONE, large, 10, large, true);
    check_size(XFORM_NONE, rest, SIZE_MAX, rest, false);
    /* Of a picture whose axes are exchanged, as the sizes are by then. */
    check_size(XFORM_ROTATE_90,
               OPEN TIFF EXIF " tiff:ImageWidth='100' tiff:ImageLength='1009' "
                              "exif:PixelXDimension='100' "
                              "exif:PixelYDimension='1009'>" CLOSE,
               SIZE_MAX,
               OPEN TIFF EXIF " tiff:ImageWidth='96' tiff:ImageLength='1000' "
                              "exif:PixelXDimension='96' "
                              "exif:PixelYDimension='1000'>"
                              "</rdf:Description></rdf:RDF></x:xmpmeta>"
                              "\n   \n  "
                              "<?xpacket end=\"w\"?>",
               false);
}

/* ---- Hostile packets ------------------------------------------------------*/

static void exercise(const char *text, size_t size)
{
    owned_bytes packet = copied(text, size);
    unsigned n = xmp_orientation(packet.data, size);
    CHECK(n <= 8, "%u", n);
    xmp_turn(packet.data, size, XFORM_ROTATE_90, 1);
}

static void damage(const char *pattern)
{
    char text[1024];
    fill(text, sizeof text, pattern, '6');
    size_t size = strlen(text);
    for (size_t i = 0; i < size; i++) {
        static const char bytes[] = "\0\377<>\"'=/ :6-?]";
        char byte = text[i];
        exercise(text, i);
        for (size_t j = 0; j < sizeof bytes - 1; j++) {
            text[i] = bytes[j];
            exercise(text, size);
        }
        text[i] = byte;
    }
}

TEST(damaged)
{
    for (size_t i = 0; i < COUNT(good); i++)
        damage(good[i]);
    for (size_t i = 0; i < COUNT(exchanged); i++)
        damage(exchanged[i][0]);
}
