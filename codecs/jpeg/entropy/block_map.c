/* Where the blocks of a turned component stand in the list of a scan. */
#include "codecs/jpeg/entropy/block_map.h"

#include "codecs/base/memory.h"

/* Returns what each of `n` columns, or rows, of blocks adds to the number of a
 * block, from `first` on: `across` of them stand in an MCU. NULL without
 * memory. */
static size_t *make_axis(uint32_t n, bool reversed, size_t first,
                         unsigned across, size_t block, size_t mcu)
{
    size_t *part = memory_alloc(n * sizeof *part);
    for (uint32_t i = 0; part && i < n; i++) {
        uint32_t x = reversed ? n - 1 - i : i;
        part[i] = first + x / across * mcu + x % across * block;
    }
    return part;
}

bool block_map_make(struct block_map *map, const struct entropy_scan *scan,
                    unsigned c, enum xform turn)
{
    const struct entropy_component *one = &scan->component[c];
    const size_t blocks = entropy_mcu_blocks(scan);
    size_t first = 0; /* of the component in an MCU */
    for (unsigned i = 0; i < c; i++)
        first += (size_t)scan->component[i].across * scan->component[i].down;
    size_t *x = make_axis(one->columns, xform_reverses_x(turn), first,
                          one->across, 1, blocks);
    size_t *y = make_axis(one->rows, xform_reverses_y(turn), 0, one->down,
                          one->across, blocks * scan->columns);
    if (xform_transposes(turn))
        *map = (struct block_map){ one->rows, one->columns, y, x };
    else
        *map = (struct block_map){ one->columns, one->rows, x, y };
    return x && y;
}

void block_map_free(struct block_map *map)
{
    memory_free(map->column);
    memory_free(map->row);
}
