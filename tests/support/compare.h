/* Comparison of pictures and of files. */
#ifndef TESTS_SUPPORT_COMPARE_H
#define TESTS_SUPPORT_COMPARE_H

#include "codecs/base/bytes.h"
#include "codecs/image/image.h"

/* Whether two pictures have planes of the same shape and the same cells. */
bool same_cells(const struct image *a, const struct image *b);

bool same_bytes(struct bytes a, struct bytes b);

#endif
