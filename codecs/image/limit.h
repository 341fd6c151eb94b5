/* What is said of a picture that is larger than a limit: what it needs, the
 * limit, and the option that raises it. All return -1. */
#ifndef CODECS_IMAGE_LIMIT_H
#define CODECS_IMAGE_LIMIT_H

#include "codecs/image/image.h"

/* Of a picture with too many pixels, or too many to a side. */
int limit_refuse_pixels(uint64_t width, uint64_t height,
                        const struct limits *limits, struct err *err);

/* Of what needs too many bytes. `what` ends in a verb, as "9 x 9 pixels need".
 * UINT64_MAX: more than can be counted. */
int limit_refuse_bytes(const char *what, uint64_t bytes, uint64_t limit,
                       struct err *err);

#endif
