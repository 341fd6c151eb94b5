/* A reader of XML as it stands in XMP: attributes, elements and closing tags.
 *
 * A library such as expat gives parsed strings and no positions of names and
 * values, which are needed to change them in place, and it refuses the
 * malformed packets that files hold.
 *
 * A property is an attribute of an element or an element of its own (XMP
 * specification, part 1, 7.9.2.2 and 7.4), so that is all there is to look at;
 * what stands in comments, instructions, CDATA and in the text of other
 * properties is never mistaken for one. The text comes from a file and may
 * hold anything: every byte is looked at a bounded number of times. */
#ifndef CODECS_METADATA_XML_H
#define CODECS_METADATA_XML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A piece of the text. */
struct xml_span {
    size_t at, size;
};

struct xml_token {
    enum { XML_ATTRIBUTE, XML_ELEMENT, XML_CLOSING } kind;
    struct xml_span name;
    struct xml_span value; /* of an attribute; or the text behind an opening tag
                          up to the next "<"; else empty */
    bool empty;            /* an element that is one tag */
};

/* To begin: { .text = text, .size = size }. */
struct xml_reader {
    const uint8_t *text;
    size_t size, at;
    bool in_tag;
    struct xml_span element; /* the name of the tag that we are in */
};

/* Reads the next token. Attributes come before the element that they belong to.
 * Returns false at the end of the text. */
bool xml_next(struct xml_reader *xml, struct xml_token *token);

/* Returns the span without the blanks at both ends. */
struct xml_span xml_trim(const uint8_t *text, struct xml_span span);

bool xml_is_text(const uint8_t *text, struct xml_span span, const char *other);

/* The prefixes that a text binds to a namespace. Each is kept once; packets
 * have one, and a second one only where they were put together. */
enum { XML_PREFIXES = 8, XML_SCOPES = 32 };

struct xml_namespace {
    const uint8_t *prefix[XML_PREFIXES];
    size_t size[XML_PREFIXES];
    unsigned count;
    unsigned
        shared; /* bits of the prefixes that elsewhere in the text are bound
                   to another namespace; they count in these scopes alone */
    unsigned nscopes;
    struct xml_scope {
        unsigned prefix;
        size_t from, to;
    } scope[XML_SCOPES];
};

struct xmlns {
    const char *uri, *usual; /* the prefix if the text binds none */
};

/* Finds the prefixes of `count` namespaces. A prefix that is bound to one
 * namespace only counts everywhere, not only below its declaration. What is
 * filled points into the text. */
void xml_find_namespaces(const uint8_t *text, size_t size,
                         struct xml_namespace *spaces, const struct xmlns *list,
                         unsigned count);

/* Returns whether `name` is PREFIX:local, with a prefix of that namespace. */
bool xml_is_named(const uint8_t *text, struct xml_span name,
                  const struct xml_namespace *space, const char *local);

#endif
