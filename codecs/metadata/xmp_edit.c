/* Replaces pieces of an XMP packet by others of any length. */
#include "codecs/metadata/xmp_edit.h"

#include <string.h>

void xmp_edit_span(struct xmp_edit *r, struct xml_span span, const char *text)
{
    if (span.at < r->done)
        return;
    if (!bytes_append(&r->made, r->from.data + r->done, span.at - r->done) ||
        !bytes_append(&r->made, text, strlen(text)))
        r->failed = true;
    r->done = span.at + span.size;
}

/* Where the trailer <?xpacket end="w"?> begins; the end if there is none. */
static size_t find_trailer(const struct bytes *packet)
{
    static const char mark[] = "<?xpacket end";
    const size_t length = sizeof mark - 1;
    for (size_t at = packet->size; at-- > 0;)
        if (packet->data[at] == '<' && packet->size - at >= length &&
            memcmp(packet->data + at, mark, length) == 0)
            return at;
    return packet->size;
}

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Takes away blanks before the trailer, or puts some, to make the packet `size`
 * bytes long, as far as that goes. */
static bool settle(struct bytes *packet, size_t size)
{
    size_t trailer = find_trailer(packet), from = trailer;
    if (trailer == packet->size)
        return true;
    while (from > 0 && packet->size - (trailer - from) > size &&
           is_blank(packet->data[from - 1]))
        from--;
    size_t more = size > packet->size ? size - packet->size : 0;
    if (!bytes_reserve(packet, more))
        return false;
    memmove(packet->data + from + more, packet->data + trailer,
            packet->size - trailer);
    memset(packet->data + from, ' ', more);
    packet->size = packet->size - (trailer - from) + more;
    return true;
}

int xmp_edit_end(struct xmp_edit *r, struct bytes *packet, size_t room,
                 const char *no_room, struct warnings *warnings,
                 struct err *err)
{
    struct xml_span end = { .at = r->from.size };
    int status = 0;
    if (r->from.size == 0)
        return 0;
    xmp_edit_span(r, end, "");
    if (r->failed || !settle(&r->made, r->from.size)) {
        status = fail_memory(err, "no memory for XMP");
    } else if (r->made.size <= room) {
        bytes_free(packet);
        *packet = r->made;
        return 0;
    } else {
        warn(warnings, "%s", no_room);
    }
    bytes_free(&r->made);
    return status;
}
