/* What the fuzz targets share: without libFuzzer (no FUZZING), each replays the
 * files that it is given. */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "codecs/base/thread_pool.h"
#include "tests/support/must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A number by which the ways of an input are chosen. */
static inline unsigned fuzz_way(const uint8_t *data, size_t size)
{
    unsigned way = 0;
    for (size_t i = 0; i < size; i++)
        way = way * 31 + data[i];
    return way;
}

/* A pool of so many threads, for all inputs of a target. */
static inline struct thread_pool *fuzz_pool(unsigned threads)
{
    static struct thread_pool *pool;
    if (!pool)
        pool = thread_pool_open(threads);
    must(pool != NULL);
    return pool;
}

#ifndef FUZZING
/* The whole file, in memory of exactly its size. */
static int replay(const char *name)
{
    FILE *file = fopen(name, "rb");
    long size = -1;
    if (file && fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    uint8_t *data = size < 0 ? NULL : malloc((size_t)size + !size);
    int bad = !data || fseek(file, 0, SEEK_SET) != 0 ||
              fread(data, 1, (size_t)size, file) != (size_t)size;
    if (bad)
        perror(name);
    else
        LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
    if (file)
        fclose(file);
    return bad;
}

int main(int argc, char **argv)
{
    int bad = 0;
    for (int i = 1; i < argc; i++)
        bad |= replay(argv[i]);
    return bad;
}
#endif

#endif
