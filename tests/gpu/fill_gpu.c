/* Takes the memory of the first GPU, but for some, so that others find it out:
 *
 *   fill_gpu MEBIBYTES    how much is left, or somewhat less
 *
 * It prints how much was left when it is done, in MiB, and holds the rest until
 * its standard input ends. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cuda_runtime_api.h>

static const size_t mebibyte = (size_t)1 << 20;

/* Takes pieces of this size as long as so much stays. Returns what is left. */
static size_t take(size_t piece, size_t stays)
{
    size_t left = 0, all;
    void *memory;
    while (cudaMemGetInfo(&left, &all) == cudaSuccess && left >= stays + piece)
        if (cudaMalloc(&memory, piece) != cudaSuccess)
            break;
    return left;
}

int main(int argc, char **argv)
{
    const size_t stays = argc == 2 ? strtoul(argv[1], NULL, 10) * mebibyte : 0;
    size_t left = 0;
    char byte;
    if (!stays || cudaSetDevice(0) != cudaSuccess) {
        fprintf(stderr, "fill_gpu MEBIBYTES, and a GPU\n");
        return 2;
    }
    for (size_t piece = 1024 * mebibyte; piece >= 2 * mebibyte; piece /= 2)
        left = take(piece, stays);
    printf("%zu\n", left / mebibyte);
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        continue;
    return 0;
}
