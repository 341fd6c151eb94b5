/* The pictures of a TIFF file turned, and what it says of them. */
#ifndef CODECS_TIFF_TURN_H
#define CODECS_TIFF_TURN_H

#include "codecs/tiff/strips.h"

/* Fails if what a directory says cannot be made true of its picture, which is
 * moved by dir->turn. `pages` is how many the file has. */
int tags_check(struct directory *dir, uint64_t pages, struct warnings *warnings,
               struct err *err);

/* Makes all that a directory says beside its samples true of the turned
 * picture, its size too, and leaves out what is not to be kept. */
int tags_turn(struct directory *dir, const struct save_opts *save,
              struct err *err);

/* struct codec.turn. */
int tiff_turn(struct bytes *out, struct image *img, struct bytes file,
              enum xform t, const struct load_opts *opts, struct err *err);

#endif
