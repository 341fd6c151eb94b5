/* Concurrent jobs never take more memory or processors than there are, and
 * every job gets its share in the end. */
#include "cli/schedule/resource_limits.h"

#include <sched.h>
#include <stdatomic.h>

#include "tests/support/test.h"

enum { THREADS = 8, JOBS = 400, MEMORY = 8000, PROCESSORS = 3 };

static struct resource_limits limits;
static atomic_uint files, cells, processors;
static atomic_bool exceeded;

/* Counts up what one job has been given, and looks whether that is too much. */
static void use(atomic_uint *what, unsigned n, unsigned most)
{
    if (atomic_fetch_add(what, n) + n > most)
        atomic_store(&exceeded, true);
}

/* A job that asks for more than there is runs alone, and counts as all of
 * it. */
static unsigned counted(unsigned bytes, unsigned most)
{
    return bytes < most ? bytes : most;
}

static void job(unsigned *seed)
{
    struct resource_share share = { .limits = &limits };
    *seed = *seed * 1664525 + 1013904223;
    unsigned file = *seed >> 8 & 511, cell = *seed >> 16;
    unsigned got;
    resource_limits_take_file(&share, file);
    file = counted(file, MEMORY / 8);
    use(&files, file, MEMORY / 8);
    got = resource_limits_take_processors(&share, *seed & 7);
    use(&processors, got ? got : PROCESSORS + 1, PROCESSORS);
    if (cell % 16)
        cell %= MEMORY / 4;
    resource_limits_take_cells(&share, cell);
    resource_limits_take_cells(&share, cell / 2); /* a smaller one within it */
    cell = counted(cell, MEMORY / 8 * 5);
    use(&cells, cell, MEMORY / 8 * 5);
    sched_yield();
    atomic_fetch_sub(&cells, cell);
    atomic_fetch_sub(&processors, got ? got : PROCESSORS + 1);
    resource_limits_return_processors(&share);
    atomic_fetch_sub(&files, file);
    resource_limits_return_all(&share);
}

static void *run(void *argument)
{
    for (unsigned i = 0; i < JOBS; i++)
        job(argument);
    return NULL;
}

TEST(processors_are_shared)
{
    struct resource_share share = { .limits = &limits };
    resource_limits_init(&limits, MEMORY, PROCESSORS);
    CHECK(resource_limits_take_processors(&share, 100) == 1,
          "one while there are many jobs");
    resource_limits_return_processors(&share);
    CHECK(resource_limits_take_processors(&share, 1) == PROCESSORS,
          "all for the last one");
    resource_limits_return_processors(&share);
    CHECK(resource_limits_take_processors(&share, 0) == 1,
          "one if nobody knows");
    resource_limits_return_processors(&share);
    resource_limits_return_all(&share);
    resource_limits_end(&limits);
}

TEST(threads_get_no_more_than_there_is)
{
    pthread_t thread[THREADS];
    unsigned seed[THREADS];
    resource_limits_init(&limits, MEMORY, PROCESSORS);
    for (unsigned i = 0; i < THREADS; i++) {
        seed[i] = i + 1;
        pthread_create(&thread[i], NULL, run, &seed[i]);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    CHECK(!atomic_load(&exceeded), "more was given than there is");
    CHECK(limits.memory[RESOURCE_FILE].used == 0 &&
              limits.memory[RESOURCE_CELLS].used == 0 && limits.busy == 0,
          "all is given back");
    resource_limits_end(&limits);
}

static struct resource_share *told;

static void tell(struct resource_share *share)
{
    told = share;
}

TEST(processes_are_told_in_turn)
{
    struct resource_share a = { .limits = &limits }, b = a, c = a, d = a;
    resource_limits_init(&limits, 8 * 300, 3);
    resource_limits_divide(&limits, 3);
    limits.grant = tell;
    CHECK(resource_limits_begin(&a) && resource_limits_begin(&b) &&
              resource_limits_begin(&c),
          "three");
    CHECK(a.held[RESOURCE_CELLS] == 250 && a.processors == 1, "its part");
    CHECK(!resource_limits_begin(&d), "no processor is left");
    resource_limits_ask(&a, RESOURCE_CELLS, 1400);
    CHECK(!told && a.waits, "the others have some");
    resource_limits_ask(&b, RESOURCE_CELLS, 300);
    CHECK(!told && b.waits, "it would be there, but another one is first");
    resource_limits_return_all(&c);
    CHECK(told == &a && a.held[RESOURCE_CELLS] == 1400 && b.waits,
          "who waits has none, and the first one gets it");
    CHECK(!resource_limits_begin(&c), "nobody begins while one waits");
    resource_limits_return_all(&a);
    CHECK(told == &b && b.held[RESOURCE_CELLS] == 300, "then the next one");
    resource_limits_ask(&b, RESOURCE_PROCESSORS, 9);
    CHECK(b.processors == 3 && limits.busy == 3, "those that are idle");
    resource_limits_ask(&b, RESOURCE_FILE, 300);
    CHECK(b.held[RESOURCE_FILE] == 300 && b.held[RESOURCE_CELLS] == 250,
          "and its part of the cells");
    resource_limits_return_all(&b);
    CHECK(limits.busy == 0 && limits.memory[RESOURCE_CELLS].used == 0, "all");
    resource_limits_end(&limits);
}
