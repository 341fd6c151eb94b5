/* Takes out of blocks what --strip names. */
#include "codecs/metadata/drop.h"

#include <string.h>
#include <strings.h>

#include "codecs/image/budget.h"
#include "codecs/metadata/exif_gps.h"
#include "codecs/metadata/exif_thumbnail.h"
#include "codecs/metadata/xml.h"

/* ---- Names ----------------------------------------------------------------*/

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
static bool is_place(const uint8_t *name, size_t size)
{
    return (size >= 3 && strncasecmp((const char *)name, "gps", 3) == 0) ||
           has_word(name, size, "latitude") ||
           has_word(name, size, "longitude") ||
           has_word(name, size, "longtitude");
}

bool drop_is_place(const char *name, size_t size)
{
    const char *colon = memchr(name, ':', size);
    size_t skip = colon ? (size_t)(colon - name) + 1 : 0;
    return is_place((const uint8_t *)name + skip, size - skip);
}

bool drop_tells_place(const uint8_t *data, size_t size)
{
    static const char *const words[] = { "gpslat", "gpslon", "iso6709" };
    const size_t looks = sizeof words / sizeof *words + 1;
    bool film = false; /* an atom of QuickTime */
    if (!budget_look(looks * size))
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (has_word(data, size, words[i]))
            return true;
    for (size_t at = 0; at + 4 <= size && !film; at++)
        film = data[at] == 0xa9 && memcmp(data + at, "\xa9xyz", 4) == 0;
    return film;
}

/* ---- XMP ------------------------------------------------------------------*/

enum { GEO, XMP, SPACES };
static const struct xmlns namespaces[SPACES] = {
    [GEO] = { "http://www.w3.org/2003/01/geo/wgs84_pos#", "geo" },
    [XMP] = { "http://ns.adobe.com/xap/1.0/", "xmp" },
};

struct dropping {
    uint8_t *packet;
    unsigned drop;
    struct xml_namespace spaces[SPACES];
};

static bool goes(const struct dropping *d, struct xml_span name)
{
    static const char *const geo[] = { "lat", "long", "alt", "lat_long" };
    const uint8_t *text = d->packet + name.at;
    if (name.size >= 5 && memcmp(text, "xmlns", 5) == 0)
        return false;
    if ((d->drop & DROP_THUMBNAIL) &&
        xml_is_named(d->packet, name, &d->spaces[XMP], "Thumbnails"))
        return true;
    if (!(d->drop & DROP_GPS))
        return false;
    for (size_t i = 0; i < sizeof geo / sizeof *geo; i++)
        if (xml_is_named(d->packet, name, &d->spaces[GEO], geo[i]))
            return true;
    return drop_is_place((const char *)text, name.size);
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
int drop_in_xmp(uint8_t *packet, size_t size, unsigned drop, struct err *err)
{
    struct dropping d = { .packet = packet, .drop = drop };
    struct xml_reader xml = { .text = packet, .size = size };
    struct xml_token token;
    if (!(drop & (DROP_GPS | DROP_THUMBNAIL)) || size == 0)
        return 0;
    size_t text = size; /* some programs put zeros behind it */
    while (text > 0 && packet[text - 1] == 0)
        text--;
    if (memchr(packet, 0, text))
        return fail(err, "XMP is not in UTF-8, so that nothing can be cut out "
                         "of it; --strip=xmp drops all of it");
    xml_find_namespaces(packet, size, d.spaces, namespaces, SPACES);
    while (xml_next(&xml, &token)) {
        size_t from = token.name.at - (token.kind == XML_ELEMENT);
        if (token.kind == XML_CLOSING || !goes(&d, token.name))
            continue;
        if (token.kind == XML_ELEMENT && !token.empty &&
            !skip_element(&xml, token.name))
            return fail(err, "XMP is malformed, so that nothing can be cut out "
                             "of it; --strip=xmp drops all of it");
        memset(packet + from, ' ', xml.at - from);
    }
    return 0;
}

/* ---- EXIF -----------------------------------------------------------------*/

/* Returns whether a thumbnail, which is a file, may hold coordinates itself. */
static bool thumbnail_tells(const struct bytes *exif)
{
    static const char *const heads[] = { "Exif", "http://ns.adobe.com/xap/",
                                         "Photoshop 3.0" };
    size_t at, length;
    bool tells = false;
    if (!exif_thumbnail_find(exif->data, exif->size, &at, &length))
        return false;
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        tells = tells ||
                memmem(exif->data + at, length, heads[i], strlen(heads[i]));
    return tells;
}

int drop_in_exif(struct bytes *exif, unsigned drop, struct err *err)
{
    if ((drop & DROP_THUMBNAIL) || ((drop & DROP_GPS) && thumbnail_tells(exif)))
        exif_thumbnail_drop(exif);
    if ((drop & DROP_GPS) && !exif_gps_drop(exif->data, exif->size))
        return fail(err, "GPS in EXIF shares bytes with something else, or is "
                         "malformed, so that it cannot be cut out; "
                         "--strip=exif drops all of EXIF");
    return 0;
}

void drop_from_meta(struct meta *meta, unsigned drop)
{
    if (drop & DROP_ICC)
        bytes_free(&meta->icc);
    if (drop & DROP_EXIF)
        bytes_free(&meta->exif);
    if (drop & DROP_XMP)
        bytes_free(&meta->xmp);
    for (size_t i = 0; i < meta->nblocks; i++)
        if (drop & meta->block[i].drop)
            meta->block[i].portable = true;
}
