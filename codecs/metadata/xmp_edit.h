/* An XMP packet with pieces of it replaced by others, of any length.
 *
 * What a packet grows by is taken from the padding before its trailer, and what
 * it shrinks by is given there, so that it mostly keeps its size (XMP
 * specification, part 1, 7.3.2). Without a trailer the packet changes its size.
 */
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
