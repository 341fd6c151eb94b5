/* Blocks of metadata as the tests make them; see metadata.h. */
#include "tests/support/metadata.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/must.h"

struct says says_after(struct says s, bool exchanged, unsigned orientation)
{
    struct says after = s;
    if (orientation)
        after.orientation = orientation;
    if (exchanged) {
        after.width = s.height;
        after.height = s.width;
    }
    return after;
}

void add_little(struct bytes *to, uint32_t value, unsigned bytes)
{
    uint8_t data[4];
    write_uint(data, bytes, false, value);
    must(bytes_append(to, data, bytes));
}

void add_big(struct bytes *to, uint32_t value, unsigned bytes)
{
    uint8_t data[4];
    write_uint(data, bytes, true, value);
    must(bytes_append(to, data, bytes));
}

void add_tag(struct bytes *to, unsigned tag, unsigned type, uint32_t value)
{
    add_little(to, tag, 2);
    add_little(to, type, 2);
    add_little(to, 1, 4);
    add_little(to, value, 4);
}

void add_exif(struct bytes *to, struct says s, struct bytes thumbnail)
{
    enum { SHORT = 3, LONG = 4 };
    must(bytes_append(to, "II*\0\10\0\0\0", 8));
    add_little(to, 4, 2);
    add_tag(to, 0x0100, LONG, s.width);
    add_tag(to, 0x0101, LONG, s.height);
    add_tag(to, 0x0112, SHORT, s.orientation);
    add_tag(to, 0x8769, LONG, EXIF_IFD);
    add_little(to, thumbnail.size ? EXIF_IFD1 : 0, 4);
    add_little(to, 2, 2);
    add_tag(to, 0xa002, SHORT, s.width);
    add_tag(to, 0xa003, SHORT, s.height);
    add_little(to, 0, 4);
    if (!thumbnail.size)
        return;
    add_little(to, 3, 2);
    add_tag(to, 0x0103, SHORT, 6);
    add_tag(to, 0x0201, LONG, EXIF_THUMBNAIL);
    add_tag(to, 0x0202, LONG, (uint32_t)thumbnail.size);
    add_little(to, 0, 4);
    must(bytes_append(to, thumbnail.data, thumbnail.size));
}

void add_text(struct bytes *to, const char *text)
{
    must(bytes_append(to, text, strlen(text)));
}

void add_xmp(struct bytes *to, struct says s)
{
    char text[400];
    snprintf(text, sizeof text,
             "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF>"
             "<rdf:Description xmlns:tiff=\"http://ns.adobe.com/tiff/1.0/\" "
             "tiff:Orientation=\"%u\" tiff:Make=\"a maker\" "
             "tiff:ImageWidth=\"%u\" tiff:ImageLength=\"%u\"/>"
             "</rdf:RDF></x:xmpmeta>",
             s.orientation, s.width, s.height);
    add_text(to, text);
}

void add_raw_profile(struct bytes *to, const char *name, struct bytes block)
{
    char text[40];
    snprintf(text, sizeof text, "\n%s\n%8zu", name, block.size);
    add_text(to, text);
    for (size_t i = 0; i < block.size; i++) {
        snprintf(text, sizeof text, "%s%02x", i % 36 ? "" : "\n",
                 (unsigned)block.data[i]);
        add_text(to, text);
    }
    add_text(to, "\n");
}
