/* The stage on a GPU: its device, a stream and memory for each lane.
 *
 * A lane copies a picture to the device as the one block it is, turns it there
 * into a second block of the same layout as dst, and copies that back. It works
 * on a stream of its own and waits for that stream alone, so lanes on several
 * threads overlap. */
#include "cuda/backend.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>

#include "cuda/kernels.h"

/* Memory of the device. */
struct block {
    void *memory;
    size_t size;
};

struct lane {
    int device;
    cudaStream_t stream;
    struct block src, dst;
};

/* A failed call also leaves its error to be found by the cudaGetLastError()
 * after the next launch, which may be another picture's: it is taken away here.
 * An error that the device cannot recover from is reported by all that
 * follows in any case. */
static int check(cudaError_t status, const char *what, struct err *err)
{
    if (status == cudaSuccess)
        return 0;
    (void)cudaGetLastError();
    return fail(err, "%s: %s", what, cudaGetErrorString(status));
}

static int count_devices(int *count, struct err *err)
{
    int driver = 0;
    /* Without any driver cudaGetDeviceCount() says that it is too old. */
    if (check(cudaDriverGetVersion(&driver), "the CUDA driver", err))
        return -1;
    if (driver == 0)
        return fail(err, "no CUDA driver");
    if (check(cudaGetDeviceCount(count), "no CUDA device", err))
        return -1;
    if (*count == 0)
        return fail(err, "no CUDA device");
    return 0;
}

static int cuda_probe(struct err *why_not)
{
    int count;
    return count_devices(&count, why_not);
}

/* Each thread has a current device; a lane may meet any thread. */
static int enter(const struct lane *lane, struct err *err)
{
    return check(cudaSetDevice(lane->device), "choosing the device", err);
}

static int start(struct lane *lane, int device, struct err *err)
{
    int count;
    if (count_devices(&count, err))
        return -1;
    if (device < 0 || device >= count)
        return fail(err, "there is no CUDA device %d: %d found, from 0 on",
                    device, count);
    lane->device = device;
    if (enter(lane, err) || check(kernels_usable(), "loading the kernels", err))
        return -1;
    /* Not to wait for the default stream, which is not ours. */
    return check(
        cudaStreamCreateWithFlags(&lane->stream, cudaStreamNonBlocking),
        "making a stream", err);
}

static int cuda_open(struct lane **lane, int device, struct err *err)
{
    *lane = (struct lane *)calloc(1, sizeof **lane);
    if (!*lane)
        return fail(err, "no memory for a lane");
    if (start(*lane, device, err) == 0)
        return 0;
    free(*lane);
    *lane = NULL;
    return -1;
}

/* Copies to and from plain memory pass through the driver's own page-locked
 * buffers: 0.09 ms/MB in, 0.05 out. From page-locked memory they take 0.02, but
 * to lock it takes 0.28, and a picture's memory is used once and freed. */
static struct mem cuda_memory(struct lane *lane)
{
    (void)lane;
    return mem_plain;
}

static void drop(struct block *block)
{
    (void)cudaFree(block->memory);
    block->memory = NULL;
    block->size = 0;
}

/* Makes a block at least `size` bytes large. Its memory is zeroed when it is
 * new: kernels leave padding alone, and what is never written shall not be
 * copied back. cudaFree() waits for the whole device, but of n pictures in any
 * order only about ln(n) are larger than all before them. */
static int grow(struct block *block, size_t size, cudaStream_t stream,
                struct err *err)
{
    if (size <= block->size)
        return 0;
    drop(block);
    if (check(cudaMalloc(&block->memory, size), "memory of the device", err)) {
        block->memory = NULL;
        return -1;
    }
    block->size = size;
    return check(cudaMemsetAsync(block->memory, 0, size, stream),
                 "clearing memory of the device", err);
}

/* Should one of them not fit, neither is kept: a picture too large for this
 * lane shall not leave the others short. */
static int make_room(struct lane *lane, size_t src_size, size_t dst_size,
                     struct err *err)
{
    if (grow(&lane->src, src_size, lane->stream, err) == 0 &&
        grow(&lane->dst, dst_size, lane->stream, err) == 0)
        return 0;
    drop(&lane->src);
    drop(&lane->dst);
    return -1;
}

/* The picture as it lies in a block of the device. */
static struct image on_device(const struct image *img,
                              const struct block *block)
{
    struct image there = *img;
    there.cells = (uint8_t *)block->memory;
    for (unsigned i = 0; i < img->nplanes; i++)
        there.plane[i].data = there.cells + (img->plane[i].data - img->cells);
    return there;
}

static int enqueue(struct lane *lane, struct image *dst,
                   const struct image *src, enum xform t, struct err *err)
{
    struct image from = on_device(src, &lane->src);
    struct image to = on_device(dst, &lane->dst);
    if (check(cudaMemcpyAsync(from.cells, src->cells, src->size,
                              cudaMemcpyHostToDevice, lane->stream),
              "copying to the device", err) ||
        check(kernels_turn(&to, &from, t, lane->stream), "turning", err))
        return -1;
    return check(cudaMemcpyAsync(dst->cells, to.cells, dst->size,
                                 cudaMemcpyDeviceToHost, lane->stream),
                 "copying from the device", err);
}

static int cuda_apply(struct lane *lane, struct image *dst,
                      const struct image *src, enum xform t, struct err *err)
{
    struct err later;
    if (enter(lane, err) || make_room(lane, src->size, dst->size, err))
        return -1;
    int status = enqueue(lane, dst, src, t, err);
    /* Also after a failure: what was enqueued may still use both pictures. */
    int waited = check(cudaStreamSynchronize(lane->stream),
                       "turning on the device", status ? &later : err);
    return status ? status : waited;
}

static void cuda_close(struct lane *lane)
{
    struct err ignored;
    if (!lane)
        return;
    if (enter(lane, &ignored) == 0) {
        drop(&lane->src);
        drop(&lane->dst);
        (void)cudaStreamDestroy(lane->stream);
    }
    free(lane);
}

const struct backend backend_cuda = {
    "cuda", cuda_probe, cuda_open, cuda_memory, cuda_apply, cuda_close,
};
