/* Memory for cells that counts what is asked of it, and gives blocks full of
 * garbage. */
#ifndef TESTS_SUPPORT_MEMORY_H
#define TESTS_SUPPORT_MEMORY_H

#include "codecs/image/image.h"

struct counted {
    size_t calls, freed;
    size_t bytes, most; /* in all, and of the largest block */
    bool empty;         /* it gives nothing */
};

struct mem counted_memory(struct counted *counted);

/* The same without counts. */
extern const struct mem garbage_memory;

#endif
