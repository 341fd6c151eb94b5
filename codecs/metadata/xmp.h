/* XMP packets: what they say of a picture's place in space, found and changed.
 *
 * A packet is XML text in UTF-8 (XMP specification, part 1, section 7). It
 * comes from a file and may hold anything: what is not understood is left,
 * nothing is ever read or written outside of it, and every byte is looked at a
 * bounded number of times. xml.c reads the text; xmp.c changes tags, sizes and
 * lists of pictures, xmp_regions.c regions, xmp_extended.c packets that a JPEG
 * has in portions. */
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

/* The prefixes that a text binds to a namespace. Each is kept once; packets
 * have one, and a second one only where they were put together. */
enum { XML_PREFIXES = 8, XML_SCOPES = 32 };

struct xml_prefixes {
    const uint8_t *prefix[XML_PREFIXES];
    size_t size[XML_PREFIXES];
    unsigned count;
    unsigned shared; /* bits of the prefixes that elsewhere in the text are
                        bound to another namespace; they count in these scopes
                        alone */
    unsigned nscopes;
    struct xml_scope {
        unsigned prefix;
        size_t from, to;
    } scope[XML_SCOPES];
};

struct xml_namespaces {
    struct xml_prefixes of[XMP_NAMESPACES];
};

struct xml_reader {
    const uint8_t *text;
    size_t size, at;
    bool in_tag;
    struct xml_span element; /* the name of the tag that is being read */
    const struct xml_namespaces *namespaces;
};

/* Begins to read a text, whose prefixes it finds first: `namespaces` points
 * into the text. A prefix that is bound to one namespace only counts
 * everywhere, not only below its declaration. */
struct xml_reader xml_open(struct xml_namespaces *namespaces,
                           const uint8_t *text, size_t size);

/* Reads the next token. Attributes come before the element that they belong to.
 * Returns false at the end of the text. */
bool xml_next(struct xml_reader *xml, struct xml_token *token);

/* Returns whether a token closes an element, or is one that is one tag. */
bool xml_ends(const struct xml_token *token);

/* Returns whether `name` is PREFIX:local, with a prefix of that namespace. */
bool xml_is(const struct xml_reader *xml, struct xml_span name,
            enum xmp_namespace which, const char *local);

bool xml_is_text(const uint8_t *text, struct xml_span span, const char *other);
bool xml_is_blank(uint8_t c);

/* ---- Values of any length -------------------------------------------------
 *
 * The padding before the trailer of a packet grows and shrinks so that the
 * packet keeps its size, as far as it suffices (XMP specification, part 1,
 * 7.3.2). A packet without a trailer changes its size. */

/* To begin: { .from = packet }, whose text stays as it is meanwhile. */
struct xmp_edit {
    struct bytes from; /* borrowed */
    size_t done;       /* of `from` */
    struct bytes made;
    bool failed; /* no memory */
};

/* Puts `text` in the place of a span. One that begins before the end of the one
 * before is left as it is. */
void xmp_edit_span(struct xmp_edit *edit, struct xml_span span,
                   const char *text);

/* Ends it: `packet`, which owns its memory, becomes what was made, if that is
 * no longer than `room`; else it stays, with the warning that it has no room
 * `for_what`. Frees all else. Fails only without memory. */
int xmp_edit_end(struct xmp_edit *edit, struct bytes *packet, size_t room,
                 const char *for_what, struct warnings *warnings,
                 struct err *err);

/* ---- Orientation and size ------------------------------------------------ */

/* Returns the first tiff:Orientation that is 1..8; 0 if there is none. */
unsigned xmp_orientation(const uint8_t *packet, size_t size);

/* Adds every tiff:Orientation that is 1..8 to `o`. */
void xmp_note(const uint8_t *packet, size_t size, struct orientation *o);

/* Makes the packet true after the stored pixels were turned by t: sizes and
 * densities. tiff:Orientation, wherever it stands, says `orientation`
 * afterwards, 1..8; 0 leaves it. The size of the packet stays. */
void xmp_turn(uint8_t *packet, size_t size, enum xform t, unsigned orientation);

/* Makes the sizes of the picture in a packet, which owns its memory, say this
 * one, unless they are smaller already. If it would be longer than `room`
 * afterwards, they stay, and there is a warning. Fails only without memory. */
int xmp_set_size(struct bytes *packet, size_t room, uint32_t width,
                 uint32_t height, struct warnings *warnings, struct err *err);

/* ---- What stands behind the picture: Google's container, as Ultra HDR and
 * motion photos have it ---------------------------------------------------- */

/* One item: items follow each other, each with its padding behind it. */
struct xmp_container_item {
    size_t length, padding;
};

/* Fills up to `room` items in order, the first of which is the picture itself,
 * and returns their number. */
size_t xmp_container_items(const uint8_t *packet, size_t size,
                           struct xmp_container_item *items, size_t room);

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

/* Moves the regions of the Metadata Working Group and of Microsoft in the
 * packet, which owns its memory, with the picture. Regions that are not
 * understood stay, and so does a packet that would be longer than `room`, with
 * a warning. Fails only without memory. */
int xmp_regions_turn(struct bytes *packet, size_t room,
                     const struct change *change, struct warnings *warnings,
                     struct err *err);

/* The same of the image regions of IPTC. */
int xmp_iptc_turn(struct bytes *packet, size_t room,
                  const struct change *change, struct warnings *warnings,
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

/* Takes note in meta->orientation of what the packets say of it. Fails only
 * without memory. */
int xmp_extended_note(struct meta *meta, const struct block_format *format,
                      struct err *err);

/* Turns the packets as xmp_packet_turn() does, and cuts them where they were
 * cut before. Their GUIDs are made true here and in the packets that name them.
 * A packet of which a portion is missing does not grow. */
int xmp_extended_turn(const struct turned *t, struct err *err);

#endif
