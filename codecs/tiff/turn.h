/* The pictures of a TIFF file turned, and what it says of them. */
#ifndef CODECS_TIFF_TURN_H
#define CODECS_TIFF_TURN_H

#include "codecs/tiff/strips.h"

/* A picture of a file that is turned. */
struct tiff_turn {
    struct tiff_form form;
    enum xform t;
    uint32_t width, height; /* before the turn */
    unsigned samples;
    bool separate;
    const struct save_opts *save;
};

/* Fails if what a directory says cannot be made true of a picture that is
 * moved. `pages` is how many the file has. */
int tags_check(const struct tiff_turn *turn, const struct directory *dir,
               uint64_t pages, struct err *err);

/* Makes all that a directory says beside its samples true of the turned
 * picture, and leaves out what is not to be kept. */
int tags_turn(const struct tiff_turn *turn, struct directory *dir,
              struct err *err);

/* struct codec.turn. */
int tiff_turn(struct bytes *out, struct image *img, struct bytes file,
              enum xform t, const struct load_opts *opts, struct err *err);

#endif
