/* Large blocks of memory.
 *
 * The first touch of each page is a fault. For 48 MiB these take 22 ms, with
 * pages of 2 MiB 3 ms (2-core EPYC; memset of fresh memory): so large pages are
 * asked for, and blocks are reused if page_cache_keep() says so. */
#include "codecs/base/page_cache.h"

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "codecs/base/memory.h"

enum { ALIGNMENT = 256 };

/* A block of at least this size begins where a page of 2 MiB may, and ends so
 * that the last one is such a page if half of it is needed. */
static const size_t large = (size_t)1 << 20, large_page = (size_t)2 << 20;

/* A block of at least this size may be kept; malloc() itself keeps smaller
 * ones. Sizes are rounded up to a multiple of it, so that pictures of about the
 * same size can use each other's blocks. */
static const size_t kept_from = (size_t)1 << 20;

/* What stands at the beginning of a kept block. */
struct kept_block {
    struct kept_block *next;
    size_t size;
};

/* The kept blocks, the one that was freed last in front. They belong to the
 * process, as those of malloc() do: a block that one thread frees may be the
 * next one of another thread. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept_block *kept;
static size_t kept_bytes;
static atomic_size_t keep;

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
    size_t alignment = size < large ? ALIGNMENT : large_page;
    size_t tail = size % large_page;
    if (tail >= large)
        size += large_page - tail;
    if (posix_memalign(&memory, alignment, size))
        return NULL;
    advise(memory, size);
    return memory;
}

/* ---- Kept blocks; all functions with the lock held ----------------------- */

static struct kept_block *unlink_block(struct kept_block **at)
{
    struct kept_block *block = *at;
    *at = block->next;
    kept_bytes -= block->size;
    return block;
}

/* Takes the smallest kept block that is large enough, but not one that is far
 * too large, whose memory no limit would count: by more than it may have got
 * for its alignment. Returns NULL if there is none. */
static void *take_kept(size_t size)
{
    struct kept_block **best = NULL;
    for (struct kept_block **at = &kept; *at; at = &(*at)->next)
        if ((*at)->size >= size &&
            (*at)->size - size <= size / 4 + large_page &&
            (!best || (*at)->size < (*best)->size))
            best = at;
    return best ? unlink_block(best) : NULL;
}

/* Frees kept blocks, the oldest first, until no more are kept than allowed. */
static void free_surplus(void)
{
    while (kept_bytes > keep) {
        struct kept_block **last = &kept;
        while ((*last)->next)
            last = &(*last)->next;
        free(unlink_block(last));
    }
}

/* ---- Blocks -------------------------------------------------------------- */

/* Returns whether blocks of this size are kept when they are freed. */
static bool are_kept(size_t size)
{
    return size >= kept_from && atomic_load(&keep) > 0;
}

void *page_cache_alloc(size_t size)
{
    size_t room = size;
    void *memory = NULL;
    if (size > SIZE_MAX / 2 || !memory_take(size))
        return NULL;
    if (are_kept(size)) {
        room = (size + kept_from - 1) & ~(kept_from - 1);
        pthread_mutex_lock(&lock);
        memory = take_kept(room);
        pthread_mutex_unlock(&lock);
    }
    return memory_taken(memory ? memory : alloc_new(room), size);
}

void *page_cache_realloc(void *memory, size_t used, size_t size)
{
    if (memory && malloc_usable_size(memory) >= size)
        return memory;
    if (!are_kept(size) && used > size / 4) {
        uint8_t *moved = memory_realloc(memory, size);
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

/* Blocks of realloc() may not be aligned; they are not kept. */
void page_cache_free(void *memory)
{
    size_t size = malloc_usable_size(memory);
    memory_give(size);
    size &= ~(kept_from - 1);
    if (!are_kept(size) || (uintptr_t)memory % ALIGNMENT) {
        free(memory);
        return;
    }
    struct kept_block *block = memory;
    pthread_mutex_lock(&lock);
    *block = (struct kept_block){ kept, size };
    kept = block;
    kept_bytes += size;
    free_surplus();
    pthread_mutex_unlock(&lock);
}

void page_cache_keep(size_t bytes)
{
    atomic_store(&keep, bytes);
    pthread_mutex_lock(&lock);
    free_surplus();
    pthread_mutex_unlock(&lock);
}
