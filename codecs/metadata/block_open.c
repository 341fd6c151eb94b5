/* Opens a block of metadata, and counts what that costs. */
#include "codecs/metadata/block_format.h"

#include "codecs/image/budget.h"

/* How often a packet of XMP is read from its begin to its end: once for the
 * namespaces of each subject, once more for those that share a prefix, and once
 * for the subject. */
enum { PASSES_OF_XMP = 5 };

static uint64_t work_of(const struct metadata_block *block, size_t size)
{
    const bool xmp = block->kind == BLOCK_XMP ||
                     block->kind == BLOCK_XMP_EXTENDED ||
                     block->kind == BLOCK_RAW_PROFILE;
    return (uint64_t)size * (xmp ? PASSES_OF_XMP : 1);
}

int block_open(struct bytes *body, const struct metadata_block *block,
               const struct block_format *format, struct budget *budget,
               struct err *err)
{
    if (budget_spend(budget, work_of(block, block->size), err) ||
        format->open(body, block, err))
        return -1;
    if (body->size <= block->size ||
        budget_spend(budget, work_of(block, body->size - block->size), err) ==
            0)
        return 0;
    bytes_free(body);
    return -1;
}
