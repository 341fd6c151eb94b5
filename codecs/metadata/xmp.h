/* XMP packets: what they say of a picture's place in space, found and changed.
 *
 * A packet is XML text in UTF-8 (XMP specification, part 1, section 7). It
 * comes from a file and may hold anything: what is not understood is left,
 * nothing is ever read or written outside of it, and every byte is looked at a
 * bounded number of times. xml.c reads the text; xmp.c changes what keeps its
 * length, xmp_edit.c what does not, xmp_extended.c packets that a JPEG has in
 * portions. */
#ifndef CODECS_METADATA_XMP_H
#define CODECS_METADATA_XMP_H

#include "codecs/metadata/metadata.h"

/* ---- The text -------------------------------------------------------------
 *
 * A property is an attribute of an element or an element of its own (XMP
 * specification, part 1, 7.9.2.2 and 7.4), so the reader gives attributes,
 * elements and closing tags; what stands in comments, instructions, CDATA and
 * in the text of other properties is never mistaken for one. A library such as
 * expat gives parsed strings and no positions of names and values, which are
 * needed to change them in place, and it refuses the malformed packets that
 * files hold. */

/* A part of the text. */
struct xml_span {
    size_t at, size;
};

struct xml_token {
    enum { XML_ATTRIBUTE, XML_ELEMENT, XML_CLOSING } kind;
    struct xml_span name;
    struct xml_span value; /* of an attribute; or the text behind an opening tag
                              up to the next "<"; without the blanks at both
                              ends; empty of a closing tag */
    bool empty;            /* an element that is one tag */
};

/* The namespaces of the properties that are understood. */
enum xmp_namespace {
    XMP_TIFF,
    XMP_EXIF,
    XMP_BASIC,
    XMP_NOTE,
    XMP_GEO,
    XMP_CONTAINER,
    XMP_ITEM,
    XMP_MWG,
    XMP_AREA,
    XMP_DIMENSIONS,
    XMP_MPREG,
    XMP_CAMERA_RAW,
    XMP_IPTC,
    XMP_NAMESPACES
};

/* How many prefixes may be bound in elements that stand in one another, beyond
 * those that keep their usual meaning. */
enum { XML_BINDINGS = 48 };

/* To begin: xml_open(). */
struct xml_reader {
    const uint8_t *text;
    size_t size, at;
    bool in_tag;
    struct xml_span element; /* the name of the tag that is being read */
    size_t depth;            /* of elements in which that stands */
    bool ended;              /* the last token was the end of one */
    unsigned nbindings;
    struct xml_binding {
        struct xml_span prefix;
        enum xmp_namespace space; /* XMP_NAMESPACES: one that is not known */
        size_t depth;             /* of the element that binds it */
    } binding[XML_BINDINGS];
};

static inline struct xml_reader xml_open(const uint8_t *text, size_t size)
{
    return (struct xml_reader){ .text = text, .size = size };
}

/* Reads the next token. Attributes come before the element that they belong to.
 * Returns false at the end of the text. */
bool xml_next(struct xml_reader *xml, struct xml_token *token);

/* Returns whether a token closes an element, or is one that is one tag. */
bool xml_ends(const struct xml_token *token);

/* Returns whether `name`, of the last token or its element, is PREFIX:local
 * with a prefix of that namespace. A prefix that is bound nowhere around it
 * means what it usually does. */
bool xml_is(const struct xml_reader *xml, struct xml_span name,
            enum xmp_namespace which, const char *local);

bool xml_is_text(const uint8_t *text, struct xml_span span, const char *other);
bool xml_is_blank(uint8_t c);

/* Reads a value of digits alone. Returns false if it is not. A number that no
 * size is as large as may become another one. */
bool xml_number(const struct xml_reader *xml, struct xml_span value,
                uint64_t *number);

/* ---- Orientation and size ------------------------------------------------ */

/* Returns the first tiff:Orientation that is 1..8; 0 if there is none. */
unsigned xmp_orientation(const uint8_t *packet, size_t size);

/* Adds every tiff:Orientation that is 1..8 to `o`. */
void xmp_note(const uint8_t *packet, size_t size, struct orientation *o);

/* Makes the packet true after the stored pixels were turned by t: sizes and
 * densities. tiff:Orientation, wherever it stands, says `orientation`
 * afterwards, 1..8; 0 leaves it. The size of the packet stays. */
void xmp_turn(uint8_t *packet, size_t size, enum xform t, unsigned orientation);

/* ---- What --strip names: coordinates and thumbnails -----------------------
 *
 * Coordinates are properties and texts whose names say GPS, latitude or
 * longitude. Names of places stay. */

/* Puts blanks in the place of GPS and thumbnail in a packet, whose size stays.
 * Fails if the packet is so malformed that the end of an element cannot be
 * found. */
int xmp_drop(uint8_t *packet, size_t size, unsigned drop, struct err *err);

/* Returns whether the name of a property, such as "exif:GPSLatitude", is one of
 * coordinates. */
bool xmp_names_place(const uint8_t *name, size_t size);

/* Returns whether bytes of an unknown format seem to hold coordinates. */
bool xmp_tells_place(const uint8_t *data, size_t size);

/* ---- All of a packet ----------------------------------------------------- */

/* Gives values of any length to what is no longer true after a change: the
 * lengths of pictures behind the first one; the sizes of a trimmed picture,
 * unless they are smaller already; and the regions of the Metadata Working
 * Group, which move with the picture.
 *
 * The padding before the trailer of a packet grows and shrinks so that the
 * packet, which owns its memory, keeps its size, as far as it suffices (XMP
 * specification, part 1, 7.3.2). A packet without a trailer changes its size.
 * What is not understood, or would make it longer than `room`, stays, with a
 * warning. Fails only without memory. */
int xmp_edit(struct bytes *packet, size_t room, const struct change *change,
             const struct lengths *lengths, struct warnings *warnings,
             struct err *err);

/* Takes out what opts->drop names, gives the pictures behind the first one
 * their lengths, and turns orientation, sizes, densities and regions. The
 * packet, which owns its memory, grows to no more than `room`; what does not
 * fit, or is not understood, stays and is named in a warning. Fails without
 * memory, or if nothing can be taken out. */
int xmp_packet_turn(struct bytes *packet, size_t room, const struct image *img,
                    const struct save_opts *opts, const struct lengths *lengths,
                    struct err *err);

/* ---- Extended XMP, which only JPEG has ------------------------------------
 *
 * XMP specification, part 3, 1.1.3: what does not fit into one block is a
 * second packet, cut into portions, which the first packet names by its GUID:
 * the MD5 digest of it as 32 hexadecimal digits. */

/* Takes note in meta->orientation of what the second packet says of it, if one
 * names it. Fails only without memory. */
int xmp_extended_note(struct meta *meta, const struct block_format *format,
                      struct err *err);

/* Turns it as xmp_packet_turn() does, and cuts it where it was cut before. Its
 * GUID is made true here and in the packet that names it. If a portion is
 * missing it does not grow. Portions that nobody names stay, unless opts->drop
 * takes something out of others. */
int xmp_extended_turn(const struct turned *t, struct err *err);

#endif
