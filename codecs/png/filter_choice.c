/* How simple a filtered row is. */
#include "codecs/png/filter_choice.h"

#include <string.h>

#include "codecs/deflate/block_split.h"

static uint64_t entropy(const uint8_t *bytes, size_t size)
{
    uint32_t count[256] = { 0 };
    for (size_t i = 0; i < size; i++)
        count[bytes[i]]++;
    return symbol_count_entropy(count, 256);
}

static uint64_t different_pairs(const uint8_t *bytes, size_t size)
{
    uint64_t seen[1 << 16 >> 6] = { 0 }, n = 0;
    for (size_t i = 1; i < size; i++) {
        unsigned pair = (unsigned)bytes[i - 1] << 8 | bytes[i];
        uint64_t bit = (uint64_t)1 << pair % 64;
        n += (seen[pair / 64] & bit) == 0;
        seen[pair / 64] |= bit;
    }
    return n;
}

/* Filters by the type of which `measure` is the least; of several, the first.
 */
static void filter_least(uint64_t (*measure)(const uint8_t *, size_t),
                         uint8_t *out, const uint8_t *row, const uint8_t *prior,
                         size_t size, unsigned pixel, uint8_t *spare)
{
    uint64_t least = UINT64_MAX;
    unsigned best = FILTER_NONE;
    for (unsigned type = FILTER_NONE; type < FILTER_TYPES; type++) {
        filter_row_with(type, spare, row, prior, size, pixel);
        uint64_t measured = measure(spare + 1, size);
        if (measured < least) {
            least = measured;
            best = type;
        }
    }
    filter_row_with(best, out, row, prior, size, pixel);
}

void filter_row_by(unsigned choice, uint8_t *out, const uint8_t *row,
                   const uint8_t *prior, size_t size, unsigned pixel,
                   uint8_t *spare)
{
    if (choice < FILTER_TYPES)
        filter_row_with(choice, out, row, prior, size, pixel);
    else if (choice == FILTER_LEAST_SUM)
        filter_row(out, row, prior, size, pixel);
    else
        filter_least(choice == FILTER_LEAST_ENTROPY ? entropy : different_pairs,
                     out, row, prior, size, pixel, spare);
}
