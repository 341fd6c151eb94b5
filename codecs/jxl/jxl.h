/* JPEG XL, which is turned without its samples: three bits of the image header
 * say how all that a file holds is shown.
 *
 * A file comes in, a bare codestream or boxes with pieces of one (ISO/IEC
 * 18181-1 and -2), and goes out with other bits. jxl.c finds the codestream and
 * writes the boxes, codestream.c knows the image header, metadata.c EXIF and
 * XMP beside it. The room decodes nothing. */
#ifndef CODECS_JXL_JXL_H
#define CODECS_JXL_JXL_H

#include "codecs/base/box.h"
#include "codecs/codec.h"

/* What takes the place of some bytes of a file. */
struct jxl_patch {
    size_t at, was;
    struct bytes made; /* owned */
};

/* ---- The image header (codestream.c) --------------------------------------*/

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
};

/* Reads the header that a codestream, or a piece of one, begins with. Of a
 * `whole` one, fails also if it ends before its frames do, as far as their
 * headers tell without a decoder. */
int jxl_header_read(struct jxl_header *header, struct bytes stream, bool whole,
                    struct err *err);

/* Patches the first bytes of the codestream, from patch->at on, so that the
 * picture has this orientation. */
int jxl_header_set(struct jxl_patch *patch, struct bytes stream,
                   const struct jxl_header *header, unsigned orientation,
                   struct err *err);

/* Returns by how many bytes it grows then: it does if there is no field for the
 * orientation, and by whole bytes, since only a decoder finds the end of what
 * follows. */
unsigned jxl_header_growth(const struct jxl_header *header);

/* ---- EXIF and XMP (metadata.c) --------------------------------------------*/

/* The tags of a file. */
struct jxl_tags {
    struct orientation orientation; /* what they say, but for 1 */
    bool has_exif, can_set;         /* the first EXIF, and a tag in it */
    unsigned says;                  /* what they are to say */
    enum xform op;   /* that turns on a thumbnail with a tag of its own */
    size_t unpacked; /* bytes of compressed boxes, so far */
};

/* Loads the libraries for compressed boxes. Fails if one is missing. */
int jxl_load_brotli(struct err *err);

/* Returns whether a box holds this type, compressed or not. */
bool jxl_box_holds(struct bytes file, const struct box *box, const char *type);

/* Takes note of the tags in a box, if it is one of EXIF or XMP. */
int jxl_tags_note(struct jxl_tags *tags, struct bytes file,
                  const struct box *box, struct err *err);

/* Sets them. The patch stays as it is if nothing changes. */
int jxl_tags_set(struct jxl_patch *patch, struct jxl_tags *tags,
                 struct bytes file, const struct box *box,
                 struct warnings *warnings, struct err *err);

#endif
