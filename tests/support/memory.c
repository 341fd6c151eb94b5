/* Memory for cells that says what was asked of it; see memory.h. */
#include "tests/support/memory.h"

#include <string.h>

static void *garbage_alloc(void *context, size_t size)
{
    void *memory = mem_plain.alloc(context, size);
    return memory ? memset(memory, 0xa5, size) : NULL;
}

static void garbage_free(void *context, void *memory)
{
    mem_plain.free(context, memory);
}

const struct mem garbage_memory = { .alloc = garbage_alloc,
                                    .free = garbage_free };

static void *counted_alloc(void *context, size_t size)
{
    struct counted *counted = context;
    counted->calls++;
    counted->bytes += size;
    if (size > counted->most)
        counted->most = size;
    return counted->empty ? NULL : garbage_alloc(NULL, size);
}

static void counted_free(void *context, void *memory)
{
    struct counted *counted = context;
    counted->freed += !!memory;
    mem_plain.free(NULL, memory);
}

struct mem counted_memory(struct counted *counted)
{
    return (struct mem){ counted_alloc, counted_free, counted };
}
