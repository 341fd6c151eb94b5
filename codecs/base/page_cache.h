/* Large blocks of memory: on large pages where the system has them, and kept
 * for the next picture where there is one. */
#ifndef CODECS_BASE_PAGE_CACHE_H
#define CODECS_BASE_PAGE_CACHE_H

#include <stddef.h>

/* A block aligned to 256 bytes, whose content is undefined. NULL: no memory. For
 * any number of threads, as all here. */
void *page_cache_alloc(size_t size);

/* A block with the first `used` bytes of `memory`, which it takes the place of;
 * NULL leaves that as it is. `memory` may be NULL. */
void *page_cache_realloc(void *memory, size_t used, size_t size);

/* Frees a block; fine on NULL. */
void page_cache_free(void *memory);

/* From now on up to `bytes` of large blocks that were freed are kept, for those
 * that are asked for next: the system clears each page that it gives, and takes
 * a fault for it, which for the blocks of a picture takes as long as to turn
 * it. 0 frees what is kept. */
void page_cache_keep(size_t bytes);

#endif
