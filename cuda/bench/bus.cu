/* How fast the bus between the host and its GPUs is when both directions are
 * busy: plain copies on two streams of each device, one to it and one from it.
 *
 * If one direction ends before the other, the other is alone and faster:
 * only copies that ended while both were busy count. */
#include "cuda/bench/bus.h"

#include <stdlib.h>

#include "cuda/gpu/gpu_check.h"

enum { COPIES = 32 }; /* of a direction, each time */

/* One direction. Event 0 is before the first copy, event n behind copy n. */
struct way {
    enum cudaMemcpyKind kind;
    cudaStream_t stream;
    cudaEvent_t event[COPIES + 1];
    void *host, *there;
};

struct ends {
    int device;
    struct way way[2]; /* to the device, from it */
};

struct suite_bus {
    unsigned ndevices;
    size_t bytes; /* of a copy */
    struct ends *ends;
};

static int enter(const struct ends *ends, struct err *err)
{
    return gpu_check(cudaSetDevice(ends->device), "choosing the device", err);
}

static int way_open(struct way *way, size_t bytes, struct err *err)
{
    if (gpu_check(
            cudaStreamCreateWithFlags(&way->stream, cudaStreamNonBlocking),
            "making a stream", err) ||
        gpu_check(cudaHostAlloc(&way->host, bytes, cudaHostAllocPortable),
                  "page-locked memory", err) ||
        gpu_check(cudaMalloc(&way->there, bytes), "memory of the device", err))
        return -1;
    for (int i = 0; i <= COPIES; i++)
        if (gpu_check(cudaEventCreate(&way->event[i]), "making an event", err))
            return -1;
    return 0;
}

static void way_close(struct way *way)
{
    for (int i = 0; i <= COPIES; i++)
        if (way->event[i])
            (void)cudaEventDestroy(way->event[i]);
    (void)cudaFree(way->there);
    (void)cudaFreeHost(way->host);
    if (way->stream)
        (void)cudaStreamDestroy(way->stream);
}

void bus_close(struct suite_bus *bus)
{
    struct err ignored;
    if (!bus)
        return;
    for (unsigned i = 0; i < bus->ndevices; i++)
        for (int w = 0; w < 2 && enter(&bus->ends[i], &ignored) == 0; w++)
            way_close(&bus->ends[i].way[w]);
    free(bus->ends);
    free(bus);
}

int bus_open(struct suite_bus **bus, const int *device, unsigned ndevices,
             size_t bytes, struct err *err)
{
    struct suite_bus *made = (struct suite_bus *)calloc(1, sizeof *made);
    if (made)
        made->ends = (struct ends *)calloc(ndevices, sizeof *made->ends);
    int status = made && made->ends ? 0 : fail(err, "no memory");
    for (unsigned i = 0; i < ndevices && status == 0; i++) {
        struct ends *ends = &made->ends[made->ndevices++];
        ends->device = device[i];
        ends->way[0].kind = cudaMemcpyHostToDevice;
        ends->way[1].kind = cudaMemcpyDeviceToHost;
        if (enter(ends, err) || way_open(&ends->way[0], bytes, err) ||
            way_open(&ends->way[1], bytes, err))
            status = -1;
    }
    if (status) {
        bus_close(made);
        return -1;
    }
    made->bytes = bytes;
    *bus = made;
    return 0;
}

static cudaError_t enqueue_copy(const struct way *way, size_t bytes)
{
    bool down = way->kind == cudaMemcpyHostToDevice;
    return cudaMemcpyAsync(down ? way->there : way->host,
                           down ? way->host : way->there, bytes, way->kind,
                           way->stream);
}

/* Enqueues copy n of all ways, so that all begin at once; copy 0 is the
 * event before the first. */
static int enqueue(const struct suite_bus *bus, int n, struct err *err)
{
    for (unsigned i = 0; i < bus->ndevices; i++) {
        const struct ends *ends = &bus->ends[i];
        if (enter(ends, err))
            return -1;
        for (int w = 0; w < 2; w++) {
            const struct way *way = &ends->way[w];
            cudaError_t status =
                n ? enqueue_copy(way, bus->bytes) : cudaSuccess;
            if (!status)
                status = cudaEventRecord(way->event[n], way->stream);
            if (gpu_check(status, "copying", err))
                return -1;
        }
    }
    return 0;
}

static double seconds(cudaEvent_t from, cudaEvent_t to)
{
    float ms = 0;
    (void)cudaEventElapsedTime(&ms, from, to);
    return ms * 1e-3;
}

/* Adds the bytes a second of both ways of one device, until the first of
 * them ended. */
static void rates(const struct ends *ends, size_t bytes, double rate[2])
{
    const struct way *way = ends->way;
    cudaEvent_t begin = way[0].event[0];
    double end = seconds(begin, way[0].event[COPIES]);
    double other = seconds(begin, way[1].event[COPIES]);
    end = other < end ? other : end;
    for (int w = 0; w < 2; w++) {
        int n = COPIES;
        while (n > 1 && seconds(begin, way[w].event[n]) > end)
            n--;
        rate[w] +=
            (double)bytes * n / seconds(way[w].event[0], way[w].event[n]);
    }
}

int bus_measure(struct suite_bus *bus, double rate[2], struct err *err)
{
    rate[0] = rate[1] = 0;
    for (int n = 0; n <= COPIES; n++)
        if (enqueue(bus, n, err))
            return -1;
    for (unsigned i = 0; i < bus->ndevices; i++) {
        const struct ends *ends = &bus->ends[i];
        if (enter(ends, err) ||
            gpu_check(cudaStreamSynchronize(ends->way[0].stream), "copying",
                      err) ||
            gpu_check(cudaStreamSynchronize(ends->way[1].stream), "copying",
                      err))
            return -1;
        rates(ends, bus->bytes, rate);
    }
    return 0;
}
