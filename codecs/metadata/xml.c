/* XML as it stands in XMP, cut into attributes, elements and closing tags. */
#include "codecs/metadata/xmp.h"

#include <string.h>

#include "codecs/base/account.h"

/* ---- Tokens ---------------------------------------------------------------*/

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
    }
    return false;
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

/* Reads the next token, whose value keeps its blanks. */
static bool read_token(struct xml_reader *xml, struct xml_token *token)
{
    enum { TAG_LOOKS = 8 }; /* a tag takes as long as so many bytes of text */
    const size_t from = xml->at;
    size_t tags = 0;
    bool read = false;
    while (xml->at < xml->size && !read) {
        if (xml->in_tag) {
            read = read_in_tag(xml, token);
            continue;
        }
        read_to(xml, '<');
        tags++;
        read = xml->at < xml->size && read_tag(xml, token);
    }
    return account_look(xml->at - from + TAG_LOOKS * tags) && read;
}

bool xml_next(struct xml_reader *xml, struct xml_token *token)
{
    if (!read_token(xml, token))
        return false;
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

bool xml_is_text(const uint8_t *text, struct xml_span span, const char *other)
{
    return span.size == strlen(other) &&
           memcmp(text + span.at, other, span.size) == 0;
}

/* ---- Namespaces -----------------------------------------------------------*/

static const struct {
    const char *uri, *usual; /* the prefix if the text binds none */
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

/* Returns the index of a prefix among those of a namespace, or their count if
 * it is not among them. */
static unsigned prefix_index(const struct xml_prefixes *space,
                             const uint8_t *name, size_t size)
{
    unsigned i = 0;
    while (i < space->count && (space->size[i] != size ||
                                memcmp(space->prefix[i], name, size) != 0))
        i++;
    return i;
}

static void add_prefix(struct xml_prefixes *space, const uint8_t *name,
                       size_t size)
{
    if (space->count == XML_PREFIXES ||
        prefix_index(space, name, size) < space->count)
        return;
    space->prefix[space->count] = name;
    space->size[space->count++] = size;
}

/* Returns whether an attribute binds a prefix, and which. */
static bool binds(const uint8_t *text, const struct xml_token *token,
                  struct xml_span *prefix)
{
    enum { LEAD = 6 };
    *prefix = token->name;
    if (token->kind != XML_ATTRIBUTE || token->name.size <= LEAD ||
        memcmp(text + token->name.at, "xmlns:", LEAD) != 0)
        return false;
    prefix->at += LEAD;
    prefix->size -= LEAD;
    return true;
}

/* How deep bindings of shared prefixes may stand in one another. */
enum { BINDINGS = 16 };

/* The bindings of a namespace's shared prefixes that are in scope. */
struct bindings {
    unsigned count;
    struct xml_binding {
        unsigned prefix;
        size_t depth; /* of the element that binds it */
        bool own;     /* to this namespace */
    } list[BINDINGS];
};

/* The scope of a prefix changes at `at`. A scope that does not fit is lost: its
 * names are taken for those of another namespace. */
static void set_scope(struct xml_prefixes *space,
                      const struct bindings *bindings, unsigned prefix,
                      size_t at)
{
    bool own = false;
    struct xml_scope *last = NULL;
    for (unsigned i = 0; i < bindings->count; i++)
        if (bindings->list[i].prefix == prefix)
            own = bindings->list[i].own;
    for (unsigned i = 0; i < space->nscopes; i++)
        if (space->scope[i].prefix == prefix)
            last = &space->scope[i];
    bool open = last && last->to == SIZE_MAX;
    if (open && !own)
        last->to = at;
    else if (own && !open && space->nscopes < XML_SCOPES)
        space->scope[space->nscopes++] =
            (struct xml_scope){ .prefix = prefix, .from = at, .to = SIZE_MAX };
}

/* A name belongs to the innermost element around it that binds its prefix
 * (Namespaces in XML 1.0, section 6.1). */
static void find_scopes(struct xml_reader xml, struct xml_prefixes *space,
                        const char *uri)
{
    struct bindings bindings = { 0 };
    struct xml_token token;
    struct xml_span prefix;
    size_t depth = 0;
    while (read_token(&xml, &token)) {
        unsigned i = XML_PREFIXES;
        if (binds(xml.text, &token, &prefix))
            i = prefix_index(space, xml.text + prefix.at, prefix.size);
        if (i < space->count && space->shared >> i & 1 &&
            bindings.count < BINDINGS) {
            bindings.list[bindings.count++] =
                (struct xml_binding){ i, depth + 1,
                                      xml_is_text(xml.text, token.value, uri) };
            set_scope(space, &bindings, i, xml.element.at);
        }
        depth += token.kind == XML_ELEMENT;
        if (!xml_ends(&token))
            continue;
        while (bindings.count &&
               bindings.list[bindings.count - 1].depth >= depth) {
            i = bindings.list[--bindings.count].prefix;
            set_scope(space, &bindings, i, xml.at);
        }
        depth -= depth > 0;
    }
}

struct xml_reader xml_open(struct xml_namespaces *namespaces,
                           const uint8_t *text, size_t size)
{
    const struct xml_reader begin = { .text = text,
                                      .size = size,
                                      .namespaces = namespaces };
    struct xml_reader xml = begin;
    struct xml_prefixes *space = namespaces->of;
    struct xml_token token;
    struct xml_span prefix;
    memset(namespaces, 0, sizeof *namespaces);
    while (read_token(&xml, &token))
        for (int i = 0; i < XMP_NAMESPACES && binds(text, &token, &prefix); i++)
            if (xml_is_text(text, token.value, known[i].uri))
                add_prefix(&space[i], text + prefix.at, prefix.size);
    for (int i = 0; i < XMP_NAMESPACES; i++)
        if (!space[i].count)
            add_prefix(&space[i], (const uint8_t *)known[i].usual,
                       strlen(known[i].usual));
    xml = begin;
    while (read_token(&xml, &token))
        for (int i = 0; i < XMP_NAMESPACES && binds(text, &token, &prefix);
             i++) {
            unsigned k = prefix_index(&space[i], text + prefix.at, prefix.size);
            if (k < space[i].count &&
                !xml_is_text(text, token.value, known[i].uri))
                space[i].shared |= 1u << k;
        }
    for (int i = 0; i < XMP_NAMESPACES; i++)
        if (space[i].shared)
            find_scopes(begin, &space[i], known[i].uri);
    return begin;
}

bool xml_is(const struct xml_reader *xml, struct xml_span name,
            enum xmp_namespace which, const char *local)
{
    const struct xml_prefixes *space = &xml->namespaces->of[which];
    const uint8_t *at = xml->text + name.at;
    size_t length = strlen(local);
    if (name.size < length + 2)
        return false;
    size_t prefix = name.size - length - 1;
    if (at[prefix] != ':' || memcmp(at + prefix + 1, local, length) != 0)
        return false;
    unsigned i = prefix_index(space, at, prefix);
    bool holds = i < space->count && !(space->shared >> i & 1);
    for (unsigned k = 0; k < space->nscopes && i < space->count; k++)
        if (space->scope[k].prefix == i && space->scope[k].from <= name.at &&
            name.at < space->scope[k].to)
            holds = true;
    return holds;
}
