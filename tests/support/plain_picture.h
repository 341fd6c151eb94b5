/* Pictures as libpng and libjpeg decode them, and ten lines that read what we
 * write as PNM and PAM: an oracle of whole jobs that shares no code with them.
 */
#ifndef TESTS_SUPPORT_PLAIN_PICTURE_H
#define TESTS_SUPPORT_PLAIN_PICTURE_H

#include "codecs/base/bytes.h"
#include "codecs/image/xform.h"

struct plain_picture {
    uint32_t width, height;
    unsigned channels; /* gray, gray and alpha, RGB, RGB and alpha */
    unsigned maxval;   /* of full intensity */
    unsigned stored;   /* PNG: the bits and the type of color in the file; the
                          samples are those of its colors */
    bool sound;        /* it was read to its end, without a warning */
    uint16_t *samples; /* side by side; NULL if it was not read */
};

/* Reads a file of the format of this name, if it is one of those above and of
 * at most so many pixels. Ends the program without memory. */
void plain_picture_read(struct plain_picture *picture, const char *format,
                        struct bytes file, uint64_t pixels_max);

/* The same of a PNG whose samples are to be those of the file, not of its
 * colors. */
void plain_picture_read_stored(struct plain_picture *picture,
                               struct bytes file);

void plain_picture_free(struct plain_picture *picture);

/* Whether `to` shows what `from` shows after the turn, sample by sample, with
 * as much of full intensity. */
bool plain_picture_is_turned(const struct plain_picture *from,
                             const struct plain_picture *to, enum xform turn);

#endif
