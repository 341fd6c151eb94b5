/* Memory that the files in work take, counted where it is taken. */
#include "codecs/base/memory.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>

#include "codecs/base/account.h"

void memory_plan(size_t size)
{
    struct account *account = account_current();
    if (account)
        atomic_fetch_add(&account->planned, (long long)size);
}

void memory_unplan(size_t size)
{
    struct account *account = account_current();
    if (account)
        atomic_fetch_sub(&account->planned, (long long)size);
}

bool memory_take(size_t size)
{
    struct account *account = account_current();
    if (!account)
        return true;
    const long long more = (long long)size,
                    taken = atomic_fetch_add(&account->taken, more) + more;
    if (size <= SIZE_MAX / 2 &&
        (account->limit == 0 ||
         taken - account->limit <= atomic_load(&account->planned)))
        return true;
    atomic_fetch_sub(&account->taken, more);
    atomic_store(&account->refused, true);
    return false;
}

void memory_give(size_t size)
{
    struct account *account = account_current();
    if (account)
        atomic_fetch_sub(&account->taken, (long long)size);
}

void *memory_taken(void *memory, size_t size)
{
    struct account *account = account_current();
    if (account)
        atomic_fetch_add(&account->taken,
                         (long long)malloc_usable_size(memory) -
                             (long long)size);
    return memory;
}

void *memory_alloc(size_t size)
{
    return memory_take(size) ? memory_taken(malloc(size), size) : NULL;
}

void *memory_alloc_zeroed(size_t n, size_t size)
{
    size_t all;
    if (__builtin_mul_overflow(n, size, &all) || !memory_take(all))
        return NULL;
    return memory_taken(calloc(n, size), all);
}

void *memory_realloc(void *memory, size_t size)
{
    const size_t before = malloc_usable_size(memory);
    if (!memory_take(size))
        return NULL;
    void *moved = memory_taken(realloc(memory, size), size);
    if (moved)
        memory_give(before);
    return moved;
}

void memory_free(void *memory)
{
    memory_give(malloc_usable_size(memory));
    free(memory);
}

void *memory_extend(void *list, size_t n, size_t size)
{
    return n & (n - 1) ? list : memory_realloc(list, (n ? 2 * n : 1) * size);
}
