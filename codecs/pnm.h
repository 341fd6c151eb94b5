/* Samples as PNM and PAM have them: one byte each up to a maxval of 255, else
 * two with the high one first. */
#ifndef CODECS_PNM_H
#define CODECS_PNM_H

#include "codecs/scan.h"

/* Sets cell and maxval. */
int samples_shape(struct image *img, uint32_t maxval, struct err *err);

/* Reads or appends all rows of img, whose planes are allocated. */
int samples_read(struct image *img, struct scan *scan,
                 const struct load_opts *opts, struct err *err);
int samples_write(struct bytes *file, const struct image *img,
                  struct err *err);

#endif
