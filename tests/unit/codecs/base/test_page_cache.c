/* Large blocks keep what was written to them, share no byte, and are reused
 * after they were freed. */
#include "codecs/base/page_cache.h"

#include <malloc.h>
#include <pthread.h>

#include "tests/support/test.h"

enum { BLOCKS = 12, STEPS = 3000, LARGEST = 3 << 20 };

/* Marks all of a block, and looks whether the mark is there: at both ends and
 * each 4096 bytes, which every page has. */
static void mark(uint8_t *block, size_t size, uint8_t value)
{
    for (size_t i = 0; i < size; i += 4096)
        block[i] = value;
    block[size - 1] = value;
}

static bool is_marked(const uint8_t *block, size_t size, uint8_t value)
{
    for (size_t i = 0; i < size; i += 4096)
        if (block[i] != value)
            return false;
    return block[size - 1] == value;
}

struct held {
    uint8_t *block;
    size_t size;
    uint8_t value;
};

static unsigned next(unsigned *seed)
{
    return *seed = *seed * 1664525 + 1013904223;
}

static bool step(struct held *held, unsigned *seed)
{
    size_t size = next(seed) % (next(seed) & 64 ? LARGEST : 4096) + 1;
    uint8_t value = (uint8_t)(next(seed) >> 16);
    if (held->block && !is_marked(held->block, held->size, held->value))
        return false;
    if (held->block && next(seed) & 128) {
        page_cache_free(held->block);
        held->block = NULL;
        return true;
    }
    if (held->block) {
        size_t kept = size < held->size ? size : held->size;
        uint8_t *moved = page_cache_realloc(held->block, kept, size);
        if (!moved || moved[0] != held->value)
            return false;
        held->block = moved;
    } else if (!(held->block = page_cache_alloc(size)) ||
               (uintptr_t)held->block % 256) {
        return false;
    }
    held->size = size;
    held->value = value;
    mark(held->block, size, value);
    return true;
}

static void *run(void *argument)
{
    unsigned *seed = argument;
    struct held held[BLOCKS] = { 0 };
    size_t good = 0;
    for (unsigned i = 0; i < STEPS; i++)
        good += step(&held[next(seed) >> 8 & 7], seed);
    for (unsigned i = 0; i < BLOCKS; i++)
        page_cache_free(held[i].block);
    return (void *)(uintptr_t)good;
}

static void check_threads(size_t keep)
{
    pthread_t thread[3];
    unsigned seed[3] = { 1, 2, 3 };
    page_cache_keep(keep);
    for (unsigned i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, run, &seed[i]);
    for (unsigned i = 0; i < 3; i++) {
        void *good;
        pthread_join(thread[i], &good);
        CHECK((uintptr_t)good == STEPS, "%zu of %d steps, %zu kept",
              (size_t)(uintptr_t)good, (int)STEPS, keep);
    }
    page_cache_keep(0);
}

/* A freed block is reused for about the same size, and no more is kept than
 * allowed. */
TEST(kept)
{
    enum { MIB = 1 << 20 };
    page_cache_keep(9 * MIB);
    void *a = page_cache_alloc(4 * MIB), *b = page_cache_alloc(6 * MIB);
    page_cache_free(a);
    page_cache_free(b); /* 10 MiB: the first goes */
    struct mallinfo2 info = mallinfo2();
    CHECK(info.uordblks + info.hblkhd < 9 * MIB, "%zu bytes are kept",
          info.uordblks + info.hblkhd);
    void *c = page_cache_alloc(6 * MIB - 100);
    CHECK(c == b, "the second is used again");
    void *d = page_cache_alloc(6 * MIB);
    CHECK(d != c, "once");
    page_cache_free(c);
    void *e = page_cache_alloc(2 * MIB);
    CHECK(e != c, "but not for far less");
    void *f = page_cache_realloc(e, 1, 2 * MIB);
    CHECK(f == e, "a block that has room stays");
    page_cache_free(d);
    page_cache_free(f);
    page_cache_keep(0);
    page_cache_free(NULL);
}

TEST(threads)
{
    check_threads(0);
    check_threads(4 << 20);
    check_threads((size_t)1 << 30);
}
