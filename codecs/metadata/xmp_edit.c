/* Values of an XMP packet that change their length.
 *
 * The areas of the Metadata Working Group (mwg-rs, Guidelines for Handling
 * Image Metadata 2.0, 5.9) count in shares of the picture as it is stored, and
 * are moved with it. The image regions of IPTC (Photo Metadata Standard, 15.5),
 * rectangles of Microsoft (MPReg) and crops of Camera Raw are not, and a
 * warning says so. */
#include "codecs/metadata/xmp.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Shares of a picture's width or height --------------------------------*/

struct xmp_ratio {
    double value;
    int decimals; /* how many digits follow the point */
};

/* 17 digits tell any two doubles apart; 6 tell any two pixels apart. */
enum { DECIMALS_MAX = 17, DECIMALS_OF_POWER = 9, DECIMALS_SCALED = 6 };

/* Buffer size for one ratio, including its NUL. */
enum { XMP_RATIO_TEXT = 40 };

/* Reads a value that is nothing but a number, such as "0.25". Returns false if
 * it is not. */
static bool ratio_of(const uint8_t *text, struct xml_span value,
                     struct xmp_ratio *ratio)
{
    char copy[XMP_RATIO_TEXT], *end;
    if (value.size >= sizeof copy)
        return false;
    memcpy(copy, text + value.at, value.size);
    copy[value.size] = '\0';
    const char *point = strchr(copy, '.');
    ratio->value = strtod(copy, &end);
    ratio->decimals = point ? (int)strspn(point + 1, "0123456789") : 0;
    if (strpbrk(copy, "eE"))
        ratio->decimals = DECIMALS_OF_POWER;
    if (ratio->decimals > DECIMALS_MAX)
        ratio->decimals = DECIMALS_MAX;
    return end == copy + value.size && end > copy && fabs(ratio->value) < 1e6;
}

/* ---- A packet that is edited ----------------------------------------------*/

/* Text on its way from a copy, in which names are changed, to what is made. */
struct splice {
    struct bytes copy, made;
    size_t done; /* of the copy */
    bool failed; /* no memory */
};

struct packet_edit {
    const struct change *change;
    const struct lengths *lengths;
    bool edited; /* something has changed */
    struct splice text;
    struct xml_reader xml; /* of the copy */
    /* What is met on the way. */
    bool used[LENGTHS_MAX];
    bool sized;  /* within AppliedToDimensions */
    bool unread; /* a number of a region is malformed */
};

/* Puts `text` in the place of a span. One that begins before the end of the one
 * before is left as it is. */
static void put(struct packet_edit *w, struct xml_span span, const char *text)
{
    struct splice *s = &w->text;
    if (span.at < s->done)
        return;
    if (!bytes_append(&s->made, s->copy.data + s->done, span.at - s->done) ||
        !bytes_append(&s->made, text, strlen(text)))
        s->failed = true;
    s->done = span.at + span.size;
    w->edited = true;
}

static void put_number(struct packet_edit *w, struct xml_span span,
                       uint64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    put(w, span, text);
}

static void put_ratio(struct packet_edit *w, struct xml_span span,
                      struct xmp_ratio ratio)
{
    char text[XMP_RATIO_TEXT];
    if (fabs(ratio.value) < 0.5 * pow(10, -ratio.decimals))
        ratio.value = 0; /* never "-0.00" */
    snprintf(text, sizeof text, "%.*f", ratio.decimals, ratio.value);
    put(w, span, text);
}

/* ---- Lengths and sizes ----------------------------------------------------*/

/* Replaces the length of an item that is in the list: both lists are in the
 * order of the file, so each length is given once. And a size that the picture
 * no longer has. */
static void edit_number(struct packet_edit *w, const struct xml_token *token)
{
    const struct lengths *lengths = w->lengths;
    const struct change *change = w->change;
    const bool flip = xform_transposes(change->turn),
               wide = xml_is(&w->xml, token->name, XMP_TIFF, "ImageWidth") ||
                      xml_is(&w->xml, token->name, XMP_EXIF, "PixelXDimension"),
               high = xml_is(&w->xml, token->name, XMP_TIFF, "ImageLength") ||
                      xml_is(&w->xml, token->name, XMP_EXIF, "PixelYDimension"),
               length = xml_is(&w->xml, token->name, XMP_ITEM, "Length");
    const uint32_t size =
        wide != flip ? change->kept_width : change->kept_height;
    uint64_t number;
    size_t i = 0;
    if ((!wide && !high && !length) ||
        !xml_number(&w->xml, token->value, &number))
        return;
    if (!length && change_trims(change) && size && number > size)
        put_number(w, token->value, size);
    while (i < lengths->count && (w->used[i] || lengths->list[i].was != number))
        i++;
    if (!length || i == lengths->count)
        return;
    put_number(w, token->value, lengths->list[i].is);
    w->used[i] = true;
}

/* ---- Regions -----------------------------------------------------*/

enum axis { NO_AXIS, AXIS_X, AXIS_Y };

/* Returns of which axis a property is, one of two whose names differ in their
 * last letters. Where the turn exchanges axes, so are these, so that all
 * lengths stay. */
static enum axis exchange_axis(struct packet_edit *w,
                               const struct xml_token *token,
                               enum xmp_namespace space, const char *x,
                               const char *y)
{
    enum axis axis = xml_is(&w->xml, token->name, space, x)   ? AXIS_X
                     : xml_is(&w->xml, token->name, space, y) ? AXIS_Y
                                                              : NO_AXIS;
    const char *becomes = axis == AXIS_X ? y : x;
    if (axis && xform_transposes(w->change->turn)) {
        w->text.copy.data[token->name.at + token->name.size - 1] =
            (uint8_t)becomes[strlen(becomes) - 1];
        w->edited = true;
    }
    return axis;
}

/* Moves a property of an area, which has a center and a size. Scales it, and
 * where the axis is mirrored, replaces x by 1 - x, with as many digits. */
static void turn_area(struct packet_edit *w, const struct xml_token *token)
{
    const enum xform t = w->change->turn;
    enum axis size = NO_AXIS,
              place = exchange_axis(w, token, XMP_AREA, "x", "y");
    if (!place)
        size = exchange_axis(w, token, XMP_AREA, "w", "h");
    const bool is_x = place == AXIS_X || size == AXIS_X,
               becomes_x = is_x != xform_transposes(t),
               mirror =
                   place && t & (becomes_x ? XFORM_MIRROR_X : XFORM_MIRROR_Y);
    const double by =
        is_x ? change_scale_x(w->change) : change_scale_y(w->change);
    struct xmp_ratio ratio;
    if ((!place && !size) || !token->value.size || (by == 1 && !mirror))
        return; /* the element that a structure is in has no value */
    if (!ratio_of(w->xml.text, token->value, &ratio)) {
        w->unread = true;
        return;
    }
    ratio.value *= by;
    if (by != 1 && ratio.decimals < DECIMALS_SCALED)
        ratio.decimals = DECIMALS_SCALED;
    if (mirror)
        ratio.value = 1 - ratio.value;
    put_ratio(w, token->value, ratio);
}

static const char applied[] = "AppliedToDimensions";

/* The size that the regions apply to is trimmed in proportion, but not that of
 * a page, which is of the same type. */
static void turn_size(struct packet_edit *w, const struct xml_token *token)
{
    const bool attribute = token->kind == XML_ATTRIBUTE;
    if (!attribute && xml_is(&w->xml, token->name, XMP_MWG, applied))
        w->sized = !xml_ends(token);
    else if (w->sized ||
             (attribute && xml_is(&w->xml, w->xml.element, XMP_MWG, applied))) {
        enum axis axis = exchange_axis(w, token, XMP_DIMENSIONS, "w", "h");
        const double by = axis == AXIS_X ? change_scale_x(w->change)
                                         : change_scale_y(w->change);
        struct xmp_ratio size;
        if (!axis || by == 1 || !token->value.size ||
            !ratio_of(w->xml.text, token->value, &size))
            return;
        size.value /= by;
        put_ratio(w, token->value, size);
    }
}

/* ---- All of a packet ------------------------------------------------------*/

/* What a packet holds before it is changed. */
struct found_regions {
    bool regions;
    bool strange; /* areas in other units than shares */
    bool iptc, rectangle;
    bool crop, cropped; /* there is one; it was carried out already */
};

static struct found_regions find_regions(struct xml_reader xml)
{
    struct found_regions found = { 0 };
    const struct {
        enum xmp_namespace space;
        const char *name;
        bool *is, value; /* what is set if it is there; or to whether it is
                            "True" */
    } known[] = {
        { XMP_AREA, "x", &found.regions, false },
        { XMP_AREA, "y", &found.regions, false },
        { XMP_MWG, applied, &found.regions, false },
        { XMP_IPTC, "rbX", &found.iptc, false },
        { XMP_IPTC, "rbY", &found.iptc, false },
        { XMP_MPREG, "Rectangle", &found.rectangle, false },
        { XMP_CAMERA_RAW, "HasCrop", &found.crop, true },
        { XMP_CAMERA_RAW, "AlreadyApplied", &found.cropped, true },
    };
    struct xml_token token;
    while (xml_next(&xml, &token)) {
        if (token.kind == XML_CLOSING)
            continue;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            if (xml_is(&xml, token.name, known[i].space, known[i].name))
                *known[i].is = !known[i].value ||
                               xml_is_text(xml.text, token.value, "True");
        if (xml_is(&xml, token.name, XMP_AREA, "unit") &&
            !xml_is_text(xml.text, token.value, "normalized"))
            found.strange = true;
    }
    return found;
}

/* Takes away blanks before the trailer <?xpacket end="w"?>, or puts some, to
 * make the packet `size` bytes long, as far as that goes. */
static bool keep_size(struct bytes *packet, size_t size)
{
    static const char mark[] = "<?xpacket end";
    const size_t length = sizeof mark - 1;
    size_t trailer = packet->size < length ? 0 : packet->size - length + 1;
    do {
        if (trailer-- == 0)
            return true; /* there is none */
    } while (memcmp(packet->data + trailer, mark, length) != 0);
    size_t from = trailer;
    while (from > 0 && packet->size - (trailer - from) > size &&
           xml_is_blank(packet->data[from - 1]))
        from--;
    size_t more = size > packet->size ? size - packet->size : 0;
    if (!bytes_reserve(packet, more))
        return false;
    memmove(packet->data + from + more, packet->data + trailer,
            packet->size - trailer);
    memset(packet->data + from, ' ', more);
    packet->size = packet->size - (trailer - from) + more;
    return true;
}

/* Makes the text of the packet. Returns false without memory. */
static bool make_edited(struct packet_edit *w, const struct bytes *packet,
                        const struct found_regions *found)
{
    struct splice *s = &w->text;
    struct xml_token token;
    if (!bytes_append(&s->copy, packet->data, packet->size))
        return false;
    w->xml = xml_open(s->copy.data, s->copy.size);
    while (xml_next(&w->xml, &token)) {
        edit_number(w, &token);
        if (found->regions && !found->strange)
            turn_area(w, &token);
        if (found->regions)
            turn_size(w, &token);
    }
    return !s->failed &&
           bytes_append(&s->made, s->copy.data + s->done,
                        s->copy.size - s->done) &&
           keep_size(&s->made, packet->size);
}

int xmp_edit(struct bytes *packet, size_t room, const struct change *change,
             const struct lengths *lengths, struct warnings *warnings,
             struct err *err)
{
    struct found_regions found = { 0 };
    struct packet_edit w = { .change = change, .lengths = lengths };
    bool made = true;
    if (change->turn != XFORM_NONE || change_trims(change))
        found = find_regions(xml_open(packet->data, packet->size));
    if (packet->size &&
        (found.regions || lengths->count || change_trims(change)))
        made = make_edited(&w, packet, &found);
    bytes_free(&w.text.copy);
    if (made && w.edited && w.text.made.size <= room) {
        bytes_free(packet);
        *packet = w.text.made;
    } else {
        bytes_free(&w.text.made);
        if (w.edited)
            warn(warnings,
                 "XMP has no room for what has changed, so that sizes, regions "
                 "and lengths in it stay as they were");
    }
    if (!made)
        return fail_memory(err, "no memory for XMP");
    if (w.unread || found.strange)
        warn(warnings, "a region in XMP is not understood, so it was not moved "
                       "with the picture");
    if (found.crop && !found.cropped)
        warn(warnings, "the Camera Raw crop in XMP was not turned with the "
                       "picture");
    if (found.iptc)
        warn(warnings, "an IPTC image region in XMP was not moved with the "
                       "picture");
    if (found.rectangle)
        warn(warnings, "a region of Microsoft (MPReg) in XMP was not moved "
                       "with the picture");
    return 0;
}
