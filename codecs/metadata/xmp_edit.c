/* Values of an XMP packet that change their length.
 *
 * The areas of the Metadata Working Group (mwg-rs, Guidelines for Handling
 * Image Metadata 2.0, 5.9), the rectangles of Microsoft (MPReg) and the image
 * regions of IPTC (Photo Metadata Standard, 15.5) count in shares of the
 * picture as it is stored, and are moved with it. Crops of Camera Raw are not,
 * and a warning says so. */
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

/* Buffer size for one printed ratio, including its NUL. */
enum { XMP_RATIO_TEXT = 40 };

/* 17 digits tell any two doubles apart; 6 tell any two pixels apart. */
enum { DECIMALS_MAX = 17, DECIMALS_OF_POWER = 9, DECIMALS_SCALED = 6 };

/* Reads a number such as "0.25", with blanks around it, up to the character
 * `end`, and sets *text behind that. Returns false if it is malformed. */
static bool ratio_read(const char **text, char end, struct xmp_ratio *ratio)
{
    const char *at = *text;
    char *behind;
    ratio->value = strtod(at, &behind);
    const char *point = at + strcspn(at, ".,");
    ratio->decimals = 0;
    if (behind == at || !(fabs(ratio->value) < 1e6))
        return false;
    if (*point == '.' && point < behind)
        ratio->decimals = (int)strspn(point + 1, "0123456789");
    if (memchr(at, 'e', (size_t)(behind - at)) ||
        memchr(at, 'E', (size_t)(behind - at)))
        ratio->decimals = DECIMALS_OF_POWER;
    if (ratio->decimals > DECIMALS_MAX)
        ratio->decimals = DECIMALS_MAX;
    behind += strspn(behind, " \t\r\n");
    *text = behind + 1;
    return *behind == end;
}

/* Copies a value as a string. Returns false if it is too long for numbers. */
static bool copy_value(char *to, size_t room, const uint8_t *text,
                       struct xml_span value)
{
    if (value.size >= room || memchr(text + value.at, 0, value.size))
        return false;
    memcpy(to, text + value.at, value.size);
    to[value.size] = '\0';
    return true;
}

/* Reads a value that is nothing but a number. Returns false if it is not. */
static bool ratio_of(const uint8_t *text, struct xml_span value,
                     struct xmp_ratio *ratio)
{
    char copy[XMP_RATIO_TEXT];
    const char *at = copy;
    return copy_value(copy, sizeof copy, text, value) &&
           ratio_read(&at, '\0', ratio);
}

static struct xmp_ratio ratio_scaled(struct xmp_ratio ratio, double by)
{
    if (by == 1)
        return ratio;
    ratio.value *= by;
    if (ratio.decimals < DECIMALS_SCALED)
        ratio.decimals = DECIMALS_SCALED;
    return ratio;
}

/* Returns where a length that begins at `from` begins in the mirrored picture.
 */
static struct xmp_ratio ratio_mirrored(struct xmp_ratio from,
                                       struct xmp_ratio length)
{
    struct xmp_ratio ratio = { 1 - from.value - length.value, from.decimals };
    if (length.decimals > from.decimals)
        ratio.decimals = length.decimals;
    return ratio;
}

static void ratio_print(char text[XMP_RATIO_TEXT], struct xmp_ratio ratio)
{
    double value = ratio.value;
    if (fabs(value) < 0.5 * pow(10, -ratio.decimals))
        value = 0; /* never "-0.00" */
    snprintf(text, XMP_RATIO_TEXT, "%.*f", ratio.decimals, value);
}

/* ---- A packet that is edited ----------------------------------------------*/

/* What is edited, and is left together where there is no room for it. */
enum { EDIT_LENGTHS, EDIT_SIZES, EDIT_REGIONS, EDIT_IPTC, EDITS };

static const char *const edit_names[EDITS] = {
    [EDIT_LENGTHS] = "the new lengths of what stands behind the picture",
    [EDIT_SIZES] = "the sizes of what is left of the picture",
    [EDIT_REGIONS] = "regions moved with the picture",
    [EDIT_IPTC] = "IPTC image regions moved with the picture",
};

/* The boundary of a region of IPTC: a shape (rbShape), a unit (rbUnit), and as
 * rbX and rbY the corner at the top left of a rectangle, with rbW and rbH, the
 * center of a circle, with its radius rbRx in shares of the width, or each
 * point of a polygon. These come in any order, so all are read before any is
 * changed.
 */
struct boundary {
    bool within; /* it is being read */
    size_t tag;  /* where its name stands */
    enum { NO_SHAPE, RECTANGLE, CIRCLE, POLYGON } shape;
    bool relative;
    bool unread;                /* one of its numbers is malformed */
    struct xmp_ratio number[5]; /* X, Y, W, H and Rx */
    unsigned seen;              /* which of these there are */
};

/* Text on its way from a copy, in which names are changed, to what is made. */
struct splice {
    struct bytes copy, made;
    size_t done; /* of the copy */
    bool failed; /* no memory */
};

struct packet_edit {
    const struct change *change;
    const struct lengths *lengths;
    unsigned kinds;  /* 1 << EDIT_..., or-ed, of what is edited, */
    unsigned edited; /* and of what has been */
    struct splice text;
    struct xml_reader xml; /* of the copy */
    /* What is met on the way. */
    bool used[LENGTHS_MAX];
    bool sized;  /* within AppliedToDimensions */
    bool unread; /* a number of a region is malformed */
    bool left;   /* a region of IPTC is not understood */
    struct boundary boundary;
};

/* Puts `text` in the place of a span. One that begins before the end of the one
 * before is left as it is. */
static void put(struct packet_edit *w, unsigned kind, struct xml_span span,
                const char *text)
{
    struct splice *s = &w->text;
    if (span.at < s->done)
        return;
    if (!bytes_append(&s->made, s->copy.data + s->done, span.at - s->done) ||
        !bytes_append(&s->made, text, strlen(text)))
        s->failed = true;
    s->done = span.at + span.size;
    w->edited |= 1u << kind;
}

static void put_number(struct packet_edit *w, unsigned kind,
                       struct xml_span span, uint64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    put(w, kind, span, text);
}

static void put_ratio(struct packet_edit *w, unsigned kind,
                      struct xml_span value, struct xmp_ratio ratio)
{
    char text[XMP_RATIO_TEXT];
    ratio_print(text, ratio);
    put(w, kind, value, text);
}

/* ---- Lengths and sizes ----------------------------------------------------*/

/* Replaces the length of an item that is in the list. Both lists are in the
 * order of the file: each length is given once. */
static void edit_length(struct packet_edit *w, const struct xml_token *token)
{
    const struct lengths *lengths = w->lengths;
    uint64_t number;
    size_t i = 0;
    if (!xml_is(&w->xml, token->name, XMP_ITEM, "Length") ||
        !xml_number(&w->xml, token->value, &number))
        return;
    while (i < lengths->count && (w->used[i] || lengths->list[i].was != number))
        i++;
    if (i == lengths->count)
        return;
    put_number(w, EDIT_LENGTHS, token->value, lengths->list[i].is);
    w->used[i] = true;
}

static void edit_size(struct packet_edit *w, const struct xml_token *token)
{
    const struct change *change = w->change;
    const bool flip = xform_transposes(change->turn),
               wide = xml_is(&w->xml, token->name, XMP_TIFF, "ImageWidth") ||
                      xml_is(&w->xml, token->name, XMP_EXIF, "PixelXDimension"),
               high = xml_is(&w->xml, token->name, XMP_TIFF, "ImageLength") ||
                      xml_is(&w->xml, token->name, XMP_EXIF, "PixelYDimension");
    const uint32_t size =
        wide != flip ? change->kept_width : change->kept_height;
    uint64_t number;
    if ((wide || high) && size && xml_number(&w->xml, token->value, &number) &&
        number > size)
        put_number(w, EDIT_SIZES, token->value, size);
}

/* ---- mwg-rs and MPReg -----------------------------------------------------*/

enum axis { NO_AXIS, AXIS_X, AXIS_Y };

/* Returns of which axis a property is, one of two whose names differ in their
 * last letters. Where the turn exchanges axes, so are these, so that all
 * lengths stay. */
static enum axis exchange_axis(struct packet_edit *w,
                               const struct xml_token *token, unsigned kind,
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
        w->edited |= 1u << kind;
    }
    return axis;
}

/* Moves a property of a box, which has these names for where it begins, along
 * each axis, and for how far it reaches from there. Scales it, and where the
 * axis is mirrored, replaces x by 1 - x - length, with as many digits. */
static void turn_box(struct packet_edit *w, const struct xml_token *token,
                     unsigned kind, const char *const names[4],
                     const struct xmp_ratio length[2])
{
    const enum xmp_namespace space = kind == EDIT_IPTC ? XMP_IPTC : XMP_AREA;
    const enum xform t = w->change->turn;
    enum axis size = NO_AXIS,
              place = exchange_axis(w, token, kind, space, names[0], names[1]);
    if (!place)
        size = exchange_axis(w, token, kind, space, names[2], names[3]);
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
        w->unread |= kind == EDIT_REGIONS;
        return;
    }
    ratio = ratio_scaled(ratio, by);
    if (mirror)
        ratio = ratio_mirrored(ratio, ratio_scaled(length[!is_x], by));
    put_ratio(w, kind, token->value, ratio);
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
        enum axis axis =
            exchange_axis(w, token, EDIT_REGIONS, XMP_DIMENSIONS, "w", "h");
        const double by = axis == AXIS_X ? change_scale_x(w->change)
                                         : change_scale_y(w->change);
        struct xmp_ratio size;
        if (!axis || by == 1 || !token->value.size ||
            !ratio_of(w->xml.text, token->value, &size))
            return;
        size.value /= by;
        put_ratio(w, EDIT_REGIONS, token->value, size);
    }
}

/* "x, y, w, h" of a rectangle from its corner on. What is neither scaled nor
 * mirrored stays as it was written. */
static void turn_rectangle(struct packet_edit *w, struct xml_span value)
{
    char old[4 * XMP_RATIO_TEXT], part[4][XMP_RATIO_TEXT],
        turned[sizeof part + 8];
    const enum xform t = w->change->turn;
    struct xmp_ratio number[4];
    const char *at = old;
    bool read = copy_value(old, sizeof old, w->xml.text, value);
    for (int i = 0; i < 4 && read; i++) {
        double by =
            i % 2 ? change_scale_y(w->change) : change_scale_x(w->change);
        at += strspn(at, " \t\r\n");
        const char *from = at;
        size_t length = strcspn(from, " \t\r\n,");
        read = ratio_read(&at, i < 3 ? ',' : '\0', &number[i]);
        number[i] = ratio_scaled(number[i], by);
        ratio_print(part[i], number[i]);
        if (by == 1 && length < XMP_RATIO_TEXT) {
            memcpy(part[i], from, length);
            part[i][length] = '\0';
        }
    }
    w->unread |= !read;
    if (!read)
        return;
    int x = xform_transposes(t), y = !x;
    if (t & XFORM_MIRROR_X)
        ratio_print(part[x], ratio_mirrored(number[x], number[2 + x]));
    if (t & XFORM_MIRROR_Y)
        ratio_print(part[y], ratio_mirrored(number[y], number[2 + y]));
    snprintf(turned, sizeof turned, "%s, %s, %s, %s", part[x], part[y],
             part[2 + x], part[2 + y]);
    put(w, EDIT_REGIONS, value, turned);
}

/* ---- IPTC -----------------------------------------------------------------*/

static const char boundary_name[] = "RegionBoundary";

static const char *const boundary_numbers[] = { "rbX", "rbY", "rbW", "rbH",
                                                "rbRx" };

/* Returns whether a token belongs to an opening tag of a boundary. */
static bool opens(const struct xml_reader *xml, const struct xml_token *token)
{
    return token->kind != XML_CLOSING &&
           xml_is(xml, xml->element, XMP_IPTC, boundary_name);
}

static void note_boundary(struct boundary *b, const struct xml_reader *xml,
                          const struct xml_token *token)
{
    static const char *const shapes[] = {
        [RECTANGLE] = "rectangle", [CIRCLE] = "circle", [POLYGON] = "polygon"
    };
    const struct xml_span name = token->name, value = token->value;
    if (token->kind == XML_CLOSING)
        return;
    if (xml_is(xml, name, XMP_IPTC, "rbShape"))
        for (int i = RECTANGLE; i <= POLYGON; i++)
            if (xml_is_text(xml->text, value, shapes[i]))
                b->shape = i;
    if (xml_is(xml, name, XMP_IPTC, "rbUnit"))
        b->relative = xml_is_text(xml->text, value, "relative");
    for (unsigned i = 0; i < 5; i++)
        if (value.size && xml_is(xml, name, XMP_IPTC, boundary_numbers[i])) {
            if (!ratio_of(xml->text, value, &b->number[i]))
                b->unread = true;
            b->seen |= 1u << i;
        }
}

/* Reads a boundary from its first token to its end, or to where another one
 * begins: each byte is read once more at most. */
static struct boundary look_ahead(struct xml_reader xml, struct xml_token token)
{
    struct boundary b = { .within = true, .tag = xml.element.at };
    do {
        if (opens(&xml, &token) && xml.element.at != b.tag)
            break;
        if (token.kind == XML_CLOSING &&
            xml_is(&xml, token.name, XMP_IPTC, boundary_name))
            break;
        note_boundary(&b, &xml, &token);
    } while (xml_next(&xml, &token));
    return b;
}

static bool is_understood(const struct boundary *b, const struct change *change)
{
    enum { CORNER_AND_SIZE = 15 };
    if (!b->relative || b->unread)
        return false;
    if (b->shape == CIRCLE)
        return change->width && change->height;
    return b->shape == POLYGON ||
           (b->shape == RECTANGLE &&
            (b->seen & CORNER_AND_SIZE) == CORNER_AND_SIZE);
}

/* A radius, which is a share of the width, becomes one of what is the width
 * after the turn: the height, if axes are exchanged. */
static void turn_radius(struct packet_edit *w, const struct xml_token *token)
{
    const struct change *change = w->change;
    const uint32_t width = xform_transposes(change->turn) ? change->kept_height
                                                          : change->kept_width;
    struct xmp_ratio ratio;
    if (width == change->width || !token->value.size ||
        !xml_is(&w->xml, token->name, XMP_IPTC, "rbRx") ||
        !ratio_of(w->xml.text, token->value, &ratio))
        return;
    ratio = ratio_scaled(ratio, (double)change->width / width);
    put_ratio(w, EDIT_IPTC, token->value, ratio);
}

/* Moves what belongs to a boundary that is understood. */
static void turn_boundary(struct packet_edit *w, const struct xml_token *token)
{
    static const struct xmp_ratio no_length[2] = { { 0, 0 }, { 0, 0 } };
    const bool number = xml_is(&w->xml, token->name, XMP_IPTC, "rbX"),
               name = xml_is(&w->xml, token->name, XMP_IPTC, boundary_name);
    struct boundary *b = &w->boundary;
    if (opens(&w->xml, token) && (!b->within || w->xml.element.at != b->tag))
        *b = look_ahead(w->xml, *token);
    if (b->within && is_understood(b, w->change)) {
        turn_box(w, token, EDIT_IPTC, boundary_numbers,
                 b->shape == RECTANGLE ? &b->number[2] : no_length);
        turn_radius(w, token);
    } else if (number && token->kind != XML_CLOSING) {
        w->left = true;
    }
    b->within = b->within && !(name && xml_ends(token));
}

/* ---- All of a packet ------------------------------------------------------*/

/* What a packet holds before it is changed. */
struct found_regions {
    unsigned kinds;
    bool strange;       /* areas in other units than shares */
    bool crop, cropped; /* there is one; it was carried out already */
};

static struct found_regions find_regions(struct xml_reader xml)
{
    struct found_regions found = { 0 };
    struct xml_token token;
    while (xml_next(&xml, &token)) {
        const struct xml_span name = token.name;
        bool is_true = xml_is_text(xml.text, token.value, "True");
        if (token.kind == XML_CLOSING)
            continue;
        if (xml_is(&xml, name, XMP_AREA, "x") ||
            xml_is(&xml, name, XMP_AREA, "y") ||
            xml_is(&xml, name, XMP_MWG, applied) ||
            xml_is(&xml, name, XMP_MPREG, "Rectangle"))
            found.kinds |= 1u << EDIT_REGIONS;
        if (xml_is(&xml, name, XMP_IPTC, "rbX") ||
            xml_is(&xml, name, XMP_IPTC, "rbY"))
            found.kinds |= 1u << EDIT_IPTC;
        if (xml_is(&xml, name, XMP_AREA, "unit") &&
            !xml_is_text(xml.text, token.value, "normalized"))
            found.strange = true;
        if (xml_is(&xml, name, XMP_CAMERA_RAW, "HasCrop"))
            found.crop = is_true;
        if (xml_is(&xml, name, XMP_CAMERA_RAW, "AlreadyApplied"))
            found.cropped = is_true;
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
                        bool areas)
{
    static const char *const names[] = { "x", "y", "w", "h" };
    static const struct xmp_ratio from_center[2] = { { 0, 0 }, { 0, 0 } };
    struct splice *s = &w->text;
    struct xml_token token;
    if (!bytes_append(&s->copy, packet->data, packet->size))
        return false;
    w->xml = xml_open(s->copy.data, s->copy.size);
    while (xml_next(&w->xml, &token)) {
        if (w->kinds >> EDIT_LENGTHS & 1)
            edit_length(w, &token);
        if (w->kinds >> EDIT_SIZES & 1)
            edit_size(w, &token);
        if (w->kinds >> EDIT_IPTC & 1)
            turn_boundary(w, &token);
        if (!(w->kinds >> EDIT_REGIONS & 1))
            continue;
        if (areas)
            turn_box(w, &token, EDIT_REGIONS, names, from_center);
        turn_size(w, &token);
        if (token.value.size &&
            xml_is(&w->xml, token.name, XMP_MPREG, "Rectangle"))
            turn_rectangle(w, token.value);
    }
    return !s->failed &&
           bytes_append(&s->made, s->copy.data + s->done,
                        s->copy.size - s->done) &&
           keep_size(&s->made, packet->size);
}

/* Of what there is no room for, the last is left first. */
int xmp_edit(struct bytes *packet, size_t room, const struct change *change,
             const struct lengths *lengths, struct warnings *warnings,
             struct err *err)
{
    struct found_regions found = { 0 };
    bool unread = false, left = false;
    if (!change_is_none(change))
        found = find_regions(xml_open(packet->data, packet->size));
    unsigned kinds = found.kinds | (lengths->count > 0) << EDIT_LENGTHS |
                     change_trims(change) << EDIT_SIZES;
    while (kinds) {
        struct packet_edit w = { .change = change,
                                 .lengths = lengths,
                                 .kinds = kinds };
        const bool made = make_edited(&w, packet, !found.strange);
        const bool kept = made && (!w.edited || w.text.made.size <= room);
        bytes_free(&w.text.copy);
        bytes_free(kept ? packet : &w.text.made);
        if (!made)
            return fail_memory(err, "no memory for XMP");
        unread |= w.unread;
        left |= w.left;
        if (kept) {
            *packet = w.text.made;
            break;
        }
        const int last = 31 - __builtin_clz(w.edited);
        warn(warnings, "XMP has no room for %s, so they stay as they were",
             edit_names[last]);
        kinds &= ~(1u << last);
    }
    if (unread || found.strange)
        warn(warnings, "a region in XMP is not understood, so it was not moved "
                       "with the picture");
    if (found.crop && !found.cropped)
        warn(warnings, "the Camera Raw crop in XMP was not turned with the "
                       "picture");
    if (left)
        warn(warnings,
             "an IPTC image region in XMP is not relative to the size "
             "of the picture, so it was not moved with it");
    return 0;
}
