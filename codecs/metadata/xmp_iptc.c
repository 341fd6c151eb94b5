/* Image regions of IPTC in an XMP packet.
 *
 * A RegionBoundary has a shape (rbShape), a unit (rbUnit), and as rbX and rbY
 * the corner at the top left of a rectangle, with rbW and rbH, the center of a
 * circle, with its radius rbRx in shares of the width, or each point of a
 * polygon (IPTC Photo Metadata Standard, 15.5). These come in any order, so
 * all are read before any is changed. */
#include "codecs/metadata/xmp_iptc.h"

#include "codecs/metadata/xmp_edit.h"
#include "codecs/metadata/xmp_ratio.h"

static const struct xmlns iptc = {
    "http://iptc.org/std/Iptc4xmpExt/2008-02-29/", "Iptc4xmpExt"
};

struct boundary {
    size_t tag; /* where its name stands */
    enum { NO_SHAPE, RECTANGLE, CIRCLE, POLYGON } shape;
    bool relative;
    bool unread;                 /* one of its numbers is malformed */
    struct xmp_ratio x, y, w, h; /* of a rectangle */
    unsigned seen;               /* which of these there are */
};
enum { SEEN_X = 1, SEEN_Y = 2, SEEN_W = 4, SEEN_H = 8, SEEN_ALL = 15 };

struct iptc_turn {
    const struct change *change;
    struct xml_namespace space;
    double by_x, by_y; /* change_scale_x(), change_scale_y() */
    bool within;       /* a boundary */
    struct boundary boundary;
    bool left; /* one was not understood */
    struct xmp_edit edit;
};

static bool is(const struct iptc_turn *w, const uint8_t *text,
               struct xml_span name, const char *local)
{
    return xml_is_named(text, name, &w->space, local);
}

/* Returns whether a token belongs to an opening tag of a boundary, and sets
 * *tag to where the name of that stands. */
static bool opens(const struct iptc_turn *w, const uint8_t *text,
                  const struct xml_token *token, struct xml_span element,
                  size_t *tag)
{
    if (token->kind == XML_CLOSING)
        return false;
    *tag = element.at;
    return is(w, text, element, "RegionBoundary");
}

static void take(struct boundary *b, const uint8_t *text, struct xml_span value,
                 struct xmp_ratio *ratio, unsigned which)
{
    if (!value.size)
        return;
    if (!xmp_ratio_of(text, value, ratio))
        b->unread = true;
    b->seen |= which;
}

static void note(const struct iptc_turn *w, struct boundary *b,
                 const uint8_t *text, const struct xml_token *token)
{
    static const char *const shapes[] = {
        [RECTANGLE] = "rectangle", [CIRCLE] = "circle", [POLYGON] = "polygon"
    };
    struct xml_span name = token->name, value = xml_trim(text, token->value);
    struct xmp_ratio radius;
    if (token->kind == XML_CLOSING)
        return;
    if (is(w, text, name, "rbShape"))
        for (int i = RECTANGLE; i <= POLYGON; i++)
            if (xml_is_text(text, value, shapes[i]))
                b->shape = i;
    if (is(w, text, name, "rbUnit"))
        b->relative = xml_is_text(text, value, "relative");
    if (is(w, text, name, "rbX"))
        take(b, text, value, &b->x, SEEN_X);
    if (is(w, text, name, "rbY"))
        take(b, text, value, &b->y, SEEN_Y);
    if (is(w, text, name, "rbW"))
        take(b, text, value, &b->w, SEEN_W);
    if (is(w, text, name, "rbH"))
        take(b, text, value, &b->h, SEEN_H);
    if (is(w, text, name, "rbRx"))
        take(b, text, value, &radius, 0);
}

/* Reads a boundary to its end, or to where another one begins: each byte is
 * read once more at most. */
static struct boundary look_ahead(const struct iptc_turn *w,
                                  struct xml_reader xml, size_t tag)
{
    struct boundary b = { .tag = tag };
    struct xml_token token;
    size_t other;
    while (xml_next(&xml, &token)) {
        if (opens(w, xml.text, &token, xml.element, &other) && other != tag)
            break;
        if (token.kind == XML_CLOSING &&
            is(w, xml.text, token.name, "RegionBoundary"))
            break;
        note(w, &b, xml.text, &token);
    }
    return b;
}

static bool is_understood(const struct iptc_turn *w)
{
    const struct boundary *b = &w->boundary;
    if (!b->relative || b->unread)
        return false;
    if (b->shape == CIRCLE)
        return w->change->width && w->change->height;
    return b->shape == POLYGON ||
           (b->shape == RECTANGLE && b->seen == SEEN_ALL);
}

/* ---- The turn -------------------------------------------------------------*/

static void put(struct iptc_turn *w, struct xml_span value,
                struct xmp_ratio ratio)
{
    char text[XMP_RATIO_TEXT];
    xmp_ratio_print(text, ratio);
    xmp_edit_span(&w->edit, value, text);
}

/* Along an axis of the picture after the turn: `x` says which. */
static void move_place(struct iptc_turn *w, const uint8_t *text,
                       struct xml_span value, bool x)
{
    const struct boundary *b = &w->boundary;
    bool of_x = x != xform_transposes(w->change->turn);
    bool mirror = w->change->turn & (x ? XFORM_MIRROR_X : XFORM_MIRROR_Y);
    double by = of_x ? w->by_x : w->by_y;
    struct xmp_ratio from, length = { 0 };
    if ((!mirror && by == 1) || !xmp_ratio_of(text, value, &from))
        return;
    from = xmp_ratio_scaled(from, by);
    if (b->shape == RECTANGLE)
        length = xmp_ratio_scaled(of_x ? b->w : b->h, by);
    put(w, value, mirror ? xmp_ratio_mirrored(from, length) : from);
}

static void scale(struct iptc_turn *w, const uint8_t *text,
                  struct xml_span value, double by)
{
    struct xmp_ratio ratio;
    if (by != 1 && xmp_ratio_of(text, value, &ratio))
        put(w, value, xmp_ratio_scaled(ratio, by));
}

/* What a ratio of the width becomes, which is the height before an exchange. */
static double radius_by(const struct change *change)
{
    uint32_t width = xform_transposes(change->turn) ? change->kept_height
                                                    : change->kept_width;
    return width == change->width ? 1 : (double)change->width / width;
}

/* The axes are exchanged by the last letters of names. */
static bool exchange(const struct iptc_turn *w, uint8_t *text,
                     struct xml_span name, char a, char b)
{
    char *letter = (char *)&text[name.at + name.size - 1];
    if (xform_transposes(w->change->turn))
        *letter = *letter == a ? b : a;
    return *letter == a;
}

static void turn_token(struct iptc_turn *w, uint8_t *text,
                       const struct xml_token *token)
{
    struct xml_span name = token->name, value = xml_trim(text, token->value);
    bool valued = token->kind != XML_CLOSING && value.size;
    if (is(w, text, name, "rbX") || is(w, text, name, "rbY")) {
        bool x = exchange(w, text, name, 'X', 'Y');
        if (valued)
            move_place(w, text, value, x);
    } else if (is(w, text, name, "rbW") || is(w, text, name, "rbH")) {
        bool x = exchange(w, text, name, 'W', 'H');
        bool of_x = x != xform_transposes(w->change->turn);
        if (valued)
            scale(w, text, value, of_x ? w->by_x : w->by_y);
    } else if (valued && is(w, text, name, "rbRx")) {
        scale(w, text, value, radius_by(w->change));
    }
}

/* `before` stands where the token was read. */
static void follow(struct iptc_turn *w, uint8_t *text,
                   const struct xml_token *token,
                   const struct xml_reader *before,
                   const struct xml_reader *xml)
{
    bool number = is(w, text, token->name, "rbX");
    size_t tag;
    if (opens(w, text, token, xml->element, &tag) &&
        (!w->within || tag != w->boundary.tag)) {
        w->within = true;
        w->boundary = look_ahead(w, *before, tag);
    }
    bool moves = w->within && is_understood(w);
    if (moves)
        turn_token(w, text, token);
    else if (number && token->kind != XML_CLOSING)
        w->left = true;
    bool ends = token->kind == XML_CLOSING ||
                (token->kind == XML_ELEMENT && token->empty);
    if (ends && is(w, text, token->name, "RegionBoundary"))
        w->within = false;
}

static bool has_regions(const struct iptc_turn *w, const struct bytes *packet)
{
    struct xml_reader xml = { .text = packet->data, .size = packet->size };
    struct xml_token token;
    while (xml_next(&xml, &token))
        if (is(w, packet->data, token.name, "rbX") ||
            is(w, packet->data, token.name, "rbY"))
            return true;
    return false;
}

int xmp_iptc_turn(struct bytes *packet, size_t room,
                  const struct change *change, struct warnings *warnings,
                  struct err *err)
{
    struct iptc_turn w = { .change = change,
                           .by_x = change_scale_x(change),
                           .by_y = change_scale_y(change) };
    struct bytes copy = { 0 };
    struct xml_token token;
    if (change_is_none(change))
        return 0;
    xml_find_namespaces(packet->data, packet->size, &w.space, &iptc, 1);
    if (!has_regions(&w, packet))
        return 0;
    if (!bytes_append(&copy, packet->data, packet->size))
        return fail_memory(err, "no memory for XMP");
    w.edit.from = copy;
    struct xml_reader xml = { .text = copy.data, .size = copy.size },
                      before = xml;
    for (; xml_next(&xml, &token); before = xml)
        follow(&w, copy.data, &token, &before, &xml);
    if (w.left)
        warn(warnings,
             "an IPTC image region in XMP is not relative to the size "
             "of the picture, so it was not moved with it");
    int status = xmp_edit_end(&w.edit, packet, room,
                              "there is no room to move the IPTC image regions "
                              "in XMP with the picture",
                              warnings, err);
    bytes_free(&copy);
    return status;
}
