/* Blocks of metadata as the tests make them: EXIF, XMP, and either of them as
 * PNG text. What a block says is told to its maker, so that a turned one is
 * what is made of the turned values. */
#ifndef TESTS_METADATA_H
#define TESTS_METADATA_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/base/bytes.h"

struct says {
    unsigned orientation;
    uint32_t width, height;
};

/* What is said after a turn that exchanges axes, or does not. */
static inline struct says says_after(struct says s, bool exchanged,
                                     unsigned orientation)
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

static inline void add_little(struct bytes *to, uint32_t value, unsigned bytes)
{
    for (; bytes > 0; bytes--, value >>= 8) {
        uint8_t byte = value & 255;
        if (!bytes_append(to, &byte, 1))
            abort();
    }
}

static inline void add_tag(struct bytes *to, unsigned tag, unsigned type,
                           uint32_t value)
{
    add_little(to, tag, 2);
    add_little(to, type, 2);
    add_little(to, 1, 4);
    add_little(to, value, 4);
}

/* Where things lie in the block that add_exif() makes, from its begin on. */
enum {
    EXIF_IFD0 = 8,
    EXIF_IFD = EXIF_IFD0 + 2 + 4 * 12 + 4,
    EXIF_IFD1 = EXIF_IFD + 2 + 2 * 12 + 4,
    EXIF_THUMBNAIL = EXIF_IFD1 + 2 + 3 * 12 + 4,
};

/* An EXIF block from its TIFF header on, and its thumbnail, a JPEG file, if it
 * has any size. */
static inline void add_exif(struct bytes *to, struct says s,
                            struct bytes thumbnail)
{
    enum { SHORT = 3, LONG = 4 };
    if (!bytes_append(to, "II*\0\10\0\0\0", 8))
        abort();
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
    if (!bytes_append(to, thumbnail.data, thumbnail.size))
        abort();
}

/* Number `i` of the words of 4 bytes, or half of one, at a place of a block. */
static inline uint32_t exif_word(const uint8_t *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
           (uint32_t)at[3] << 24;
}

static inline void add_text(struct bytes *to, const char *text)
{
    if (!bytes_append(to, text, strlen(text)))
        abort();
}

static inline void add_xmp(struct bytes *to, struct says s)
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

/* Any block as ImageMagick puts it into a text of PNG. */
static inline void add_raw_profile(struct bytes *to, const char *name,
                                   struct bytes block)
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

#endif
