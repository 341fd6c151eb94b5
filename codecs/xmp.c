/* Finds and rewrites what an XMP packet says about orientation and size.
 *
 * A property is an attribute of an element or an element of its own (XMP
 * specification, part 1, 7.9.2.2 and 7.4). So we cut the text into attributes,
 * elements and closing tags, and look at their names; what stands in comments,
 * instructions, CDATA and in the text of other properties is never mistaken
 * for one. Every byte is looked at a bounded number of times. */
#include "codecs/xmp.h"

#include <string.h>

struct span {
    size_t at, size;
};

struct token {
    enum { ATTRIBUTE, ELEMENT, CLOSING } kind;
    struct span name;
    struct span value; /* of an attribute; or the text behind an opening tag
                          up to the next "<"; else empty */
};

struct scan {
    const uint8_t *text;
    size_t size, at;
    bool in_tag;
    struct span element; /* the name of the tag that we are in */
};

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
        *token = (struct token){ .kind = CLOSING, .name = read_name(scan) };
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
    *token = (struct token){ .kind = ATTRIBUTE, .name = read_name(scan) };
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
    *token = (struct token){ .kind = ELEMENT, .name = scan->element };
    if (!empty)
        token->value = read_to(scan, '<');
    return true;
}

/* False: the packet is at its end. */
static bool next(struct scan *scan, struct token *token)
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

/* The prefixes that a packet binds to a namespace. Each is kept once; packets
 * have one, and a second one only where they were put together. */
enum { PREFIXES = 8 };

struct space {
    const uint8_t *prefix[PREFIXES];
    size_t size[PREFIXES];
    unsigned count;
};

struct spaces {
    struct space tiff, exif;
};

static bool is_text(const uint8_t *a, size_t size, const char *b)
{
    return size == strlen(b) && memcmp(a, b, size) == 0;
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
    if (space->count == PREFIXES || has_prefix(space, name, size))
        return;
    space->prefix[space->count] = name;
    space->size[space->count++] = size;
}

/* XMP specification, part 2, 3.3 and part 3: the namespaces of TIFF and EXIF
 * properties. A prefix counts everywhere, not only below its declaration. */
static void find_spaces(const uint8_t *packet, size_t size,
                        struct spaces *spaces)
{
    struct scan scan = { .text = packet, .size = size };
    struct token token;
    *spaces = (struct spaces){ 0 };
    while (next(&scan, &token)) {
        const uint8_t *name = packet + token.name.at;
        const uint8_t *value = packet + token.value.at;
        if (token.kind != ATTRIBUTE || token.name.size <= 6 ||
            memcmp(name, "xmlns:", 6) != 0)
            continue;
        if (is_text(value, token.value.size, "http://ns.adobe.com/tiff/1.0/"))
            add_prefix(&spaces->tiff, name + 6, token.name.size - 6);
        if (is_text(value, token.value.size, "http://ns.adobe.com/exif/1.0/"))
            add_prefix(&spaces->exif, name + 6, token.name.size - 6);
    }
    if (!spaces->tiff.count)
        add_prefix(&spaces->tiff, (const uint8_t *)"tiff", 4);
    if (!spaces->exif.count)
        add_prefix(&spaces->exif, (const uint8_t *)"exif", 4);
}

/* Whether `name` is PREFIX:local, with a prefix of that namespace. */
static bool is_named(const uint8_t *packet, struct span name,
                     const struct space *space, const char *local)
{
    size_t length = strlen(local);
    if (name.size < length + 2)
        return false;
    size_t prefix = name.size - length - 1;
    const uint8_t *at = packet + name.at;
    return at[prefix] == ':' && !memcmp(at + prefix + 1, local, length) &&
           has_prefix(space, at, prefix);
}

static struct span trim(const uint8_t *packet, struct span span)
{
    while (span.size && is_blank(packet[span.at])) {
        span.at++;
        span.size--;
    }
    while (span.size && is_blank(packet[span.at + span.size - 1]))
        span.size--;
    return span;
}

/* ---- Orientation and size -------------------------------------------------*/

/* Where the digit of an orientation stands; 0 if the token has no good one. */
static size_t find_digit(const uint8_t *packet, const struct token *token,
                         const struct spaces *spaces)
{
    if (!is_named(packet, token->name, &spaces->tiff, "Orientation"))
        return 0;
    struct span value = trim(packet, token->value);
    bool good =
        value.size == 1 && packet[value.at] >= '1' && packet[value.at] <= '8';
    return good ? value.at : 0;
}

unsigned xmp_orientation(const uint8_t *packet, size_t size)
{
    struct scan scan = { .text = packet, .size = size };
    struct token token;
    struct spaces spaces;
    find_spaces(packet, size, &spaces);
    while (next(&scan, &token)) {
        size_t digit = find_digit(packet, &token, &spaces);
        if (digit)
            return packet[digit] - '0';
    }
    return 0;
}

/* The two properties of a pair differ in one letter of their names: what was
 * true of one is true of the other, also where it stands alone. */
static void exchange_axes(uint8_t *packet, struct span name,
                          const struct spaces *spaces)
{
    static const struct {
        const char *x, *y;
        size_t letter; /* from the end */
        bool tiff;
    } pairs[] = {
        { "XResolution", "YResolution", 11, true },
        { "PixelXDimension", "PixelYDimension", 10, false },
        { "FocalPlaneXResolution", "FocalPlaneYResolution", 11, false },
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const struct space *space =
            pairs[i].tiff ? &spaces->tiff : &spaces->exif;
        bool is_x = is_named(packet, name, space, pairs[i].x);
        if (is_x || is_named(packet, name, space, pairs[i].y)) {
            packet[name.at + name.size - pairs[i].letter] = is_x ? 'Y' : 'X';
            return;
        }
    }
}

/* Takes the token's value for *number if it is the first one of that name, and
 * digits only. */
static void take_number(const uint8_t *packet, const struct token *token,
                        const struct spaces *spaces, const char *local,
                        struct span *number)
{
    if (number->size || !is_named(packet, token->name, &spaces->tiff, local))
        return;
    struct span value = trim(packet, token->value);
    for (size_t i = 0; i < value.size; i++)
        if (packet[value.at + i] < '0' || packet[value.at + i] > '9')
            return;
    *number = value;
}

static void reverse(uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size / 2; i++) {
        uint8_t byte = bytes[i];
        bytes[i] = bytes[size - 1 - i];
        bytes[size - 1 - i] = byte;
    }
}

/* Exchanges two pieces of text, which need not be equally long: what lies
 * between moves. All reversed, and each piece reversed again, is the same
 * pieces the other way round. */
static void exchange_spans(uint8_t *packet, struct span a, struct span b)
{
    if (!a.size || !b.size)
        return;
    if (a.at > b.at) {
        struct span first = b;
        b = a;
        a = first;
    }
    uint8_t *start = packet + a.at;
    size_t all = b.at + b.size - a.at;
    reverse(start, all);
    reverse(start, b.size);
    reverse(start + b.size, all - b.size - a.size);
    reverse(start + all - a.size, a.size);
}

void xmp_turn(uint8_t *packet, size_t size, enum xform t, unsigned orientation)
{
    struct scan scan = { .text = packet, .size = size };
    struct token token;
    struct spaces spaces;
    struct span width = { 0 }, length = { 0 };
    find_spaces(packet, size, &spaces);
    while (next(&scan, &token)) {
        size_t digit = find_digit(packet, &token, &spaces);
        if (digit && orientation)
            packet[digit] = (uint8_t)('0' + orientation);
        if (!xform_transposes(t))
            continue;
        take_number(packet, &token, &spaces, "ImageWidth", &width);
        take_number(packet, &token, &spaces, "ImageLength", &length);
        exchange_axes(packet, token.name, &spaces);
    }
    /* At the end, when no token points into what may move. */
    exchange_spans(packet, width, length);
}
