/* Large blocks of memory.
 *
 * The first touch of each page is a fault. For 48 MiB these take 22 ms, with
 * pages of 2 MiB 3 ms (2-core EPYC; memset of fresh memory): so large pages are
 * asked for, and blocks are reused if page_cache_keep() says so. */
#include "codecs/base/page_cache.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALIGNMENT = 256 };

/* A block of at least this size has several whole pages of 2 MiB, wherever it
 * begins. */
static const size_t large = (size_t)8 << 20;

/* A block of at least this size may be kept; malloc() itself keeps smaller
 * ones. Sizes are rounded up to a multiple of it, so that pictures of about the
 * same size can use each other's blocks. */
static const size_t kept_from = (size_t)1 << 20;

/* Blocks that are in use and may be kept, and blocks that are kept, the one
 * that was freed last in front. They belong to the process, as those of
 * malloc() do: a block that one thread frees may be the next one of another
 * thread. */
struct cached_block {
    struct cached_block *next;
    void *memory;
    size_t size;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cached_block *in_use, *kept;
static size_t keep, kept_bytes;

static void advise(void *memory, size_t size)
{
    long page = sysconf(_SC_PAGESIZE);
    if (size < large || page <= 0)
        return;
    /* madvise() takes whole pages only. */
    uintptr_t mask = (uintptr_t)page - 1, begin = (uintptr_t)memory;
    uintptr_t from = (begin + mask) & ~mask, to = (begin + size) & ~mask;
    (void)madvise((void *)from, to - from, MADV_HUGEPAGE);
}

static void *alloc_new(size_t size)
{
    void *memory = NULL;
    if (posix_memalign(&memory, ALIGNMENT, size))
        return NULL;
    advise(memory, size);
    return memory;
}

/* ---- Kept blocks; all functions with the lock held ----------------------- */

/* Returns the link to the block with this memory, or the end of the list. */
static struct cached_block **find(struct cached_block **list,
                                  const void *memory)
{
    while (*list && (*list)->memory != memory)
        list = &(*list)->next;
    return list;
}

static struct cached_block *unlink_block(struct cached_block **at)
{
    struct cached_block *block = *at;
    *at = block->next;
    return block;
}

static void link_block(struct cached_block **list, struct cached_block *block)
{
    block->next = *list;
    *list = block;
}

/* Takes the smallest kept block that is large enough, but not one that is far
 * too large: nobody would have counted that memory. */
static struct cached_block *take_kept(size_t size)
{
    struct cached_block **best = NULL;
    for (struct cached_block **at = &kept; *at; at = &(*at)->next)
        if ((*at)->size >= size && (*at)->size - size <= size / 4 &&
            (!best || (*at)->size < (*best)->size))
            best = at;
    if (!best)
        return NULL;
    kept_bytes -= (*best)->size;
    return unlink_block(best);
}

/* Frees kept blocks, the oldest first, until no more are kept than allowed. */
static void free_surplus(void)
{
    while (kept_bytes > keep) {
        struct cached_block **last = &kept;
        while ((*last)->next)
            last = &(*last)->next;
        struct cached_block *block = unlink_block(last);
        kept_bytes -= block->size;
        free(block->memory);
        free(block);
    }
}

/* Takes a kept block, or makes one that may be kept. */
static void *take(size_t size)
{
    size_t room = (size + kept_from - 1) & ~(kept_from - 1);
    struct cached_block *block = take_kept(room);
    if (!block && (block = calloc(1, sizeof *block))) {
        block->size = room;
        block->memory = alloc_new(room);
    }
    if (!block || !block->memory) {
        free(block);
        return NULL;
    }
    link_block(&in_use, block);
    return block->memory;
}

/* ---- Blocks -------------------------------------------------------------- */

void *page_cache_alloc(size_t size)
{
    if (size < kept_from || size > SIZE_MAX / 2)
        return alloc_new(size);
    pthread_mutex_lock(&lock);
    bool keeping = keep > 0;
    void *memory = keeping ? take(size) : NULL;
    pthread_mutex_unlock(&lock);
    return keeping ? memory : alloc_new(size);
}

void *page_cache_realloc(void *memory, size_t used, size_t size)
{
    pthread_mutex_lock(&lock);
    const struct cached_block *block = memory ? *find(&in_use, memory) : NULL;
    bool keeping = keep > 0, fits = block && block->size >= size;
    pthread_mutex_unlock(&lock);
    if (fits)
        return memory;
    if (!block && (!keeping || size < kept_from)) {
        uint8_t *moved = realloc(memory, size);
        if (moved)
            advise(moved + used, size - used);
        return moved;
    }
    void *moved = page_cache_alloc(size);
    if (!moved)
        return NULL;
    if (used)
        memcpy(moved, memory, used);
    page_cache_free(memory);
    return moved;
}

void page_cache_free(void *memory)
{
    if (!memory)
        return;
    pthread_mutex_lock(&lock);
    struct cached_block **at = find(&in_use, memory);
    if (!*at) {
        pthread_mutex_unlock(&lock);
        free(memory);
        return;
    }
    struct cached_block *block = unlink_block(at);
    link_block(&kept, block);
    kept_bytes += block->size;
    free_surplus();
    pthread_mutex_unlock(&lock);
}

void page_cache_keep(size_t bytes)
{
    pthread_mutex_lock(&lock);
    keep = bytes;
    free_surplus();
    pthread_mutex_unlock(&lock);
}
