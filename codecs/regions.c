/* Places in the picture of which an XMP packet tells: faces, mostly. */
#include "codecs/regions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/rewrite.h"
#include "codecs/xml.h"

enum { MWG, AREA, SIZE, MPREG, CRS, IPTC, SPACES };
static const struct xmlns namespaces[SPACES] = {
    [MWG] = { "http://www.metadataworkinggroup.com/schemas/regions/",
              "mwg-rs" },
    [AREA] = { "http://ns.adobe.com/xmp/sType/Area#", "stArea" },
    [SIZE] = { "http://ns.adobe.com/xap/1.0/sType/Dimensions#", "stDim" },
    [MPREG] = { "http://ns.microsoft.com/photo/1.2/t/Region#", "MPReg" },
    [CRS] = { "http://ns.adobe.com/camera-raw-settings/1.0/", "crs" },
    [IPTC] = { "http://iptc.org/std/Iptc4xmpExt/2008-02-29/", "Iptc4xmpExt" },
};

/* What a packet says of places, before anything is changed. */
struct found {
    bool regions; /* that we move */
    bool strange; /* areas in other units than shares */
    bool iptc;
    bool crop, cropped; /* there is one; it was carried out already */
};

struct work {
    enum xform t;
    struct space spaces[SPACES];
    struct found found;
    bool in_size; /* within mwg-rs:AppliedToDimensions */
    bool unread;  /* a number was none */
    struct rewrite rewrite;
};

/* ---- Numbers --------------------------------------------------------------*/

/* A number of XMP, and how many digits follow its point. */
struct number {
    double value;
    int decimals;
};

/* 17 digits tell any two doubles apart. */
enum { DECIMALS_MAX = 17, DECIMALS_OF_POWER = 9, NUMBER_MAX = 40 };

/* Reads "0.25" and the like, up to `end`, with blanks around. */
static bool read_number(const char **text, char end, struct number *number)
{
    const char *at = *text;
    char *behind;
    number->value = strtod(at, &behind);
    size_t length = strcspn(at, ".,");
    const char *point = at + length;
    number->decimals = 0;
    if (behind == at || !(fabs(number->value) < 1e6))
        return false;
    if (*point == '.' && point < behind)
        number->decimals = (int)strspn(point + 1, "0123456789");
    if (memchr(at, 'e', (size_t)(behind - at)) ||
        memchr(at, 'E', (size_t)(behind - at)))
        number->decimals = DECIMALS_OF_POWER;
    if (number->decimals > DECIMALS_MAX)
        number->decimals = DECIMALS_MAX;
    behind += strspn(behind, " \t\r\n");
    *text = behind + 1;
    return *behind == end;
}

/* Where a length that begins at `from` begins in the mirror. */
static void print_mirrored(char text[NUMBER_MAX], struct number from,
                           struct number length)
{
    int decimals =
        from.decimals > length.decimals ? from.decimals : length.decimals;
    double value = 1 - from.value - length.value;
    if (fabs(value) < 0.5 * pow(10, -decimals))
        value = 0; /* never "-0.00" */
    snprintf(text, NUMBER_MAX, "%.*f", decimals, value);
}

/* The value as a string; false: it is too long for numbers. */
static bool copy_value(char *to, size_t room, const uint8_t *text,
                       struct span value)
{
    if (value.size >= room || memchr(text + value.at, 0, value.size))
        return false;
    memcpy(to, text + value.at, value.size);
    to[value.size] = '\0';
    return true;
}

/* ---- mwg-rs ---------------------------------------------------------------*/

/* x and y, w and h are each one letter, so that the axes are exchanged by their
 * names alone, and all lengths stay. */
static void exchange_letters(uint8_t *text, struct span name, char a, char b)
{
    uint8_t *letter = &text[name.at + name.size - 1];
    *letter = (uint8_t)(*letter == a ? b : a);
}

static bool is_either(const uint8_t *text, struct span name,
                      const struct space *space, const char *a, const char *b)
{
    return xml_is_named(text, name, space, a) ||
           xml_is_named(text, name, space, b);
}

/* The center of an area: x becomes 1 - x, with as many digits. */
static void mirror_center(struct work *w, const uint8_t *text,
                          struct span value)
{
    char old[NUMBER_MAX], turned[NUMBER_MAX];
    const char *at = old;
    struct number number;
    value = xml_trim(text, value);
    if (!value.size)
        return; /* the element that a structure is in */
    if (!copy_value(old, sizeof old, text, value) ||
        !read_number(&at, '\0', &number)) {
        w->unread = true;
        return;
    }
    print_mirrored(turned, number, (struct number){ 0 });
    rewrite_span(&w->rewrite, value, turned);
}

static void turn_area(struct work *w, uint8_t *text, const struct token *token)
{
    const struct space *area = &w->spaces[AREA];
    bool exchanged = xform_transposes(w->t);
    if (w->found.strange)
        return;
    if (is_either(text, token->name, area, "x", "y")) {
        if (exchanged)
            exchange_letters(text, token->name, 'x', 'y');
        bool is_x = text[token->name.at + token->name.size - 1] == 'x';
        if (token->kind != XML_CLOSING &&
            w->t & (is_x ? XFORM_MIRROR_X : XFORM_MIRROR_Y))
            mirror_center(w, text, token->value);
    } else if (exchanged && is_either(text, token->name, area, "w", "h")) {
        exchange_letters(text, token->name, 'w', 'h');
    }
}

/* The picture's size, but not that of a page, which is of the same type. */
static void turn_size(struct work *w, uint8_t *text, const struct token *token,
                      struct span element)
{
    const struct space *mwg = &w->spaces[MWG];
    const char *applied = "AppliedToDimensions";
    bool in_tag = token->kind == XML_ATTRIBUTE &&
                  xml_is_named(text, element, mwg, applied);
    if (token->kind != XML_ATTRIBUTE &&
        xml_is_named(text, token->name, mwg, applied))
        w->in_size = token->kind == XML_ELEMENT && !token->empty;
    else if (xform_transposes(w->t) && (w->in_size || in_tag) &&
             is_either(text, token->name, &w->spaces[SIZE], "w", "h"))
        exchange_letters(text, token->name, 'w', 'h');
}

/* ---- MPReg ----------------------------------------------------------------*/

/* "x, y, w, h" of a rectangle from its corner on. */
static void turn_rectangle(struct work *w, const uint8_t *text,
                           const struct token *token)
{
    char old[4 * NUMBER_MAX], part[4][NUMBER_MAX], turned[sizeof part + 8];
    struct number number[4];
    const char *at = old;
    struct span value = xml_trim(text, token->value);
    bool read = copy_value(old, sizeof old, text, value), flip;
    if (!value.size)
        return;
    for (int i = 0; i < 4 && read; i++) {
        at += strspn(at, " \t\r\n");
        const char *begin = at;
        read = read_number(&at, i < 3 ? ',' : '\0', &number[i]);
        snprintf(part[i], NUMBER_MAX, "%.*f", number[i].decimals,
                 number[i].value);
        size_t length = strcspn(begin, " \t\r\n,");
        if (length < NUMBER_MAX) { /* as it was written */
            memcpy(part[i], begin, length);
            part[i][length] = '\0';
        }
    }
    w->unread |= !read;
    if (!read)
        return;
    flip = xform_transposes(w->t);
    int x = flip, y = !flip;
    if (w->t & XFORM_MIRROR_X)
        print_mirrored(part[x], number[x], number[2 + x]);
    if (w->t & XFORM_MIRROR_Y)
        print_mirrored(part[y], number[y], number[2 + y]);
    snprintf(turned, sizeof turned, "%s, %s, %s, %s", part[x], part[y],
             part[2 + x], part[2 + y]);
    rewrite_span(&w->rewrite, value, turned);
}

/* ---- All of it ------------------------------------------------------------*/

static void look(struct found *found, const uint8_t *text,
                 const struct token *token, const struct space *spaces)
{
    struct span name = token->name, value = xml_trim(text, token->value);
    if (token->kind == XML_CLOSING)
        return;
    if (is_either(text, name, &spaces[AREA], "x", "y") ||
        xml_is_named(text, name, &spaces[MWG], "AppliedToDimensions") ||
        xml_is_named(text, name, &spaces[MPREG], "Rectangle"))
        found->regions = true;
    if (xml_is_named(text, name, &spaces[AREA], "unit") &&
        !xml_is_text(text, value, "normalized"))
        found->strange = true;
    if (is_either(text, name, &spaces[IPTC], "rbX", "rbY"))
        found->iptc = true;
    if (xml_is_named(text, name, &spaces[CRS], "HasCrop"))
        found->crop = xml_is_text(text, value, "True");
    if (xml_is_named(text, name, &spaces[CRS], "AlreadyApplied"))
        found->cropped = xml_is_text(text, value, "True");
}

static void turn_token(struct work *w, uint8_t *text, const struct token *token,
                       struct span element)
{
    turn_area(w, text, token);
    turn_size(w, text, token, element);
    if (token->kind != XML_CLOSING &&
        xml_is_named(text, token->name, &w->spaces[MPREG], "Rectangle"))
        turn_rectangle(w, text, token);
}

static void warn_of(const struct work *w, struct warnings *warnings)
{
    if (w->found.strange || w->unread)
        warn(warnings, "a region in XMP is not understood, so it was not moved "
                       "with the picture");
    if (w->found.iptc)
        warn(warnings, "the IPTC image regions in XMP were not moved with the "
                       "picture");
    if (w->found.crop && !w->found.cropped)
        warn(warnings, "the Camera Raw crop in XMP was not turned with the "
                       "picture");
}

/* Names are changed in a copy, and values on the way from the copy to what
 * becomes the packet: it is as it was until all is done. */
int regions_turn(struct bytes *packet, size_t room, enum xform t,
                 struct warnings *warnings, struct err *err)
{
    struct work w = { .t = t };
    struct bytes copy = { 0 };
    struct token token;
    struct scan scan = { .text = packet->data, .size = packet->size };
    enum rewritten done;

    if (t == XFORM_NONE)
        return 0;
    xml_find_spaces(packet->data, packet->size, w.spaces, namespaces, SPACES);
    while (xml_next(&scan, &token))
        look(&w.found, packet->data, &token, w.spaces);
    if (!w.found.regions) {
        warn_of(&w, warnings);
        return 0;
    }
    if (!bytes_append(&copy, packet->data, packet->size))
        return fail(err, "no memory for XMP");
    w.rewrite.from = copy;
    scan = (struct scan){ .text = copy.data, .size = copy.size };
    while (xml_next(&scan, &token))
        turn_token(&w, copy.data, &token, scan.element);
    done = rewrite_end(&w.rewrite, packet, room);
    bytes_free(&copy);
    warn_of(&w, warnings);
    if (done == REWRITTEN_NO_ROOM)
        warn(warnings, "there is no room to move the regions in XMP with the "
                       "picture");
    return done == REWRITTEN_NO_MEMORY ? fail(err, "no memory for XMP") : 0;
}
