/* XML as it stands in XMP, cut into attributes, elements and closing tags. */
#include "codecs/xml.h"

#include <string.h>

/* ---- Tokens ---------------------------------------------------------------*/

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool ends_name(uint8_t c)
{
    return is_blank(c) || memchr("<>/='\"", c, 6);
}

static bool sees(const struct scan *scan, const char *what)
{
    size_t length = strlen(what);
    return scan->size - scan->at >= length &&
           memcmp(scan->text + scan->at, what, length) == 0;
}

static void skip_blanks(struct scan *scan)
{
    while (scan->at < scan->size && is_blank(scan->text[scan->at]))
        scan->at++;
}

/* Goes to the next byte `c`, or to the end. */
static struct span read_to(struct scan *scan, uint8_t c)
{
    struct span span = { .at = scan->at };
    const uint8_t *end = NULL;
    if (scan->at < scan->size)
        end = memchr(scan->text + scan->at, c, scan->size - scan->at);
    scan->at = end ? (size_t)(end - scan->text) : scan->size;
    span.size = scan->at - span.at;
    return span;
}

static struct span read_name(struct scan *scan)
{
    struct span name = { .at = scan->at };
    while (scan->at < scan->size && !ends_name(scan->text[scan->at]))
        scan->at++;
    name.size = scan->at - name.at;
    return name;
}

/* Goes behind the next `end`, or to the end of the packet. */
static void skip_past(struct scan *scan, const char *end)
{
    while (read_to(scan, (uint8_t)*end), scan->at < scan->size) {
        if (sees(scan, end)) {
            scan->at += strlen(end);
            return;
        }
        scan->at++;
    }
}

/* At a "<". True: it was a closing tag. Opening ones are entered. */
static bool read_tag(struct scan *scan, struct token *token)
{
    if (sees(scan, "<!--")) {
        scan->at += 4;
        skip_past(scan, "-->");
    } else if (sees(scan, "<![CDATA[")) {
        skip_past(scan, "]]>");
    } else if (sees(scan, "<?")) {
        skip_past(scan, "?>");
    } else if (sees(scan, "</")) {
        scan->at += 2;
        *token = (struct token){ .kind = XML_CLOSING, .name = read_name(scan) };
        return true;
    } else {
        scan->at++;
        scan->element = read_name(scan);
        scan->in_tag = scan->element.size > 0;
    }
    return false;
}

/* `name = "value"`. XML 1.0, 3.1: a value has no "<" in it; a tag whose quotes
 * are broken ends there rather than at the end of the packet. */
static bool read_attribute(struct scan *scan, struct token *token)
{
    *token = (struct token){ .kind = XML_ATTRIBUTE, .name = read_name(scan) };
    skip_blanks(scan);
    if (token->name.size == 0 || !sees(scan, "="))
        return false;
    scan->at++;
    skip_blanks(scan);
    if (!sees(scan, "\"") && !sees(scan, "'"))
        return false;
    uint8_t quote = scan->text[scan->at++];
    token->value.at = scan->at;
    while (scan->at < scan->size && scan->text[scan->at] != '<' &&
           scan->text[scan->at] != quote)
        scan->at++;
    token->value.size = scan->at - token->value.at;
    if (scan->at == scan->size || scan->text[scan->at] == '<')
        return false;
    scan->at++;
    return true;
}

/* The next attribute of the tag that we are in, or at its end its element.
 * False: the tag is broken, and left. */
static bool read_in_tag(struct scan *scan, struct token *token)
{
    skip_blanks(scan);
    bool empty = sees(scan, "/>");
    if (!empty && !sees(scan, ">")) {
        scan->in_tag = read_attribute(scan, token);
        return scan->in_tag;
    }
    scan->in_tag = false;
    scan->at += empty ? 2 : 1;
    *token = (struct token){ .kind = XML_ELEMENT,
                             .name = scan->element,
                             .empty = empty };
    if (!empty)
        token->value = read_to(scan, '<');
    return true;
}

bool xml_next(struct scan *scan, struct token *token)
{
    while (scan->at < scan->size) {
        if (scan->in_tag) {
            if (read_in_tag(scan, token))
                return true;
        } else {
            read_to(scan, '<');
            if (scan->at < scan->size && read_tag(scan, token))
                return true;
        }
    }
    return false;
}

/* ---- Names ----------------------------------------------------------------*/

bool xml_is_text(const uint8_t *text, struct span span, const char *other)
{
    return span.size == strlen(other) &&
           memcmp(text + span.at, other, span.size) == 0;
}

static bool has_prefix(const struct space *space, const uint8_t *name,
                       size_t size)
{
    for (unsigned i = 0; i < space->count; i++)
        if (space->size[i] == size && !memcmp(space->prefix[i], name, size))
            return true;
    return false;
}

static void add_prefix(struct space *space, const uint8_t *name, size_t size)
{
    if (space->count == XML_PREFIXES || has_prefix(space, name, size))
        return;
    space->prefix[space->count] = name;
    space->size[space->count++] = size;
}

void xml_find_spaces(const uint8_t *text, size_t size, struct space *spaces,
                     const struct xmlns *list, unsigned count)
{
    struct scan scan = { .text = text, .size = size };
    struct token token;
    memset(spaces, 0, count * sizeof *spaces);
    while (xml_next(&scan, &token)) {
        const uint8_t *name = text + token.name.at;
        if (token.kind != XML_ATTRIBUTE || token.name.size <= 6 ||
            memcmp(name, "xmlns:", 6) != 0)
            continue;
        for (unsigned i = 0; i < count; i++)
            if (xml_is_text(text, token.value, list[i].uri))
                add_prefix(&spaces[i], name + 6, token.name.size - 6);
    }
    for (unsigned i = 0; i < count; i++)
        if (!spaces[i].count)
            add_prefix(&spaces[i], (const uint8_t *)list[i].usual,
                       strlen(list[i].usual));
}

bool xml_is_named(const uint8_t *text, struct span name,
                  const struct space *space, const char *local)
{
    size_t length = strlen(local);
    if (name.size < length + 2)
        return false;
    size_t prefix = name.size - length - 1;
    const uint8_t *at = text + name.at;
    return at[prefix] == ':' && !memcmp(at + prefix + 1, local, length) &&
           has_prefix(space, at, prefix);
}

struct span xml_trim(const uint8_t *text, struct span span)
{
    while (span.size && is_blank(text[span.at])) {
        span.at++;
        span.size--;
    }
    while (span.size && is_blank(text[span.at + span.size - 1]))
        span.size--;
    return span;
}
