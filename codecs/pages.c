/* Large blocks of memory on large pages. */
#include "codecs/pages.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* From here on a block holds a few whole pages of 2 MiB, wherever it begins. */
static const size_t large = (size_t)8 << 20;

void pages_advise(void *memory, size_t size)
{
    long page = sysconf(_SC_PAGESIZE);
    if (size < large || page <= 0)
        return;
    /* Only whole pages can be spoken of. */
    uintptr_t mask = (uintptr_t)page - 1, begin = (uintptr_t)memory;
    uintptr_t from = (begin + mask) & ~mask, to = (begin + size) & ~mask;
    (void)madvise((void *)from, to - from, MADV_HUGEPAGE);
}
