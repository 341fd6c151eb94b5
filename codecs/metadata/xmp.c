/* Finds and rewrites what an XMP packet says about orientation and size. */
#include "codecs/metadata/xmp.h"

#include <stdio.h>
#include <string.h>

#include "codecs/metadata/xml.h"
#include "codecs/metadata/xmp_edit.h"

/* XMP specification, part 2, 3.3 and part 3: the namespaces of TIFF and EXIF
 * properties. */
enum { TIFF, EXIF, SPACES };
static const struct xmlns namespaces[SPACES] = {
    [TIFF] = { "http://ns.adobe.com/tiff/1.0/", "tiff" },
    [EXIF] = { "http://ns.adobe.com/exif/1.0/", "exif" },
};

/* Returns where the digit of an orientation stands; 0 if the token has none
 * from 1 to 8. */
static size_t find_digit(const uint8_t *packet, const struct xml_token *token,
                         const struct xml_namespace *spaces)
{
    if (!xml_is_named(packet, token->name, &spaces[TIFF], "Orientation"))
        return 0;
    struct xml_span value = xml_trim(packet, token->value);
    bool good =
        value.size == 1 && packet[value.at] >= '1' && packet[value.at] <= '8';
    return good ? value.at : 0;
}

void xmp_note(const uint8_t *packet, size_t size, struct orientation *o)
{
    struct xml_reader xml = { .text = packet, .size = size };
    struct xml_token token;
    struct xml_namespace spaces[SPACES];
    xml_find_namespaces(packet, size, spaces, namespaces, SPACES);
    while (xml_next(&xml, &token)) {
        size_t digit = find_digit(packet, &token, spaces);
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

/* The two properties of a pair differ in one letter of their names: what was
 * true of one is true of the other, also where it stands alone. */
static void exchange_axes(uint8_t *packet, struct xml_span name,
                          const struct xml_namespace *spaces)
{
    static const struct {
        const char *x, *y;
        size_t letter; /* from the end */
        bool tiff;
    } pairs[] = {
        { "XResolution", "YResolution", 11, true },
        { "PixelXDimension", "PixelYDimension", 10, false },
        { "FocalPlaneXResolution", "FocalPlaneYResolution", 11, false },
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const struct xml_namespace *space =
            pairs[i].tiff ? &spaces[TIFF] : &spaces[EXIF];
        bool is_x = xml_is_named(packet, name, space, pairs[i].x);
        if (is_x || xml_is_named(packet, name, space, pairs[i].y)) {
            packet[name.at + name.size - pairs[i].letter] = is_x ? 'Y' : 'X';
            return;
        }
    }
}

static bool is_digits(const uint8_t *packet, struct xml_span value)
{
    for (size_t i = 0; i < value.size; i++)
        if (packet[value.at + i] < '0' || packet[value.at + i] > '9')
            return false;
    return value.size > 0;
}

/* Takes the token's value for *number if it is the first one of that name, and
 * digits only. */
static void take_number(const uint8_t *packet, const struct xml_token *token,
                        const struct xml_namespace *spaces, const char *local,
                        struct xml_span *number)
{
    if (number->size ||
        !xml_is_named(packet, token->name, &spaces[TIFF], local))
        return;
    struct xml_span value = xml_trim(packet, token->value);
    if (is_digits(packet, value))
        *number = value;
}

static void reverse(uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size / 2; i++) {
        uint8_t byte = bytes[i];
        bytes[i] = bytes[size - 1 - i];
        bytes[size - 1 - i] = byte;
    }
}

/* Exchanges two pieces of text, which need not be equally long: what lies
 * between moves. All reversed, and each piece reversed again, is the same
 * pieces the other way round. */
static void exchange_spans(uint8_t *packet, struct xml_span a,
                           struct xml_span b)
{
    if (!a.size || !b.size)
        return;
    if (a.at > b.at) {
        struct xml_span first = b;
        b = a;
        a = first;
    }
    uint8_t *start = packet + a.at;
    size_t all = b.at + b.size - a.at;
    reverse(start, all);
    reverse(start, b.size);
    reverse(start + b.size, all - b.size - a.size);
    reverse(start + all - a.size, a.size);
}

void xmp_turn(uint8_t *packet, size_t size, enum xform t, unsigned orientation)
{
    struct xml_reader xml = { .text = packet, .size = size };
    struct xml_token token;
    struct xml_namespace spaces[SPACES];
    struct xml_span width = { 0 }, length = { 0 };
    xml_find_namespaces(packet, size, spaces, namespaces, SPACES);
    while (xml_next(&xml, &token)) {
        size_t digit = find_digit(packet, &token, spaces);
        if (digit && orientation)
            packet[digit] = (uint8_t)('0' + orientation);
        if (!xform_transposes(t))
            continue;
        take_number(packet, &token, spaces, "ImageWidth", &width);
        take_number(packet, &token, spaces, "ImageLength", &length);
        exchange_axes(packet, token.name, spaces);
    }
    /* At the end, when no token points into what may move. */
    exchange_spans(packet, width, length);
}

/* What the token says is to be, if it is a size; 0: it is none. */
static uint32_t size_of(const uint8_t *packet, struct xml_span name,
                        const struct xml_namespace *spaces, uint32_t width,
                        uint32_t height)
{
    if (xml_is_named(packet, name, &spaces[TIFF], "ImageWidth") ||
        xml_is_named(packet, name, &spaces[EXIF], "PixelXDimension"))
        return width;
    if (xml_is_named(packet, name, &spaces[TIFF], "ImageLength") ||
        xml_is_named(packet, name, &spaces[EXIF], "PixelYDimension"))
        return height;
    return 0;
}

/* Returns whether digits make a number that is larger. */
static bool is_larger(const uint8_t *packet, struct xml_span value,
                      uint32_t number)
{
    uint64_t is = 0;
    for (size_t i = 0; i < value.size && is <= number; i++)
        is = is * 10 + (packet[value.at + i] - '0');
    return is > number;
}

int xmp_set_size(struct bytes *packet, size_t room, uint32_t width,
                 uint32_t height, struct warnings *warnings, struct err *err)
{
    struct xml_reader xml = { .text = packet->data, .size = packet->size };
    struct xmp_edit edit = { .from = *packet };
    struct xml_token token;
    struct xml_namespace spaces[SPACES];
    char text[16];
    xml_find_namespaces(packet->data, packet->size, spaces, namespaces, SPACES);
    while (xml_next(&xml, &token)) {
        struct xml_span value = xml_trim(packet->data, token.value);
        uint32_t size =
            size_of(packet->data, token.name, spaces, width, height);
        if (!size || token.kind == XML_CLOSING ||
            !is_digits(packet->data, value) ||
            !is_larger(packet->data, value, size))
            continue;
        snprintf(text, sizeof text, "%u", (unsigned)size);
        xmp_edit_span(&edit, value, text);
    }
    return xmp_edit_end(&edit, packet, room,
                        "there is no room in XMP for the size of what is left "
                        "of the picture",
                        warnings, err);
}
