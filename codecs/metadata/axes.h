/* Numbers for x and for y that lead a block: densities, offsets, sizes. */
#ifndef CODECS_METADATA_AXES_H
#define CODECS_METADATA_AXES_H

#include "codecs/image/meta.h"

/* Exchanges the two of a BLOCK_AXES, BLOCK_CANVAS or BLOCK_SCALE. Malformed
 * ones stay. */
void axes_exchange(struct bytes *body, enum block_kind kind);

/* Exchanges two runs of `size` bytes. */
void axes_exchange_bytes(uint8_t *a, uint8_t *b, size_t size);

#endif
