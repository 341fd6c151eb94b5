/* Finds what an XMP packet says of orientation and sizes, and rewrites what
 * keeps its length. */
#include "codecs/metadata/xmp.h"

#include <string.h>
#include <strings.h>

#include "codecs/base/account.h"

/* ---- Orientation ----------------------------------------------------------*/

/* Returns where the digit of an orientation stands; 0 if the token has none
 * from 1 to 8. */
static size_t find_digit(const struct xml_reader *xml,
                         const struct xml_token *token)
{
    const struct xml_span value = token->value;
    return xml_is(xml, token->name, XMP_TIFF, "Orientation") &&
                   value.size == 1 && xml->text[value.at] >= '1' &&
                   xml->text[value.at] <= '8'
               ? value.at
               : 0;
}

void xmp_note(const uint8_t *packet, size_t size, struct orientation *o)
{
    struct xml_reader xml = xml_open(packet, size);
    struct xml_token token;
    while (xml_next(&xml, &token)) {
        size_t digit = find_digit(&xml, &token);
        if (digit)
            orientation_note(o, TAG_XMP, packet[digit] - '0');
    }
}

unsigned xmp_orientation(const uint8_t *packet, size_t size)
{
    struct orientation o = { 0 };
    xmp_note(packet, size, &o);
    return o.value;
}

/* ---- Sizes and densities --------------------------------------------------*/

/* The two properties of a pair differ in one letter of their names: what was
 * true of one is true of the other, also where it stands alone. */
static void exchange_axes(const struct xml_reader *xml, uint8_t *packet,
                          struct xml_span name)
{
    static const struct {
        enum xmp_namespace space;
        const char *x, *y;
        size_t letter; /* from the end */
    } pairs[] = {
        { XMP_TIFF, "XResolution", "YResolution", 11 },
        { XMP_EXIF, "PixelXDimension", "PixelYDimension", 10 },
        { XMP_EXIF, "FocalPlaneXResolution", "FocalPlaneYResolution", 11 },
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        bool is_x = xml_is(xml, name, pairs[i].space, pairs[i].x);
        if (is_x || xml_is(xml, name, pairs[i].space, pairs[i].y)) {
            packet[name.at + name.size - pairs[i].letter] = is_x ? 'Y' : 'X';
            return;
        }
    }
}

static void reverse(uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size / 2; i++) {
        uint8_t byte = bytes[i];
        bytes[i] = bytes[size - 1 - i];
        bytes[size - 1 - i] = byte;
    }
}

void xmp_turn(uint8_t *packet, size_t size, enum xform t, unsigned orientation)
{
    static const char *const sides[] = { "ImageWidth", "ImageLength" };
    struct xml_reader xml = xml_open(packet, size);
    struct xml_token token;
    uint64_t number;
    struct xml_span side[2] = { { 0, 0 },
                                { 0, 0 } }; /* the first number of each */
    while (xml_next(&xml, &token)) {
        size_t digit = find_digit(&xml, &token);
        if (digit && orientation)
            packet[digit] = (uint8_t)('0' + orientation);
        if (!xform_transposes(t))
            continue;
        for (int i = 0; i < 2; i++)
            if (!side[i].size && xml_is(&xml, token.name, XMP_TIFF, sides[i]) &&
                xml_number(&xml, token.value, &number))
                side[i] = token.value;
        exchange_axes(&xml, packet, token.name);
    }
    /* At the end, when no token points into what may move: the two parts of the
     * text need not be equally long. All reversed, and each part reversed
     * again, is the same parts the other way round. */
    if (!side[0].size || !side[1].size)
        return;
    const bool swapped = side[0].at > side[1].at;
    const struct xml_span first = side[swapped], last = side[!swapped];
    uint8_t *start = packet + first.at;
    size_t all = last.at + last.size - first.at;
    reverse(start, all);
    reverse(start, last.size);
    reverse(start + last.size, all - last.size - first.size);
    reverse(start + all - first.size, first.size);
}

/* ---- What --strip names ---------------------------------------------------*/

/* Returns whether a word, in lower case, stands in a text, in any case. */
static bool has_word(const uint8_t *text, size_t size, const char *word)
{
    size_t n = strlen(word);
    for (size_t at = 0; at + n <= size; at++)
        if ((text[at] | 0x20) == *word &&
            strncasecmp((const char *)text + at, word, n) == 0)
            return true;
    return false;
}

/* DJI writes GpsLongtitude. */
bool xmp_names_place(const uint8_t *name, size_t size)
{
    const uint8_t *colon = memchr(name, ':', size);
    const uint8_t *local = colon ? colon + 1 : name;
    const size_t left = size - (size_t)(local - name);
    return (left >= 3 && strncasecmp((const char *)local, "gps", 3) == 0) ||
           has_word(local, left, "latitude") ||
           has_word(local, left, "longitude") ||
           has_word(local, left, "longtitude");
}

/* An atom of QuickTime is among the words. */
bool xmp_tells_place(const uint8_t *data, size_t size)
{
    static const char *const words[] = { "gpslat", "gpslon", "iso6709" };
    const size_t looks = sizeof words / sizeof *words + 1;
    if (!account_look(looks * size))
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (has_word(data, size, words[i]))
            return true;
    return size && memmem(data, size, "\xa9xyz", 4);
}

static bool is_dropped(const struct xml_reader *xml, struct xml_span name,
                       unsigned drop)
{
    static const char *const geo[] = { "lat", "long", "alt", "lat_long" };
    const uint8_t *text = xml->text + name.at;
    if (name.size >= 5 && memcmp(text, "xmlns", 5) == 0)
        return false;
    if (drop & DROP_THUMBNAIL && xml_is(xml, name, XMP_BASIC, "Thumbnails"))
        return true;
    if (!(drop & DROP_GPS))
        return false;
    for (size_t i = 0; i < sizeof geo / sizeof *geo; i++)
        if (xml_is(xml, name, XMP_GEO, geo[i]))
            return true;
    return xmp_names_place(text, name.size);
}

/* Skips the closing tag of an element that has begun. Returns false if there is
 * none of that name. */
static bool skip_element(struct xml_reader *xml, struct xml_span name)
{
    struct xml_token token;
    size_t depth = 1;
    while (depth > 0) {
        if (!xml_next(xml, &token))
            return false;
        if (token.kind == XML_ELEMENT && !token.empty)
            depth++;
        if (token.kind == XML_CLOSING)
            depth--;
    }
    if (token.name.size != name.size ||
        memcmp(xml->text + token.name.at, xml->text + name.at, name.size))
        return false;
    while (xml->at < xml->size && xml->text[xml->at] != '>')
        xml->at++;
    return xml->at++ < xml->size;
}

/* What is read of a packet stands before the reader and may change. */
int xmp_drop(uint8_t *packet, size_t size, unsigned drop, struct err *err)
{
    struct xml_token token;
    if (!(drop & (DROP_GPS | DROP_THUMBNAIL)) || size == 0)
        return 0;
    size_t text = size; /* some programs put zeros behind it */
    while (text > 0 && packet[text - 1] == 0)
        text--;
    if (memchr(packet, 0, text))
        return fail(err, "XMP is not in UTF-8, so that nothing can be cut out "
                         "of it; --strip=xmp drops all of it");
    struct xml_reader xml = xml_open(packet, size);
    while (xml_next(&xml, &token)) {
        size_t from = token.name.at - (token.kind == XML_ELEMENT);
        if (token.kind == XML_CLOSING || !is_dropped(&xml, token.name, drop))
            continue;
        if (token.kind == XML_ELEMENT && !token.empty &&
            !skip_element(&xml, token.name))
            return fail(err, "XMP is malformed, so that nothing can be cut out "
                             "of it; --strip=xmp drops all of it");
        memset(packet + from, ' ', xml.at - from);
    }
    return 0;
}

/* ---- All of a packet ------------------------------------------------------*/

int xmp_packet_turn(struct bytes *packet, size_t room, const struct image *img,
                    const struct save_opts *opts, const struct lengths *lengths,
                    struct err *err)
{
    const struct change change = image_change(img);
    if (xmp_drop(packet->data, packet->size, opts->drop, err))
        return -1;
    xmp_turn(packet->data, packet->size, img->turned, opts->orientation);
    return xmp_edit(packet, room, &change, lengths, opts->warnings, err);
}
