/* Samples as PNM and PAM have them: one byte each up to a maxval of 255, else
 * two with the high one first. */
#ifndef CODECS_SIMPLE_PNM_H
#define CODECS_SIMPLE_PNM_H

#include "codecs/simple/netpbm_header.h"

/* Sets cell and maxval. */
int samples_shape(struct image *img, uint32_t maxval, struct err *err);

/* The bytes of all rows. */
uint64_t samples_size(const struct image *img);

/* Allocates the planes of img and reads all rows; or appends them. Whether the
 * file has samples_size() bytes is asked before, by netpbm_has(). */
int samples_read(struct image *img, struct netpbm_scan *scan,
                 const struct load_opts *opts, struct err *err);
int samples_write(struct bytes *file, const struct image *img,
                  struct err *err);

#endif
