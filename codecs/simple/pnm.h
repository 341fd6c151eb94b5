/* Samples as PNM and PAM have them: one byte each up to a maxval of 255, else
 * two with the high one first. */
#ifndef CODECS_SIMPLE_PNM_H
#define CODECS_SIMPLE_PNM_H

#include "codecs/simple/netpbm.h"

/* Sets cell and maxval. */
int netpbm_set_maxval(struct image *img, uint32_t maxval, struct err *err);

/* The bytes of all rows. */
uint64_t netpbm_samples_size(const struct image *img);

/* Allocates the planes of img and reads all rows; or appends them. Whether the
 * file has netpbm_samples_size() bytes is asked before, by netpbm_has(). */
int netpbm_read_samples(struct reader *reader, struct netpbm_reader *scan,
                        const struct decode_plan *plan, struct err *err);
int netpbm_write_samples(struct bytes *file, const struct image *img,
                         struct err *err);

#endif
