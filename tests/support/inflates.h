/* Checks deflated bytes by zlib. */
#ifndef TESTS_SUPPORT_INFLATES_H
#define TESTS_SUPPORT_INFLATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether zlib inflates `size` bytes of deflate to exactly `n` of data, which
 * may refer to the `before` bytes that stand before these. */
bool inflates_to(uint8_t *in, size_t size, const uint8_t *data, size_t before,
                 size_t n, bool final);

#endif
