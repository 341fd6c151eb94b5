/* Offers a picture to a device that turns its scans (scan_turner.h), also where
 * some or all of its components go through samples, or where it becomes samples
 * itself. */
#ifndef CODECS_JPEG_OFFER_H
#define CODECS_JPEG_OFFER_H

#include "codecs/codec.h"
#include "codecs/jpeg/parameters.h"

/* Offers the picture whose parameters these are, and whose data has been found,
 * p->coded, in the representation of the plan: p->turned is {0}. Returns
 * whether it is turned there. */
bool offer_picture(const struct jpeg_parameters *p,
                   const struct decode_plan *plan);

/* Offers a picture of one scan, which is to become samples: img->made says how
 * they are packed. Returns whether it is turned there: then img has its shape
 * after the turn, and img->made is where they will be. */
bool offer_samples(struct image *img, bool to_rgb,
                   const struct decode_plan *plan);

/* Sets the steps of what was made to those that it has. */
void offer_take_steps(struct sequential_turned *turned);

#endif
