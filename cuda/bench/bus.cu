/* How long plain copies between the host and its GPUs take while both
 * directions are busy: on two streams of each device, to it and from it. */
#include "cuda/bench/kernel_cases.h"

#include <stdlib.h>

#include "codecs/base/clock.h"
#include "cuda/gpu/gpu_memory.h"

static constexpr unsigned EACH_WAY = 32; /* copies, each time */

/* One direction. */
struct way {
    int device;
    cudaStream_t stream;
    void *host, *there;
};

struct suite_bus {
    unsigned nways;
    size_t bytes;    /* of a copy */
    struct way *way; /* to the first device, from it, to the second, ... */
};

void bus_close(struct suite_bus *bus)
{
    for (unsigned i = 0; bus && i < bus->nways; i++) {
        struct way *way = &bus->way[i];
        (void)cudaSetDevice(way->device);
        (void)cudaFree(way->there);
        (void)cudaFreeHost(way->host);
        if (way->stream)
            (void)cudaStreamDestroy(way->stream);
    }
    if (bus)
        free(bus->way);
    free(bus);
}

int bus_open(struct suite_bus **bus, const int *device, unsigned ndevices,
             size_t bytes, struct err *err)
{
    struct suite_bus *made = (struct suite_bus *)calloc(1, sizeof *made);
    cudaError_t status = cudaSuccess;
    *bus = made;
    if (made)
        made->way = (struct way *)calloc(2 * ndevices, sizeof *made->way);
    if (!made || !made->way)
        return fail(err, "no memory");
    made->bytes = bytes;
    while (made->nways < 2 * ndevices && !status) {
        struct way *way = &made->way[made->nways];
        way->device = device[made->nways++ / 2];
        status = cudaSetDevice(way->device);
        if (!status)
            status =
                cudaStreamCreateWithFlags(&way->stream, cudaStreamNonBlocking);
        if (!status)
            status = cudaHostAlloc(&way->host, bytes, cudaHostAllocPortable);
        if (!status)
            status = cudaMalloc(&way->there, bytes);
    }
    return gpu_check(status, "memory to copy", err);
}

int bus_measure(struct suite_bus *bus, double *seconds, struct err *err)
{
    cudaError_t status = cudaSuccess;
    const double begin = now();
    for (unsigned i = 0; i < EACH_WAY * bus->nways && !status; i++) {
        const bool out = i % 2; /* the number of ways is even */
        const struct way *way = &bus->way[i % bus->nways];
        status = cudaSetDevice(way->device);
        if (!status)
            status = cudaMemcpyAsync(out ? way->host : way->there,
                                     out ? way->there : way->host, bus->bytes,
                                     out ? cudaMemcpyDeviceToHost
                                         : cudaMemcpyHostToDevice,
                                     way->stream);
    }
    for (unsigned i = 0; i < bus->nways && !status; i++)
        status = cudaStreamSynchronize(bus->way[i].stream);
    *seconds = (now() - begin) / (EACH_WAY * bus->nways / 2);
    return gpu_check(status, "copying", err);
}
