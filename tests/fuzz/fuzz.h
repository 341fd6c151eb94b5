/* What the fuzz targets share: without libFuzzer (no FUZZING), each replays the
 * files that it is given. */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
