/* The directory in an XMP packet of what stands behind the picture. */
#include "codecs/metadata/xmp_container.h"

#include <stdio.h>

#include "codecs/metadata/xml.h"
#include "codecs/metadata/xmp_edit.h"

enum { CONTAINER, ITEM, SPACES };
static const struct xmlns namespaces[SPACES] = {
    [CONTAINER] = { "http://ns.google.com/photos/1.0/container/", "Container" },
    [ITEM] = { "http://ns.google.com/photos/1.0/container/item/", "Item" },
};

/* Returns false if the value is not a number, or larger than any file. */
static bool read_size(const uint8_t *packet, struct xml_span value,
                      size_t *size)
{
    value = xml_trim(packet, value);
    *size = 0;
    for (size_t i = 0; i < value.size; i++) {
        uint8_t c = packet[value.at + i];
        if (c < '0' || c > '9' || *size > SIZE_MAX / 16)
            return false;
        *size = *size * 10 + (c - '0');
    }
    return value.size > 0;
}

/* An item is an element whose properties are attributes, or elements within. */
size_t xmp_container_items(const uint8_t *packet, size_t size,
                           struct xmp_container_item *items, size_t room)
{
    struct xml_reader xml = { .text = packet, .size = size };
    struct xml_namespace spaces[SPACES];
    struct xmp_container_item item = { 0 };
    struct xml_token token;
    size_t count = 0, number;
    xml_find_namespaces(packet, size, spaces, namespaces, SPACES);
    while (count < room && xml_next(&xml, &token)) {
        bool ends = token.kind == XML_CLOSING ||
                    (token.kind == XML_ELEMENT && token.empty);
        if (ends &&
            xml_is_named(packet, token.name, &spaces[CONTAINER], "Item")) {
            items[count++] = item;
            item = (struct xmp_container_item){ 0 };
        } else if (token.kind == XML_CLOSING ||
                   !read_size(packet, token.value, &number)) {
            continue;
        } else if (xml_is_named(packet, token.name, &spaces[ITEM], "Length")) {
            item.length = number;
        } else if (xml_is_named(packet, token.name, &spaces[ITEM], "Padding")) {
            item.padding = number;
        }
    }
    return count;
}

/* Both lists are in the order of the file: each length is given once. */
int xmp_container_set_lengths(struct bytes *packet, size_t room,
                              const struct lengths *lengths,
                              struct warnings *warnings, struct err *err)
{
    struct xml_reader xml = { .text = packet->data, .size = packet->size };
    struct xmp_edit edit = { .from = *packet };
    struct xml_namespace spaces[SPACES];
    struct xml_token token;
    bool used[LENGTHS_MAX] = { false };
    char text[24];
    size_t number;
    if (lengths->count == 0)
        return 0;
    xml_find_namespaces(packet->data, packet->size, spaces, namespaces, SPACES);
    while (xml_next(&xml, &token)) {
        size_t i = 0;
        if (token.kind == XML_CLOSING ||
            !xml_is_named(packet->data, token.name, &spaces[ITEM], "Length") ||
            !read_size(packet->data, token.value, &number))
            continue;
        while (i < lengths->count &&
               (used[i] || lengths->list[i].was != number))
            i++;
        if (i == lengths->count)
            continue;
        snprintf(text, sizeof text, "%zu", lengths->list[i].is);
        xmp_edit_span(&edit, xml_trim(packet->data, token.value), text);
        used[i] = true;
    }
    return xmp_edit_end(&edit, packet, room,
                        "there is no room in XMP for the new lengths of what "
                        "stands behind the picture",
                        warnings, err);
}
