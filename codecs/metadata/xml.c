/* XML as it stands in XMP, cut into attributes, elements and closing tags. */
#include "codecs/metadata/xmp.h"

#include <string.h>

#include "codecs/base/account.h"

/* ---- Pieces of text ------------------------------------------------------*/

bool xml_is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool sees(const struct xml_reader *xml, const char *what)
{
    size_t length = strlen(what);
    return xml->size - xml->at >= length &&
           memcmp(xml->text + xml->at, what, length) == 0;
}

static void skip_blanks(struct xml_reader *xml)
{
    while (xml->at < xml->size && xml_is_blank(xml->text[xml->at]))
        xml->at++;
}

/* Goes to the next byte `c`, or to the end. */
static struct xml_span read_to(struct xml_reader *xml, uint8_t c)
{
    struct xml_span span = { .at = xml->at };
    const uint8_t *end = NULL;
    if (xml->at < xml->size)
        end = memchr(xml->text + xml->at, c, xml->size - xml->at);
    xml->at = end ? (size_t)(end - xml->text) : xml->size;
    span.size = xml->at - span.at;
    return span;
}

static struct xml_span read_name(struct xml_reader *xml)
{
    static const bool ends[256] = {
        [' '] = true, ['\t'] = true, ['\r'] = true, ['\n'] = true, ['<'] = true,
        ['>'] = true, ['/'] = true,  ['='] = true,  ['\''] = true, ['"'] = true,
    };
    struct xml_span name = { .at = xml->at };
    while (xml->at < xml->size && !ends[xml->text[xml->at]])
        xml->at++;
    name.size = xml->at - name.at;
    return name;
}

bool xml_is_text(const uint8_t *text, struct xml_span span, const char *other)
{
    return span.size == strlen(other) &&
           memcmp(text + span.at, other, span.size) == 0;
}

/* `name = "value"`. XML 1.0, 3.1: a value has no "<" in it; a tag whose quotes
 * are broken ends there rather than at the end of the packet. */
static bool read_attribute(struct xml_reader *xml, struct xml_token *token)
{
    *token =
        (struct xml_token){ .kind = XML_ATTRIBUTE, .name = read_name(xml) };
    skip_blanks(xml);
    if (token->name.size == 0 || !sees(xml, "="))
        return false;
    xml->at++;
    skip_blanks(xml);
    if (!sees(xml, "\"") && !sees(xml, "'"))
        return false;
    uint8_t quote = xml->text[xml->at++];
    token->value.at = xml->at;
    while (xml->at < xml->size && xml->text[xml->at] != '<' &&
           xml->text[xml->at] != quote)
        xml->at++;
    token->value.size = xml->at - token->value.at;
    if (xml->at == xml->size || xml->text[xml->at] == '<')
        return false;
    xml->at++;
    return true;
}

/* ---- Namespaces -----------------------------------------------------------*/

static const struct {
    const char *uri, *usual; /* the prefix that counts where it is unbound */
} known[XMP_NAMESPACES] = {
    /* XMP specification, part 2, 3.3 and part 3. */
    [XMP_TIFF] = { "http://ns.adobe.com/tiff/1.0/", "tiff" },
    [XMP_EXIF] = { "http://ns.adobe.com/exif/1.0/", "exif" },
    [XMP_BASIC] = { "http://ns.adobe.com/xap/1.0/", "xmp" },
    [XMP_NOTE] = { "http://ns.adobe.com/xmp/note/", "xmpNote" },
    [XMP_GEO] = { "http://www.w3.org/2003/01/geo/wgs84_pos#", "geo" },
    [XMP_CONTAINER] = { "http://ns.google.com/photos/1.0/container/",
                        "Container" },
    [XMP_ITEM] = { "http://ns.google.com/photos/1.0/container/item/", "Item" },
    [XMP_MWG] = { "http://www.metadataworkinggroup.com/schemas/regions/",
                  "mwg-rs" },
    [XMP_AREA] = { "http://ns.adobe.com/xmp/sType/Area#", "stArea" },
    [XMP_DIMENSIONS] = { "http://ns.adobe.com/xap/1.0/sType/Dimensions#",
                         "stDim" },
    [XMP_MPREG] = { "http://ns.microsoft.com/photo/1.2/t/Region#", "MPReg" },
    [XMP_CAMERA_RAW] = { "http://ns.adobe.com/camera-raw-settings/1.0/",
                         "crs" },
    [XMP_IPTC] = { "http://iptc.org/std/Iptc4xmpExt/2008-02-29/",
                   "Iptc4xmpExt" },
};

/* A name belongs to the innermost element around it that binds its prefix
 * (Namespaces in XML 1.0, section 6.1). Returns XMP_NAMESPACES for one that is
 * not known. */
static enum xmp_namespace namespace_of(const struct xml_reader *xml,
                                       struct xml_span prefix)
{
    for (unsigned i = xml->nbindings; i > 0; i--) {
        const struct xml_binding *b = &xml->binding[i - 1];
        if (b->prefix.size == prefix.size &&
            !memcmp(xml->text + b->prefix.at, xml->text + prefix.at,
                    prefix.size))
            return b->space;
    }
    int i = 0;
    while (i < XMP_NAMESPACES &&
           !xml_is_text(xml->text, prefix, known[i].usual))
        i++;
    return (enum xmp_namespace)i;
}

/* Notes the prefixes that the tag which has been entered binds to another
 * namespace than before: its own attributes may stand before that. A binding
 * that does not fit is lost. */
static void bind_prefixes(struct xml_reader *xml)
{
    enum { LEAD = 6 };
    const size_t at = xml->at;
    struct xml_token token;
    for (skip_blanks(xml); read_attribute(xml, &token); skip_blanks(xml)) {
        struct xml_span prefix = token.name;
        int i = 0;
        if (prefix.size <= LEAD ||
            memcmp(xml->text + prefix.at, "xmlns:", LEAD) != 0)
            continue;
        prefix.at += LEAD;
        prefix.size -= LEAD;
        while (i < XMP_NAMESPACES &&
               !xml_is_text(xml->text, token.value, known[i].uri))
            i++;
        const enum xmp_namespace space = (enum xmp_namespace)i;
        if (namespace_of(xml, prefix) != space && xml->nbindings < XML_BINDINGS)
            xml->binding[xml->nbindings++] =
                (struct xml_binding){ prefix, space, xml->depth };
    }
    xml->at = at;
}

bool xml_is(const struct xml_reader *xml, struct xml_span name,
            enum xmp_namespace which, const char *local)
{
    const uint8_t *at = xml->text + name.at;
    const size_t length = strlen(local);
    if (name.size < length + 2)
        return false;
    const struct xml_span prefix = { name.at, name.size - length - 1 };
    return at[prefix.size] == ':' &&
           memcmp(at + prefix.size + 1, local, length) == 0 &&
           namespace_of(xml, prefix) == which;
}

/* ---- Tokens ---------------------------------------------------------------*/

/* Goes behind the next `end`, or to the end of the packet. */
static void skip_past(struct xml_reader *xml, const char *end)
{
    const uint8_t *from = xml->text + xml->at,
                  *found = memmem(from, xml->size - xml->at, end, strlen(end));
    xml->at +=
        found ? (size_t)(found - from) + strlen(end) : xml->size - xml->at;
}

/* Reads what begins with a "<". Returns true if it was a closing tag. Opening
 * tags are entered. Most packets that cost much are of little else than "<", so
 * the next byte decides first. */
static bool read_tag(struct xml_reader *xml, struct xml_token *token)
{
    const size_t next = xml->at + 1;
    const uint8_t c = next < xml->size ? xml->text[next] : '<';
    if (c == '!' && sees(xml, "<!--")) {
        xml->at += 4;
        skip_past(xml, "-->");
    } else if (c == '!' && sees(xml, "<![CDATA[")) {
        skip_past(xml, "]]>");
    } else if (c == '?') {
        skip_past(xml, "?>");
    } else if (c == '/') {
        xml->at += 2;
        *token =
            (struct xml_token){ .kind = XML_CLOSING, .name = read_name(xml) };
        return true;
    } else {
        xml->at++;
        xml->element = read_name(xml);
        xml->in_tag = xml->element.size > 0;
        xml->depth += xml->in_tag;
        if (xml->in_tag)
            bind_prefixes(xml);
    }
    return false;
}

/* Reads the next attribute of the current tag, or at its end the element.
 * Returns false if the tag is malformed; then it is left. */
static bool read_in_tag(struct xml_reader *xml, struct xml_token *token)
{
    skip_blanks(xml);
    bool empty = sees(xml, "/>");
    if (!empty && !sees(xml, ">")) {
        xml->in_tag = read_attribute(xml, token);
        return xml->in_tag;
    }
    xml->in_tag = false;
    xml->at += empty ? 2 : 1;
    *token = (struct xml_token){ .kind = XML_ELEMENT,
                                 .name = xml->element,
                                 .empty = empty };
    if (!empty)
        token->value = read_to(xml, '<');
    return true;
}

bool xml_next(struct xml_reader *xml, struct xml_token *token)
{
    enum { TAG_LOOKS = 8 }; /* a tag takes as long as so many bytes of text */
    const size_t from = xml->at;
    size_t tags = 0;
    bool read = false;
    if (xml->ended) { /* and so the scope of what the element has bound */
        while (xml->nbindings &&
               xml->binding[xml->nbindings - 1].depth >= xml->depth)
            xml->nbindings--;
        xml->depth -= xml->depth > 0;
        xml->ended = false;
    }
    while (xml->at < xml->size && !read) {
        if (xml->in_tag) {
            read = read_in_tag(xml, token);
            continue;
        }
        read_to(xml, '<');
        tags++;
        read = xml->at < xml->size && read_tag(xml, token);
    }
    if (!account_look(xml->at - from + TAG_LOOKS * tags) || !read)
        return false;
    xml->ended = xml_ends(token);
    struct xml_span *value = &token->value;
    while (value->size && xml_is_blank(xml->text[value->at])) {
        value->at++;
        value->size--;
    }
    while (value->size && xml_is_blank(xml->text[value->at + value->size - 1]))
        value->size--;
    return true;
}

bool xml_ends(const struct xml_token *token)
{
    return token->kind == XML_CLOSING ||
           (token->kind == XML_ELEMENT && token->empty);
}

bool xml_number(const struct xml_reader *xml, struct xml_span value,
                uint64_t *number)
{
    *number = 0;
    for (size_t i = 0; i < value.size; i++) {
        const uint8_t c = xml->text[value.at + i];
        if (c < '0' || c > '9')
            return false;
        if (*number > UINT64_MAX / 16)
            *number = UINT64_MAX / 16;
        *number = *number * 10 + (c - '0');
    }
    return value.size > 0;
}
