/* JPEG XL, which is turned without its samples: three bits of the image header
 * say how all that a file holds is shown.
 *
 * A file comes in, a bare codestream or boxes with pieces of one (ISO/IEC
 * 18181-1 and -2), and goes out with other bits. codestream.c knows the image
 * header; jxl.c finds the codestream, with EXIF and XMP beside it, asks libjxl
 * whether all frames are there, and writes the boxes. No sample is decoded. */
#ifndef CODECS_JXL_JXL_H
#define CODECS_JXL_JXL_H

#include "codecs/base/box.h"
#include "codecs/codec.h"

/* What takes the place of some bytes of a file. */
struct jxl_patch {
    size_t at, was;
    struct bytes made; /* owned */
};

/* By how many bytes a header without a field for the orientation grows to have
 * it, by whole ones since only a decoder finds the end of what follows: where
 * all its fields stand there, and where one bit stands for them. */
enum { JXL_GROWS = 7, JXL_GROWS_ALL = 3 };

struct jxl_header {
    struct jxl_size {
        uint32_t width, height;
    } stored, shown;      /* shown: that readers are advised to scale the
                             turned picture to; 0: none */
    unsigned orientation; /* 1..8, as EXIF counts */
    unsigned grows; /* when that is set; 0: it has the field, else it is 1 */
    size_t at;      /* the bit of the field; or of the flag that it is there, or
                       that all is as usual */
    size_t end;     /* that behind the bits that change then */
    uint64_t profile; /* the bytes of one that follows, unpacked; 0: there is
                         none; UINT64_MAX: extensions stand before it, of which
                         nothing is known */
};

/* Reads the header that a codestream, or a piece of one, begins with. */
int jxl_header_read(struct jxl_header *header, struct bytes stream,
                    struct err *err);

/* Patches the first bytes of the codestream, from patch->at on, so that the
 * picture has this orientation. */
int jxl_header_set(struct jxl_patch *patch, struct bytes stream,
                   const struct jxl_header *header, unsigned orientation,
                   struct err *err);

#endif
