/* JPEG XL, which is turned without its samples: three bits of the image header
 * say how all that a file holds is shown.
 *
 * A file comes in, a bare codestream or boxes with pieces of one (ISO/IEC
 * 18181-1 and -2), and goes out with other bits. jxl.c finds the codestream and
 * writes the boxes, header.c knows the image header, metadata.c EXIF and XMP
 * beside it. The room decodes nothing. */
#ifndef CODECS_JXL_JXL_H
#define CODECS_JXL_JXL_H

#include "codecs/base/box.h"
#include "codecs/codec.h"

/* ---- The image header (header.c) ------------------------------------------*/

struct jxl_header {
    uint32_t width, height;             /* as stored */
    uint32_t shown_width, shown_height; /* that readers are advised to scale
                                           the turned picture to; 0: none */
    unsigned orientation;               /* 1..8, as EXIF counts */
    bool has_field;                     /* for it; else it is 1 */
    bool all_default; /* one bit stands for all behind the size */
    size_t at;        /* the bit of the field; or that of all_default; or of
                         the flag that says that the field is not there */
    size_t tone_at;   /* the bit where fields that go with it would end */
    struct jxl_frames {
        size_t at;    /* the bit behind the header */
        bool unknown; /* a profile or a preview comes first, whose end only
                         a decoder finds */
        bool xyb;     /* the color space of the samples */
        bool animated, timed;
        uint32_t channels; /* beside the colors */
    } frames;
};

/* Reads the header that `head` begins with: the codestream, or as much of it as
 * is at hand. */
int jxl_header_read(struct jxl_header *header, struct bytes head,
                    struct err *err);

/* Appends to `made` what the first *was bytes of `head` become so that the
 * picture has this orientation. They become more if there is no field for it,
 * but whole bytes, since only a decoder finds the end of what follows. */
int jxl_header_set(struct bytes *made, size_t *was, struct bytes head,
                   const struct jxl_header *header, unsigned orientation,
                   struct err *err);

/* ---- Frames (frames.c) ----------------------------------------------------*/

/* Fails if a codestream ends before its frames do, as far as their headers tell
 * without a decoder. */
int jxl_frames_check(struct bytes stream, const struct jxl_header *header,
                     struct err *err);

/* ---- EXIF and XMP (metadata.c) --------------------------------------------*/

/* What takes the place of some bytes of a file. */
struct jxl_patch {
    size_t at, was;
    struct bytes made; /* owned */
};

/* The tags of a file. */
struct jxl_tags {
    struct orientation orientation; /* what they say, but for 1 */
    bool has_exif, can_set;         /* the first EXIF, and a tag in it */
    unsigned says;                  /* what they are to say */
    enum xform op;   /* that turns on a thumbnail with a tag of its own */
    size_t unpacked; /* bytes of compressed boxes, so far */
    unsigned packed; /* boxes that were compressed again */
};

/* Loads the libraries for compressed boxes. Fails if one is missing. */
int jxl_load_brotli(struct err *err);

/* Returns whether a box holds this type, compressed or not. */
bool jxl_box_holds(struct bytes file, const struct box *box, const char *type);

/* Takes note of the tags in a box of EXIF or XMP. */
int jxl_tags_note(struct jxl_tags *tags, struct bytes file,
                  const struct box *box, struct err *err);

/* Sets them. The patch stays as it is if nothing changes. */
int jxl_tags_set(struct jxl_patch *patch, struct jxl_tags *tags,
                 struct bytes file, const struct box *box,
                 struct warnings *warnings, struct err *err);

#endif
