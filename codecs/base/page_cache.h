/* Allocates large blocks of memory: on large pages where the system has them,
 * and reused for the next picture. For any number of threads. Blocks are
 * counted as memory.h says, from when they are allocated until they are freed.
 */
#ifndef CODECS_BASE_PAGE_CACHE_H
#define CODECS_BASE_PAGE_CACHE_H

#include <stddef.h>

/* Returns a block aligned to 256 bytes, with undefined contents; NULL without
 * memory. */
void *page_cache_alloc(size_t size);

/* Returns a block that begins with the first `used` bytes of `memory`, which it
 * replaces and which may be NULL. Returns NULL without memory, and then leaves
 * `memory` as it is. */
void *page_cache_realloc(void *memory, size_t used, size_t size);

/* Frees a block; fine on NULL. */
void page_cache_free(void *memory);

/* Keeps up to `bytes` of large blocks that are freed from now on, for the next
 * ones that are allocated; 0 frees all. The system clears each page that it
 * gives and takes a fault for it, which for a picture takes as long as to turn
 * it. */
void page_cache_keep(size_t bytes);

#endif
