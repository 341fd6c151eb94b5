/* Regions of the picture in an XMP packet: faces, mostly.
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

/* ---- A packet whose regions are moved -------------------------------------*/

struct region_turn {
    const struct change *change;
    double by_x, by_y; /* change_scale_x(), change_scale_y() */
    struct xml_namespaces namespaces;
    struct bytes copy; /* of the packet, in which names are changed; values are
                          on the way from there to the edited packet */
    struct xml_reader xml; /* of the packet, then of the copy */
    struct xmp_edit edit;
    bool unread; /* a number is malformed */
};

/* Begins to read the packet, which must stay until the edit ends. */
static void begin(struct region_turn *w, const struct bytes *packet,
                  const struct change *change)
{
    *w = (struct region_turn){ .change = change,
                               .by_x = change_scale_x(change),
                               .by_y = change_scale_y(change) };
    w->xml = xml_open(&w->namespaces, packet->data, packet->size);
}

/* Begins to read it once more, to change it. */
static int begin_edit(struct region_turn *w, struct err *err)
{
    if (!bytes_append(&w->copy, w->xml.text, w->xml.size))
        return fail_memory(err, "no memory for XMP");
    w->edit.from = w->copy;
    w->xml = (struct xml_reader){ .text = w->copy.data,
                                  .size = w->copy.size,
                                  .namespaces = &w->namespaces };
    return 0;
}

static void put_ratio(struct region_turn *w, struct xml_span value,
                      struct xmp_ratio ratio)
{
    char text[XMP_RATIO_TEXT];
    ratio_print(text, ratio);
    xmp_edit_span(&w->edit, value, text);
}

enum axis { NO_AXIS, AXIS_X, AXIS_Y };

/* Returns of which axis a property is, one of two whose names differ in their
 * last letters. Where the turn exchanges axes, so are these, so that all
 * lengths stay. */
static enum axis exchange_axis(struct region_turn *w,
                               const struct xml_token *token,
                               enum xmp_namespace space, const char *x,
                               const char *y)
{
    enum axis axis = xml_is(&w->xml, token->name, space, x)   ? AXIS_X
                     : xml_is(&w->xml, token->name, space, y) ? AXIS_Y
                                                              : NO_AXIS;
    const char *becomes = axis == AXIS_X ? y : x;
    if (axis && xform_transposes(w->change->turn))
        w->copy.data[token->name.at + token->name.size - 1] =
            (uint8_t)becomes[strlen(becomes) - 1];
    return axis;
}

/* Moves a property of a box, which has these names for where it begins, along
 * each axis, and for how far it reaches from there. Scales it, and where the
 * axis is mirrored, replaces x by 1 - x - length, with as many digits. */
static void turn_box(struct region_turn *w, const struct xml_token *token,
                     enum xmp_namespace space, const char *const names[4],
                     const struct xmp_ratio length[2])
{
    const enum xform t = w->change->turn;
    enum axis size = NO_AXIS,
              place = exchange_axis(w, token, space, names[0], names[1]);
    if (!place)
        size = exchange_axis(w, token, space, names[2], names[3]);
    const bool is_x = place == AXIS_X || size == AXIS_X,
               becomes_x = is_x != xform_transposes(t),
               mirror =
                   place && t & (becomes_x ? XFORM_MIRROR_X : XFORM_MIRROR_Y);
    const double by = is_x ? w->by_x : w->by_y;
    struct xmp_ratio ratio;
    if ((!place && !size) || !token->value.size || (by == 1 && !mirror))
        return; /* the element that a structure is in has no value */
    if (!ratio_of(w->xml.text, token->value, &ratio)) {
        w->unread = true;
        return;
    }
    ratio = ratio_scaled(ratio, by);
    if (mirror)
        ratio = ratio_mirrored(ratio, ratio_scaled(length[!is_x], by));
    put_ratio(w, token->value, ratio);
}

/* ---- mwg-rs and MPReg -----------------------------------------------------*/

/* The size that the regions apply to is trimmed in proportion, but not that of
 * a page, which is of the same type. */
static void turn_size(struct region_turn *w, const struct xml_token *token,
                      bool *within)
{
    static const char applied[] = "AppliedToDimensions";
    const bool attribute = token->kind == XML_ATTRIBUTE;
    if (!attribute && xml_is(&w->xml, token->name, XMP_MWG, applied))
        *within = !xml_ends(token);
    else if (*within ||
             (attribute && xml_is(&w->xml, w->xml.element, XMP_MWG, applied))) {
        enum axis axis = exchange_axis(w, token, XMP_DIMENSIONS, "w", "h");
        const double by = axis == AXIS_X ? w->by_x : w->by_y;
        struct xmp_ratio size;
        if (!axis || by == 1 || !token->value.size ||
            !ratio_of(w->xml.text, token->value, &size))
            return;
        size.value /= by;
        put_ratio(w, token->value, size);
    }
}

/* "x, y, w, h" of a rectangle from its corner on. What is neither scaled nor
 * mirrored stays as it was written. */
static void turn_rectangle(struct region_turn *w, struct xml_span value)
{
    char old[4 * XMP_RATIO_TEXT], part[4][XMP_RATIO_TEXT],
        turned[sizeof part + 8];
    const enum xform t = w->change->turn;
    struct xmp_ratio number[4];
    const char *at = old;
    bool read = copy_value(old, sizeof old, w->xml.text, value);
    for (int i = 0; i < 4 && read; i++) {
        double by = i % 2 ? w->by_y : w->by_x;
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
    xmp_edit_span(&w->edit, value, turned);
}

/* What a packet holds before it is changed. */
struct found_regions {
    bool any;           /* that we move */
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
            xml_is(&xml, name, XMP_MWG, "AppliedToDimensions") ||
            xml_is(&xml, name, XMP_MPREG, "Rectangle"))
            found.any = true;
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

int xmp_regions_turn(struct bytes *packet, size_t room,
                     const struct change *change, struct warnings *warnings,
                     struct err *err)
{
    static const char *const names[] = { "x", "y", "w", "h" };
    static const struct xmp_ratio from_center[2] = { { 0, 0 }, { 0, 0 } };
    struct region_turn w;
    struct xml_token token;
    bool within_size = false;
    if (change_is_none(change))
        return 0;
    begin(&w, packet, change);
    const struct found_regions found = find_regions(w.xml);
    if (found.any && begin_edit(&w, err))
        return -1;
    while (found.any && xml_next(&w.xml, &token)) {
        if (!found.strange)
            turn_box(&w, &token, XMP_AREA, names, from_center);
        turn_size(&w, &token, &within_size);
        if (token.value.size &&
            xml_is(&w.xml, token.name, XMP_MPREG, "Rectangle"))
            turn_rectangle(&w, token.value);
    }
    if (found.strange || w.unread)
        warn(warnings, "a region in XMP is not understood, so it was not moved "
                       "with the picture");
    if (found.crop && !found.cropped)
        warn(warnings, "the Camera Raw crop in XMP was not turned with the "
                       "picture");
    int status = xmp_edit_end(&w.edit, packet, room,
                              "regions moved with the picture", warnings, err);
    bytes_free(&w.copy);
    return status;
}

/* ---- IPTC -----------------------------------------------------------------
 *
 * A RegionBoundary has a shape (rbShape), a unit (rbUnit), and as rbX and rbY
 * the corner at the top left of a rectangle, with rbW and rbH, the center of a
 * circle, with its radius rbRx in shares of the width, or each point of a
 * polygon. These come in any order, so all are read before any is changed. */

static const char boundary_name[] = "RegionBoundary";

struct boundary {
    size_t tag; /* where its name stands */
    enum { NO_SHAPE, RECTANGLE, CIRCLE, POLYGON } shape;
    bool relative;
    bool unread;                /* one of its numbers is malformed */
    struct xmp_ratio number[5]; /* X, Y, W, H and Rx */
    unsigned seen;              /* which of these there are */
};

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

/* Reads a boundary to its end, or to where another one begins: each byte is
 * read once more at most. */
static struct boundary look_ahead(struct xml_reader xml, size_t tag)
{
    struct boundary b = { .tag = tag };
    struct xml_token token;
    while (xml_next(&xml, &token)) {
        if (opens(&xml, &token) && xml.element.at != tag)
            break;
        if (token.kind == XML_CLOSING &&
            xml_is(&xml, token.name, XMP_IPTC, boundary_name))
            break;
        note_boundary(&b, &xml, &token);
    }
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
static void turn_radius(struct region_turn *w, const struct xml_token *token)
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
    put_ratio(w, token->value, ratio);
}

static bool has_boundaries(struct xml_reader xml)
{
    struct xml_token token;
    while (xml_next(&xml, &token))
        if (xml_is(&xml, token.name, XMP_IPTC, "rbX") ||
            xml_is(&xml, token.name, XMP_IPTC, "rbY"))
            return true;
    return false;
}

int xmp_iptc_turn(struct bytes *packet, size_t room,
                  const struct change *change, struct warnings *warnings,
                  struct err *err)
{
    static const struct xmp_ratio no_length[2] = { { 0, 0 }, { 0, 0 } };
    struct region_turn w;
    struct xml_token token;
    struct boundary b = { 0 };
    bool within = false, left = false; /* one was not understood */
    if (change_is_none(change))
        return 0;
    begin(&w, packet, change);
    if (!has_boundaries(w.xml))
        return 0;
    if (begin_edit(&w, err))
        return -1;
    for (struct xml_reader before = w.xml; xml_next(&w.xml, &token);
         before = w.xml) {
        const bool number = xml_is(&w.xml, token.name, XMP_IPTC, "rbX"),
                   boundary =
                       xml_is(&w.xml, token.name, XMP_IPTC, boundary_name);
        if (opens(&w.xml, &token) && (!within || w.xml.element.at != b.tag)) {
            within = true;
            b = look_ahead(before, w.xml.element.at);
        }
        if (within && is_understood(&b, change)) {
            turn_box(&w, &token, XMP_IPTC, boundary_numbers,
                     b.shape == RECTANGLE ? &b.number[2] : no_length);
            turn_radius(&w, &token);
        } else if (number && token.kind != XML_CLOSING) {
            left = true;
        }
        within = within && !(boundary && xml_ends(&token));
    }
    if (left)
        warn(warnings,
             "an IPTC image region in XMP is not relative to the size "
             "of the picture, so it was not moved with it");
    int status = xmp_edit_end(&w.edit, packet, room,
                              "IPTC image regions moved with the picture",
                              warnings, err);
    bytes_free(&w.copy);
    return status;
}
