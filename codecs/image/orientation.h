/* The orientation tags of a file: which of them counts, and whether they agree.
 *
 * A file may say in several places how it is to be shown. EXIF comes before
 * XMP, as viewers have it, and XMP before what single programs made up. */
#ifndef CODECS_IMAGE_ORIENTATION_H
#define CODECS_IMAGE_ORIENTATION_H

/* Where a tag stands; those that come first count before the others. */
enum tag_place {
    TAG_NOWHERE,
    TAG_EXIF,
    TAG_XMP,
    TAG_ORNT,      /* a chunk of a PNG, which ImageMagick writes */
    TAG_HEADER,    /* the order of the pixels in an HDR file */
    TAG_MORE_EXIF, /* behind the first EXIF: it never counts */
};

/* {0}: there is none. */
struct orientation {
    unsigned value; /* the one that counts, 1..8; 0: there is none */
    enum tag_place place;
    unsigned other; /* what another one says instead; 0: they agree */
    enum tag_place other_place;
};

/* "EXIF", "XMP": as people call it. NULL for TAG_NOWHERE. */
const char *orientation_place(enum tag_place place);

/* Takes note of a tag, 1..8; 0 is none. */
void orientation_note(struct orientation *o, enum tag_place place,
                      unsigned value);

#endif
