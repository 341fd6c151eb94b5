/* Opens a block of metadata, and counts what that costs. */
#include "codecs/metadata/block_format.h"

#include "codecs/image/budget.h"

int block_open(struct bytes *body, const struct metadata_block *block,
               const struct block_format *format, struct budget *budget,
               struct err *err)
{
    if (budget_spend(budget, block->size, err) ||
        format->open(body, block, err))
        return -1;
    if (body->size <= block->size ||
        budget_spend(budget, body->size - block->size, err) == 0)
        return 0;
    bytes_free(body);
    return -1;
}
