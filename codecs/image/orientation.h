/* The orientation tags of a file: which of them counts, and whether they agree.
 *
 * A file may have them in several places. A field of the format itself counts
 * before EXIF; EXIF counts before XMP, as in viewers, and XMP before the tags
 * of single programs. */
#ifndef CODECS_IMAGE_ORIENTATION_H
#define CODECS_IMAGE_ORIENTATION_H

/* Where a tag stands; those that come first count before the others. */
enum tag_place {
    TAG_NOWHERE,
    TAG_TRANSFORMS, /* irot and imir of a HEIF file */
    TAG_CODESTREAM, /* the image header of JPEG XL */
    TAG_IFD,        /* the first IFD of a TIFF file */
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
    unsigned other; /* the value of one that disagrees; 0: they agree */
    enum tag_place other_place;
};

/* Returns the name for people: "EXIF", "XMP"; NULL for TAG_NOWHERE. */
const char *orientation_place(enum tag_place place);

/* Takes note of a tag, 1..8; 0 is none. */
void orientation_note(struct orientation *o, enum tag_place place,
                      unsigned value);

#endif
