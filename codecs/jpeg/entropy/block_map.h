/* Where the blocks of a turned component stand in the list of a scan. */
#ifndef CODECS_JPEG_ENTROPY_BLOCK_MAP_H
#define CODECS_JPEG_ENTROPY_BLOCK_MAP_H

#include <stdbool.h>
#include <stddef.h>

#include "codecs/image/xform.h"
#include "codecs/jpeg/entropy/entropy.h"

/* The block in column x and row y after the turn is number column[x] + row[y]
 * of the list. */
struct block_map {
    uint32_t columns, rows; /* blocks that hold samples, after the turn */
    size_t *column, *row;
};

/* Makes the map of component c of a scan that is turned. Returns false without
 * memory. It is to be freed in any case. */
bool block_map_make(struct block_map *map, const struct entropy_scan *scan,
                    unsigned c, enum xform turn);

void block_map_free(struct block_map *map);

#endif
