/* Memory that runs out, for tests: a library for LD_PRELOAD, which the Makefile
 * builds. All allocations of the program and of its libraries come here, those
 * of blocks that malloc() maps included.
 *
 *   STARVE_AT=N      the Nth allocation fails; 0: none
 *   STARVE_FOR=M     so many fail from that on, 1 if it is not given; 0: all
 *   STARVE_COUNT=FD  how many there were is written there at the end */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    void *(*malloc)(size_t size);
    void *(*calloc)(size_t n, size_t size);
    void *(*realloc)(void *memory, size_t size);
    int (*posix_memalign)(void **memory, size_t alignment, size_t size);
    void *(*aligned_alloc)(size_t alignment, size_t size);
    void (*free)(void *memory);
} real;

/* What is asked for while the real functions are looked up. */
static _Alignas(64) uint8_t early[16384];
static size_t early_used;
static bool looking;

static unsigned long first, last; /* those that fail */
static atomic_bool started;
static atomic_ulong count;

static void *look_up(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found)
        abort();
    return found;
}

static void resolve(void)
{
    if (real.free || looking)
        return;
    looking = true;
    *(void **)&real.malloc = look_up("malloc");
    *(void **)&real.calloc = look_up("calloc");
    *(void **)&real.realloc = look_up("realloc");
    *(void **)&real.posix_memalign = look_up("posix_memalign");
    *(void **)&real.aligned_alloc = look_up("aligned_alloc");
    *(void **)&real.free = look_up("free");
    looking = false;
}

static bool is_early(const void *memory)
{
    return (uintptr_t)memory >= (uintptr_t)early &&
           (uintptr_t)memory < (uintptr_t)(early + sizeof early);
}

static void *take_early(size_t size)
{
    void *memory = early + early_used;
    early_used += (size + 63) & ~(size_t)63;
    if (early_used > sizeof early)
        abort();
    return memory;
}

/* Whether this allocation is one that fails. */
static bool fails(void)
{
    if (!atomic_load(&started))
        return false;
    unsigned long n = atomic_fetch_add(&count, 1) + 1;
    if (n < first || n > last)
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    resolve();
    if (!real.malloc)
        return take_early(size);
    return fails() ? NULL : real.malloc(size);
}

void *calloc(size_t n, size_t size)
{
    resolve();
    if (!real.calloc)
        return take_early(n * size); /* which is still zero */
    return fails() ? NULL : real.calloc(n, size);
}

void *realloc(void *memory, size_t size)
{
    resolve();
    if (is_early(memory))
        abort();
    return fails() ? NULL : real.realloc(memory, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    resolve();
    return fails() ? ENOMEM : real.posix_memalign(memory, alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    resolve();
    return fails() ? NULL : real.aligned_alloc(alignment, size);
}

void free(void *memory)
{
    resolve();
    if (!is_early(memory))
        real.free(memory);
}

static unsigned long number(const char *name, unsigned long otherwise)
{
    const char *value = getenv(name);
    return value ? strtoul(value, NULL, 10) : otherwise;
}

__attribute__((constructor)) static void start(void)
{
    unsigned long at = number("STARVE_AT", 0), times = number("STARVE_FOR", 1);
    resolve();
    first = at ? at : ULONG_MAX;
    last = times && at ? at + times - 1 : ULONG_MAX;
}

static int (*real_main)(int argc, char **argv, char **environment);

/* Allocations fail while main() runs, and not before or after it: the CUDA
 * runtime, which is linked in, allocates in its constructors and does not ask
 * whether there was memory. */
static int starved_main(int argc, char **argv, char **environment)
{
    atomic_store(&started, true);
    int status = real_main(argc, argv, environment);
    atomic_store(&started, false);
    return status;
}

typedef int start_main(int (*run)(int, char **, char **), int argc, char **argv,
                       void (*init)(void), void (*fini)(void),
                       void (*rtld_fini)(void), void *stack_end);
start_main __libc_start_main;

int __libc_start_main(int (*run)(int, char **, char **), int argc, char **argv,
                      void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end)
{
    start_main *real_start;
    *(void **)&real_start = look_up("__libc_start_main");
    real_main = run;
    return real_start(starved_main, argc, argv, init, fini, rtld_fini,
                      stack_end);
}

__attribute__((destructor)) static void end(void)
{
    char text[32];
    unsigned long fd = number("STARVE_COUNT", 0);
    if (!fd)
        return;
    int n = snprintf(text, sizeof text, "%lu\n", atomic_load(&count));
    if (write((int)fd, text, (size_t)n) != n)
        _exit(99);
}
