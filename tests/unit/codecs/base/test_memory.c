/* Memory is counted when it is taken and when it is given back, by any thread
 * that works for the file, and refused beyond the limit. */
#include "codecs/base/account.h"
#include "codecs/base/memory.h"

#include <malloc.h>

#include "codecs/base/page_cache.h"
#include "codecs/base/thread_pool.h"
#include "tests/support/test.h"

static long long taken(const struct account *account)
{
    return atomic_load(&account->taken);
}

TEST(blocks_are_counted)
{
    struct account account = { .limit = 0 };
    CHECK(account_enter(&account) == NULL, "none before");
    uint8_t *a = memory_alloc(1000), *b = memory_alloc_zeroed(10, 100);
    must(a && b);
    CHECK(taken(&account) ==
              (long long)(malloc_usable_size(a) + malloc_usable_size(b)),
          "%lld", taken(&account));
    CHECK(taken(&account) >= 2000 && taken(&account) < 2100, "%lld",
          taken(&account));
    a[999] = 7;
    must((a = memory_realloc(a, 100000)) && a[999] == 7);
    CHECK(taken(&account) >= 101000 && taken(&account) < 110000, "%lld",
          taken(&account));
    memory_free(a);
    memory_free(b);
    memory_free(NULL);
    CHECK(taken(&account) == 0, "%lld are left", taken(&account));
    CHECK(account_enter(NULL) == &account, "it was");
    memory_free(memory_alloc(1000));
    CHECK(taken(&account) == 0, "counted for nobody");
}

/* Kept blocks are nobody's, and larger than what is asked for. */
TEST(large_blocks_are_counted)
{
    struct account account = { .limit = 0 };
    account_enter(&account);
    for (int keep = 0; keep < 2; keep++) {
        page_cache_keep(keep * (64 << 20));
        for (int round = 0; round < 2; round++) {
            void *a = page_cache_alloc(5 << 20), *b = page_cache_alloc(1000);
            must(a && b);
            CHECK(taken(&account) >= (5 << 20) + 1000, "%lld", taken(&account));
            must((a = page_cache_realloc(a, 1, 9 << 20)) &&
                 (b = page_cache_realloc(b, 1000, 2000)));
            CHECK(taken(&account) >= (9 << 20) + 2000, "%lld", taken(&account));
            page_cache_free(a);
            page_cache_free(b);
            CHECK(taken(&account) == 0, "%lld are left", taken(&account));
        }
    }
    page_cache_keep(0);
    account_enter(NULL);
}

TEST(what_is_beyond_the_limit_is_refused)
{
    struct account account = { .limit = 1 << 20 };
    account_enter(&account);
    void *half = memory_alloc(1 << 19);
    must(half);
    const long long before = taken(&account);
    CHECK(!atomic_load(&account.refused), "not yet");
    CHECK(!memory_alloc(1 << 20) && !memory_alloc_zeroed(2, 1 << 19) &&
              !memory_realloc(half, 1 << 20) && !page_cache_alloc(1 << 20) &&
              !page_cache_realloc(half, 0, 1 << 21),
          "all are too large");
    CHECK(!memory_alloc(SIZE_MAX) && !memory_alloc_zeroed(SIZE_MAX, 2) &&
              !page_cache_alloc(SIZE_MAX),
          "and these for any limit");
    CHECK(atomic_load(&account.refused), "it says so");
    CHECK(taken(&account) == before, "%lld, not %lld", taken(&account), before);
    memory_plan(1 << 20);
    void *more = memory_alloc(1 << 20);
    CHECK(more, "what is planned comes on top");
    memory_unplan(1 << 20);
    CHECK(!memory_alloc(1), "and not longer");
    memory_free(more);
    memory_free(half);
    CHECK(taken(&account) == 0, "%lld are left", taken(&account));
    account_enter(NULL);
}

static void take(void *context, size_t i)
{
    void **block = context;
    block[i] = memory_alloc(1000);
}

static void give(void *context, size_t i)
{
    void **block = context;
    memory_free(block[i]);
}

TEST(threads_count_for_the_caller)
{
    enum { BLOCKS = 1000 };
    static void *block[BLOCKS];
    struct account first = { .limit = 0 }, second = { .limit = 0 };
    struct thread_pool *pool = thread_pool_open(4);
    must(pool);
    account_enter(&first);
    thread_pool_run(pool, take, block, BLOCKS);
    CHECK(taken(&first) >= BLOCKS * 1000, "%lld", taken(&first));
    thread_pool_run(pool, give, block, BLOCKS);
    CHECK(taken(&first) == 0, "%lld are left", taken(&first));
    account_enter(&second);
    thread_pool_run(pool, take, block, BLOCKS);
    CHECK(taken(&first) == 0 && taken(&second) >= BLOCKS * 1000,
          "%lld and %lld", taken(&first), taken(&second));
    thread_pool_run(pool, give, block, BLOCKS);
    CHECK(taken(&second) == 0, "%lld are left", taken(&second));
    account_enter(NULL);
    thread_pool_run(pool, take, block, BLOCKS);
    thread_pool_run(pool, give, block, BLOCKS);
    CHECK(taken(&second) == 0, "for nobody: %lld", taken(&second));
    thread_pool_close(pool);
}
