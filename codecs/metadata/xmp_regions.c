/* Regions of the picture in an XMP packet: faces, mostly. */
#include "codecs/metadata/xmp_regions.h"

#include <stdio.h>
#include <string.h>

#include "codecs/metadata/xml.h"
#include "codecs/metadata/xmp_edit.h"
#include "codecs/metadata/xmp_ratio.h"

enum { MWG, AREA, SIZE, MPREG, CRS, SPACES };
static const struct xmlns namespaces[SPACES] = {
    [MWG] = { "http://www.metadataworkinggroup.com/schemas/regions/",
              "mwg-rs" },
    [AREA] = { "http://ns.adobe.com/xmp/sType/Area#", "stArea" },
    [SIZE] = { "http://ns.adobe.com/xap/1.0/sType/Dimensions#", "stDim" },
    [MPREG] = { "http://ns.microsoft.com/photo/1.2/t/Region#", "MPReg" },
    [CRS] = { "http://ns.adobe.com/camera-raw-settings/1.0/", "crs" },
};

/* What a packet holds before it is changed. */
struct found {
    bool regions;       /* that we move */
    bool strange;       /* areas in other units than shares */
    bool crop, cropped; /* there is one; it was carried out already */
};

struct region_turn {
    enum xform t;
    double by_x, by_y; /* change_scale_x(), change_scale_y() */
    struct xml_namespace spaces[SPACES];
    struct found found;
    bool in_size; /* within mwg-rs:AppliedToDimensions */
    bool unread;  /* a number is malformed */
    struct xmp_edit edit;
};

/* ---- mwg-rs ---------------------------------------------------------------*/

/* x and y, w and h are each one letter, so that the axes are exchanged by their
 * names alone, and all lengths stay. */
static void exchange_letters(uint8_t *text, struct xml_span name, char a,
                             char b)
{
    char *letter = (char *)&text[name.at + name.size - 1];
    *letter = *letter == a ? b : a;
}

static bool is_either(const uint8_t *text, struct xml_span name,
                      const struct xml_namespace *space, const char *a,
                      const char *b)
{
    return xml_is_named(text, name, space, a) ||
           xml_is_named(text, name, space, b);
}

/* Along an axis of the picture after the turn: `x` says which. */
static double scale_of(const struct region_turn *w, bool x)
{
    return x != xform_transposes(w->t) ? w->by_x : w->by_y;
}

/* Scales a number and, where the axis is mirrored, replaces x, the center of an
 * area, by 1 - x, with as many digits. */
static void move_number(struct region_turn *w, const uint8_t *text,
                        struct xml_span value, double by, bool mirror)
{
    char turned[XMP_RATIO_TEXT];
    struct xmp_ratio ratio;
    value = xml_trim(text, value);
    if (!value.size || (by == 1 && !mirror))
        return; /* the element that a structure is in has no value */
    if (!xmp_ratio_of(text, value, &ratio)) {
        w->unread = true;
        return;
    }
    ratio = xmp_ratio_scaled(ratio, by);
    if (mirror)
        ratio = xmp_ratio_mirrored(ratio, (struct xmp_ratio){ 0 });
    xmp_ratio_print(turned, ratio);
    xmp_edit_span(&w->edit, value, turned);
}

static void turn_area(struct region_turn *w, uint8_t *text,
                      const struct xml_token *token)
{
    const struct xml_namespace *area = &w->spaces[AREA];
    bool exchanged = xform_transposes(w->t);
    bool valued = token->kind != XML_CLOSING;
    const uint8_t *last = &text[token->name.at + token->name.size - 1];
    if (w->found.strange)
        return;
    if (is_either(text, token->name, area, "x", "y")) {
        if (exchanged)
            exchange_letters(text, token->name, 'x', 'y');
        bool x = *last == 'x';
        if (valued)
            move_number(w, text, token->value, scale_of(w, x),
                        w->t & (x ? XFORM_MIRROR_X : XFORM_MIRROR_Y));
    } else if (is_either(text, token->name, area, "w", "h")) {
        if (exchanged)
            exchange_letters(text, token->name, 'w', 'h');
        if (valued)
            move_number(w, text, token->value, scale_of(w, *last == 'w'),
                        false);
    }
}

/* A size that the regions apply to is trimmed in proportion. */
static void trim_size(struct region_turn *w, const uint8_t *text,
                      struct xml_span value, bool x)
{
    char trimmed[XMP_RATIO_TEXT];
    struct xmp_ratio size;
    value = xml_trim(text, value);
    if (scale_of(w, x) == 1 || !value.size || !xmp_ratio_of(text, value, &size))
        return;
    size.value /= scale_of(w, x);
    xmp_ratio_print(trimmed, size);
    xmp_edit_span(&w->edit, value, trimmed);
}

/* The picture's size, but not that of a page, which is of the same type. */
static void turn_size(struct region_turn *w, uint8_t *text,
                      const struct xml_token *token, struct xml_span element)
{
    const struct xml_namespace *mwg = &w->spaces[MWG];
    const char *applied = "AppliedToDimensions";
    bool in_tag = token->kind == XML_ATTRIBUTE &&
                  xml_is_named(text, element, mwg, applied);
    if (token->kind != XML_ATTRIBUTE &&
        xml_is_named(text, token->name, mwg, applied))
        w->in_size = token->kind == XML_ELEMENT && !token->empty;
    else if ((w->in_size || in_tag) &&
             is_either(text, token->name, &w->spaces[SIZE], "w", "h")) {
        if (xform_transposes(w->t))
            exchange_letters(text, token->name, 'w', 'h');
        if (token->kind != XML_CLOSING)
            trim_size(w, text, token->value,
                      text[token->name.at + token->name.size - 1] == 'w');
    }
}

/* ---- MPReg ----------------------------------------------------------------*/

/* What is neither scaled nor mirrored stays as it was written. */
static void keep_text(char part[XMP_RATIO_TEXT], const char *begin)
{
    size_t length = strcspn(begin, " \t\r\n,");
    if (length >= XMP_RATIO_TEXT)
        return;
    memcpy(part, begin, length);
    part[length] = '\0';
}

/* "x, y, w, h" of a rectangle from its corner on. */
static void turn_rectangle(struct region_turn *w, const uint8_t *text,
                           const struct xml_token *token)
{
    char old[4 * XMP_RATIO_TEXT], part[4][XMP_RATIO_TEXT],
        turned[sizeof part + 8];
    struct xmp_ratio number[4];
    const char *at = old;
    struct xml_span value = xml_trim(text, token->value);
    bool read = xmp_ratio_copy(old, sizeof old, text, value), flip;
    if (!value.size)
        return;
    for (int i = 0; i < 4 && read; i++) {
        double by = i % 2 ? w->by_y : w->by_x;
        at += strspn(at, " \t\r\n");
        const char *begin = at;
        read = xmp_ratio_read(&at, i < 3 ? ',' : '\0', &number[i]);
        number[i] = xmp_ratio_scaled(number[i], by);
        xmp_ratio_print(part[i], number[i]);
        if (by == 1)
            keep_text(part[i], begin);
    }
    w->unread |= !read;
    if (!read)
        return;
    flip = xform_transposes(w->t);
    int x = flip, y = !flip;
    if (w->t & XFORM_MIRROR_X)
        xmp_ratio_print(part[x], xmp_ratio_mirrored(number[x], number[2 + x]));
    if (w->t & XFORM_MIRROR_Y)
        xmp_ratio_print(part[y], xmp_ratio_mirrored(number[y], number[2 + y]));
    snprintf(turned, sizeof turned, "%s, %s, %s, %s", part[x], part[y],
             part[2 + x], part[2 + y]);
    xmp_edit_span(&w->edit, value, turned);
}

/* ---- All of it ------------------------------------------------------------*/

static void look(struct found *found, const uint8_t *text,
                 const struct xml_token *token,
                 const struct xml_namespace *spaces)
{
    struct xml_span name = token->name, value = xml_trim(text, token->value);
    if (token->kind == XML_CLOSING)
        return;
    if (is_either(text, name, &spaces[AREA], "x", "y") ||
        xml_is_named(text, name, &spaces[MWG], "AppliedToDimensions") ||
        xml_is_named(text, name, &spaces[MPREG], "Rectangle"))
        found->regions = true;
    if (xml_is_named(text, name, &spaces[AREA], "unit") &&
        !xml_is_text(text, value, "normalized"))
        found->strange = true;
    if (xml_is_named(text, name, &spaces[CRS], "HasCrop"))
        found->crop = xml_is_text(text, value, "True");
    if (xml_is_named(text, name, &spaces[CRS], "AlreadyApplied"))
        found->cropped = xml_is_text(text, value, "True");
}

static void turn_token(struct region_turn *w, uint8_t *text,
                       const struct xml_token *token, struct xml_span element)
{
    turn_area(w, text, token);
    turn_size(w, text, token, element);
    if (token->kind != XML_CLOSING &&
        xml_is_named(text, token->name, &w->spaces[MPREG], "Rectangle"))
        turn_rectangle(w, text, token);
}

static void warn_of(const struct region_turn *w, struct warnings *warnings)
{
    if (w->found.strange || w->unread)
        warn(warnings, "a region in XMP is not understood, so it was not moved "
                       "with the picture");
    if (w->found.crop && !w->found.cropped)
        warn(warnings, "the Camera Raw crop in XMP was not turned with the "
                       "picture");
}

/* Names are changed in a copy, and values on the way from the copy to the
 * edited packet. The packet itself stays as it is until the edit ends. */
int xmp_regions_turn(struct bytes *packet, size_t room,
                     const struct change *change, struct warnings *warnings,
                     struct err *err)
{
    struct region_turn w = { .t = change->turn,
                             .by_x = change_scale_x(change),
                             .by_y = change_scale_y(change) };
    struct bytes copy = { 0 };
    struct xml_token token;
    struct xml_reader xml = { .text = packet->data, .size = packet->size };

    if (change_is_none(change))
        return 0;
    xml_find_namespaces(packet->data, packet->size, w.spaces, namespaces,
                        SPACES);
    while (xml_next(&xml, &token))
        look(&w.found, packet->data, &token, w.spaces);
    if (!w.found.regions) {
        warn_of(&w, warnings);
        return 0;
    }
    if (!bytes_append(&copy, packet->data, packet->size))
        return fail_memory(err, "no memory for XMP");
    w.edit.from = copy;
    xml = (struct xml_reader){ .text = copy.data, .size = copy.size };
    while (xml_next(&xml, &token))
        turn_token(&w, copy.data, &token, xml.element);
    warn_of(&w, warnings);
    int status = xmp_edit_end(&w.edit, packet, room,
                              "there is no room to move the regions in XMP "
                              "with the picture",
                              warnings, err);
    bytes_free(&copy);
    return status;
}
