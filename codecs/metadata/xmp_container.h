/* The directory in an XMP packet of what stands behind the picture (Google's
 * container, as Ultra HDR and motion photos have it). */
#ifndef CODECS_METADATA_XMP_CONTAINER_H
#define CODECS_METADATA_XMP_CONTAINER_H

#include "codecs/base/bytes.h"
#include "codecs/base/err.h"

/* One item: items follow each other, each with its padding behind it. */
struct xmp_container_item {
    size_t length, padding;
};

/* Fills up to `room` items in order, the first of which is the picture itself,
 * and gives their number. */
size_t xmp_container_items(const uint8_t *packet, size_t size,
                           struct xmp_container_item *items, size_t room);

/* Pictures behind the first one whose lengths have changed, in order. */
enum { LENGTHS_MAX = 64 };
struct lengths {
    size_t count;
    struct length {
        size_t was, is;
    } list[LENGTHS_MAX];
};

/* Replaces the lengths of items that are in the list. The packet owns its
 * memory; one that would be longer than `room` stays, with a warning. Fails
 * only without memory. */
int xmp_container_set_lengths(struct bytes *packet, size_t room,
                              const struct lengths *lengths,
                              struct warnings *warnings, struct err *err);

#endif
