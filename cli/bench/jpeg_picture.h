/* The pictures of the section "jpeg" of bench. */
#ifndef CLI_BENCH_JPEG_PICTURE_H
#define CLI_BENCH_JPEG_PICTURE_H

#include "codecs/base/bytes.h"
#include "codecs/base/err.h"
#include "cuda/bench/kernel_suite.h"

enum { JPEG_PICTURE_QUALITY = 88 }; /* the highest one that is 4:2:0 */

/* Makes a JPEG file of noise of all scales, as photographs have it, 0.42
 * MB for 2 megapixels. Equal numbers make equal pictures.
 * Returns 0, and the caller frees the file; on failure -1, with the reason in
 * `err`. */
int jpeg_picture_make(struct bytes *file, struct suite_shape shape,
                      uint32_t number, struct err *err);

#endif
