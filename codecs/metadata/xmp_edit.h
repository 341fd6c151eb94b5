/* Replaces pieces of an XMP packet by others of any length.
 *
 * The padding before the trailer of a packet grows and shrinks so that the
 * packet keeps its size, as far as it suffices (XMP specification, part
 * 1, 7.3.2). A packet without a trailer changes its size. */
#ifndef CODECS_METADATA_XMP_EDIT_H
#define CODECS_METADATA_XMP_EDIT_H

#include "codecs/base/bytes.h"
#include "codecs/base/err.h"
#include "codecs/metadata/xml.h"

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
 * no longer than `room`; else it stays, with the warning `no_room`. Frees all
 * else. Fails only without memory. */
int xmp_edit_end(struct xmp_edit *edit, struct bytes *packet, size_t room,
                 const char *no_room, struct warnings *warnings,
                 struct err *err);

#endif
