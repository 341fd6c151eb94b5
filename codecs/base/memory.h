/* Memory that the files in work take, counted where it is taken.
 *
 * All of codecs/ takes its memory here, large blocks through page_cache.h, and
 * libpng and zlib take here what they need. A thread works for one file at a
 * time, so a block counts for the file of the thread that takes it, and no
 * longer once a thread of the same file has freed it. The threads of a pool
 * work for the file of the thread whose task they do (thread_pool.h).
 *
 * Blocks are those of malloc(): one that is freed elsewhere does no harm, but
 * is counted on. */
#ifndef CODECS_BASE_MEMORY_H
#define CODECS_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Lets a file take so many bytes more: those of samples, whose limit has been
 * looked at by then, and what follows from their shape. */
void memory_plan(size_t size);

/* Takes that back. */
void memory_unplan(size_t size);

/* Counts bytes that are about to be taken. Returns false, and counts nothing,
 * if they are beyond the limit. */
bool memory_take(size_t size);

/* Counts bytes that were given back. */
void memory_give(size_t size);

/* Counts a block of malloc() that memory_take() was asked for with `size`
 * bytes, and that has more; or, NULL, that there is none. Returns it. */
void *memory_taken(void *memory, size_t size);

/* As malloc(), calloc(), realloc() and free(); NULL also beyond the limit. */
void *memory_alloc(size_t size);
void *memory_alloc_zeroed(size_t n, size_t size);
void *memory_realloc(void *memory, size_t size);
void memory_free(void *memory);

/* Returns a list of n elements of so many bytes with room for one more, which
 * it has for 1, 2, 4, ... of them; NULL without memory, and the list stays. */
void *memory_extend(void *list, size_t n, size_t size);

#endif
