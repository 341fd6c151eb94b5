/* The stage on GPUs: their slots, the memory of a lane, and how a picture goes
 * through them.
 *
 * A slot is a stream on a device and memory for one load, on the device and,
 * page-locked, on the host. A lane has a few slots on each of its devices and
 * uses them in turn, so that one load is copied in, another turned and a third
 * copied out at the same time.
 *
 * A picture that a slot holds is one load: one copy in, one launch for all its
 * planes, one copy out. A larger one is cut into rectangles; the turn of a
 * rectangle is a rectangle of the turned plane, so each is a load of its own. */
#include "cuda/backend.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/gpu/kernels.h"
#include "cuda/gpu/pieces.h"

enum {
    DEVICES = 16,         /* of a lane, at the most */
    SLOTS_OF_DEVICE = 3,  /* in, turn, out */
};

/* Of a rectangle's cells. Large enough that a copy takes far longer than to
 * start it (0.6 ms against some 10 us), small enough to be locked at once: to
 * page-lock takes 0.28 ms/MB, and is done for a rectangle that needs it. */
static const size_t piece_bytes = (size_t)32 << 20;

/* A picture up to this size goes whole, if the device has room: larger ones are
 * faster in pieces that overlap. */
static const size_t whole_bytes = (size_t)256 << 20;

/* Page-locked memory for pictures that a lane keeps, at the most; and that all
 * lanes keep which share the devices. */
static const size_t locked_bytes = (size_t)1 << 30;
static const size_t locked_together = (size_t)4 << 30;

/* ---- Errors ---------------------------------------------------------------*/

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

static bool cuda_describe(unsigned i, char *text, size_t room)
{
    struct err ignored;
    cudaDeviceProp device;
    int count;
    if (count_devices(&count, &ignored) || i >= (unsigned)count ||
        check(cudaGetDeviceProperties(&device, (int)i), "the device", &ignored))
        return false;
    snprintf(text, room, "%s, %.0f GiB, compute capability %d.%d", device.name,
             (double)device.totalGlobalMem / (1 << 30), device.major,
             device.minor);
    return true;
}

/* ---- Memory that grows ----------------------------------------------------*/

enum where { ON_DEVICE, ON_HOST };

struct gpu_buffer {
    enum where where;
    void *memory;
    size_t size;
};

static void gpu_buffer_free(struct gpu_buffer *block)
{
    if (block->where == ON_HOST)
        (void)cudaFreeHost(block->memory);
    else
        (void)cudaFree(block->memory);
    block->memory = NULL;
    block->size = 0;
}

/* Makes a block at least `size` bytes large. What the device has is zeroed when
 * it is new: kernels leave some padding alone, and what was never written shall
 * not be copied back. To free waits for the whole device, but of n pictures in
 * any order only about ln(n) are larger than all before them. */
static int gpu_buffer_grow(struct gpu_buffer *block, size_t size, cudaStream_t stream,
                      struct err *err)
{
    if (size <= block->size)
        return 0;
    gpu_buffer_free(block);
    cudaError_t status =
        block->where == ON_HOST
            ? cudaHostAlloc(&block->memory, size, cudaHostAllocPortable)
            : cudaMalloc(&block->memory, size);
    if (check(status,
              block->where == ON_HOST ? "page-locked memory"
                                      : "memory of the device",
              err)) {
        block->memory = NULL;
        return -1;
    }
    block->size = size;
    if (block->where == ON_HOST)
        return 0;
    return check(cudaMemsetAsync(block->memory, 0, size, stream),
                 "clearing memory of the device", err);
}

/* ---- Slots ----------------------------------------------------------------*/

struct gpu_slot {
    int device;
    cudaStream_t stream;
    struct gpu_buffer src, dst; /* on the device */
    struct gpu_buffer in, out;  /* page-locked, for pieces */
    bool busy;             /* a piece is under way */
    struct plane_piece piece;    /* which */
    struct plane to;       /* the plane that it is a piece of, after the turn */
};

struct gpu_lane {
    unsigned nslots, next;
    struct gpu_slot slot[DEVICES * SLOTS_OF_DEVICE];
    size_t vram; /* bytes of device memory that a slot may take */
    unsigned sharers; /* lanes that share the devices, with this one */
    size_t locked_most;
    struct gpu_buffer locked[8];
    bool used[8];
};

/* The lanes that this backend is given are those that it opened. */
static struct gpu_lane *gpu_lane_of(struct lane *lane)
{
    return reinterpret_cast<struct gpu_lane *>(lane);
}

/* Each thread has a current device; a lane may meet any thread. */
static int gpu_slot_enter(const struct gpu_slot *slot, struct err *err)
{
    return check(cudaSetDevice(slot->device), "choosing the device", err);
}

static int gpu_slot_open(struct gpu_slot *slot, int device, struct err *err)
{
    memset(slot, 0, sizeof *slot);
    slot->device = device;
    slot->in.where = slot->out.where = ON_HOST;
    if (gpu_slot_enter(slot, err) ||
        check(kernels_usable(), "loading the kernels", err))
        return -1;
    /* Not to wait for the default stream, which is not ours. */
    return check(
        cudaStreamCreateWithFlags(&slot->stream, cudaStreamNonBlocking),
        "making a stream", err);
}

static void gpu_slot_close(struct gpu_slot *slot)
{
    struct err ignored;
    if (!slot->stream || gpu_slot_enter(slot, &ignored))
        return;
    gpu_buffer_free(&slot->src);
    gpu_buffer_free(&slot->dst);
    gpu_buffer_free(&slot->in);
    gpu_buffer_free(&slot->out);
    (void)cudaStreamDestroy(slot->stream);
}

/* Should one of them not fit, neither is kept: a picture too large for this
 * slot shall not leave the others short. */
static int gpu_slot_room(struct gpu_slot *slot, size_t src_size, size_t dst_size,
                     struct err *err)
{
    if (gpu_buffer_grow(&slot->src, src_size, slot->stream, err) == 0 &&
        gpu_buffer_grow(&slot->dst, dst_size, slot->stream, err) == 0)
        return 0;
    gpu_buffer_free(&slot->src);
    gpu_buffer_free(&slot->dst);
    return -1;
}

/* ---- A picture as one load ------------------------------------------------*/

/* The picture as it lies in a block of the device. */
static struct image on_device(const struct image *img,
                              const struct gpu_buffer *block)
{
    struct image there = *img;
    there.cells = (uint8_t *)block->memory;
    for (unsigned i = 0; i < img->nplanes; i++)
        there.plane[i].data = there.cells + (img->plane[i].data - img->cells);
    return there;
}

static int enqueue_whole(struct gpu_slot *slot, struct image *dst,
                         const struct image *src, enum xform t,
                         struct err *err)
{
    struct image from = on_device(src, &slot->src);
    struct image to = on_device(dst, &slot->dst);
    if (check(cudaMemcpyAsync(from.cells, src->cells, src->size,
                              cudaMemcpyHostToDevice, slot->stream),
              "copying to the device", err) ||
        check(kernels_turn(&to, &from, t, slot->stream), "turning", err))
        return -1;
    return check(cudaMemcpyAsync(dst->cells, to.cells, dst->size,
                                 cudaMemcpyDeviceToHost, slot->stream),
                 "copying from the device", err);
}

static int apply_whole(struct gpu_slot *slot, struct image *dst,
                       const struct image *src, enum xform t, struct err *err)
{
    struct err later;
    int status = enqueue_whole(slot, dst, src, t, err);
    /* Also after a failure: what was enqueued may still use both pictures. */
    int waited = check(cudaStreamSynchronize(slot->stream),
                       "turning on the device", status ? &later : err);
    return status ? status : waited;
}

/* ---- A picture in pieces --------------------------------------------------*/

/* One plane as a picture, which is what a launch takes. */
static struct image alone(enum cell cell, uint8_t *data, uint32_t width,
                          uint32_t height)
{
    struct image img;
    memset(&img, 0, sizeof img);
    img.cell = cell;
    img.nplanes = 1;
    img.width = width;
    img.height = height;
    img.plane[0].data = data;
    img.plane[0].stride = pieces_stride(width, cell_size(cell));
    img.plane[0].width = width;
    img.plane[0].height = height;
    img.cells = data;
    img.size = img.plane[0].stride * height;
    return img;
}

/* Waits for the piece under way, and lays it where it belongs. */
static int gpu_slot_finish(struct gpu_slot *slot, size_t size, struct err *err)
{
    if (!slot->busy)
        return 0;
    slot->busy = false;
    if (gpu_slot_enter(slot, err) || check(cudaStreamSynchronize(slot->stream),
                                       "turning on the device", err))
        return -1;
    pieces_give(&slot->to, &slot->piece, (const uint8_t *)slot->out.memory, size);
    return 0;
}

/* Sends a piece on its way. The slot is free. */
static int gpu_slot_start(struct gpu_slot *slot, enum cell cell,
                      const struct plane *dst, const struct plane *src,
                      struct plane_piece piece, enum xform t, struct err *err)
{
    if (gpu_slot_enter(slot, err))
        return -1;
    struct image from = alone(cell, NULL, piece.width, piece.height);
    struct image to = alone(cell, NULL, piece.to_width, piece.to_height);
    if (gpu_slot_room(slot, from.size, to.size, err) ||
        gpu_buffer_grow(&slot->in, from.size, slot->stream, err) ||
        gpu_buffer_grow(&slot->out, to.size, slot->stream, err))
        return -1;
    pieces_take((uint8_t *)slot->in.memory, src, &piece, cell_size(cell));
    from.plane[0].data = (uint8_t *)slot->src.memory;
    to.plane[0].data = (uint8_t *)slot->dst.memory;
    slot->piece = piece;
    slot->to = *dst;
    slot->busy = true;
    if (check(cudaMemcpyAsync(slot->src.memory, slot->in.memory, from.size,
                              cudaMemcpyHostToDevice, slot->stream),
              "copying to the device", err) ||
        check(kernels_turn(&to, &from, t, slot->stream), "turning", err))
        return -1;
    return check(cudaMemcpyAsync(slot->out.memory, slot->dst.memory, to.size,
                                 cudaMemcpyDeviceToHost, slot->stream),
                 "copying from the device", err);
}

static struct gpu_slot *next_slot(struct gpu_lane *lane)
{
    return &lane->slot[lane->next++ % lane->nslots];
}

static int turn_plane(struct gpu_lane *lane, enum cell cell,
                      const struct plane *dst, const struct plane *src,
                      enum xform t, size_t most, struct err *err)
{
    size_t size = cell_size(cell);
    struct pieces pieces = pieces_cut(src->width, src->height, size, most);
    for (uint64_t i = 0; i < pieces.count; i++) {
        struct gpu_slot *slot = next_slot(lane);
        if (gpu_slot_finish(slot, size, err) ||
            gpu_slot_start(slot, cell, dst, src,
                       pieces_get(&pieces, src->width, src->height, i, t), t,
                       err))
            return -1;
    }
    return 0;
}

static int apply_pieces(struct gpu_lane *lane, struct image *dst,
                        const struct image *src, enum xform t, struct err *err)
{
    size_t most = lane->vram / 2 < piece_bytes ? lane->vram / 2 : piece_bytes;
    struct err later;
    int status = 0;
    for (unsigned i = 0; i < src->nplanes && status == 0; i++)
        status = turn_plane(lane, src->cell, &dst->plane[i], &src->plane[i], t,
                            most, err);
    /* Also after a failure, so that nothing is under way when we leave. */
    for (unsigned i = 0; i < lane->nslots; i++)
        if (gpu_slot_finish(&lane->slot[i], cell_size(src->cell),
                        status ? &later : err))
            status = -1;
    return status;
}

static int cuda_apply(struct lane *opened, struct image *dst,
                      const struct image *src, enum xform t,
                      struct thread_pool *, struct err *err)
{
    struct gpu_lane *lane = gpu_lane_of(opened);
    size_t both = src->size + dst->size;
    if (both <= whole_bytes && both <= lane->vram) {
        struct gpu_slot *slot = next_slot(lane);
        if (gpu_slot_enter(slot, err) ||
            gpu_slot_room(slot, src->size, dst->size, err))
            return -1;
        return apply_whole(slot, dst, src, t, err);
    }
    return apply_pieces(lane, dst, src, t, err);
}

/* ---- The memory of pictures -----------------------------------------------*/

enum { LOCKED = sizeof((struct gpu_lane *)0)->locked / sizeof(struct gpu_buffer) };

static size_t locked_size(const struct gpu_lane *lane)
{
    size_t all = 0;
    for (int i = 0; i < LOCKED; i++)
        all += lane->locked[i].size;
    return all;
}

/* A block that is free and large enough, the smallest of them; else one that is
 * free, to be made larger. NULL: all are in use. */
static struct gpu_buffer *locked_find(struct gpu_lane *lane, size_t size)
{
    struct gpu_buffer *fits = NULL, *other = NULL;
    for (int i = 0; i < LOCKED; i++) {
        struct gpu_buffer *block = &lane->locked[i];
        if (lane->used[i])
            continue;
        if (block->size < size)
            other = !other || block->size > other->size ? block : other;
        else if (!fits || block->size < fits->size)
            fits = block;
    }
    return fits ? fits : other;
}

/* Copies run at 55 GB/s from and to page-locked memory, and at 11 and 19 from
 * and to other memory, but to lock takes 0.28 ms/MB: it is done once, and the
 * block is kept for the pictures that follow. */
static void *memory_alloc(void *context, size_t size)
{
    struct gpu_lane *lane = (struct gpu_lane *)context;
    struct gpu_buffer *block = locked_find(lane, size);
    struct err ignored;
    if (block && size <= lane->locked_most &&
        locked_size(lane) - block->size + size <= lane->locked_most &&
        gpu_slot_enter(&lane->slot[0], &ignored) == 0 &&
        gpu_buffer_grow(block, size, NULL, &ignored) == 0) {
        lane->used[block - lane->locked] = true;
        return block->memory;
    }
    return mem_plain.alloc(NULL, size);
}

static void memory_free(void *context, void *memory)
{
    struct gpu_lane *lane = (struct gpu_lane *)context;
    for (int i = 0; i < LOCKED; i++)
        if (lane->used[i] && lane->locked[i].memory == memory) {
            lane->used[i] = false;
            return;
        }
    mem_plain.free(NULL, memory);
}

static struct mem cuda_memory(struct lane *lane)
{
    struct mem mem = { memory_alloc, memory_free, lane };
    return mem;
}

/* ---- The lane -------------------------------------------------------------*/

static void cuda_close(struct lane *opened)
{
    struct gpu_lane *lane = gpu_lane_of(opened);
    if (!lane)
        return;
    for (int i = 0; i < LOCKED; i++)
        gpu_buffer_free(&lane->locked[i]);
    for (unsigned i = 0; i < lane->nslots; i++)
        gpu_slot_close(&lane->slot[i]);
    free(lane);
}

static int open_device(struct gpu_lane *lane, int device, struct err *err)
{
    for (int i = 0; i < SLOTS_OF_DEVICE; i++)
        if (gpu_slot_open(&lane->slot[lane->nslots++], device, err))
            return -1;
    return 0;
}

static int open_devices(struct gpu_lane *lane, const struct lane_opts *opts,
                        struct err *err)
{
    int count;
    if (count_devices(&count, err))
        return -1;
    unsigned n = opts->ndevices ? opts->ndevices : 1, mine;
    bool all = opts->ndevices == (unsigned)LANE_ALL_DEVICES;
    if (all)
        n = (unsigned)count;
    if (n > DEVICES)
        return fail(err, "more than %d devices", DEVICES);
    mine = opts->worker % n;
    lane->sharers = opts->workers ? (opts->workers + n - 1) / n : 1;
    for (unsigned i = 0; i < n; i++) {
        int device = all || !opts->ndevices ? (int)i : opts->device[i];
        if (device < 0 || device >= count)
            return fail(err, "there is no CUDA device %d: %d found, from 0 on",
                        device, count);
        if ((i == mine || !opts->workers) && open_device(lane, device, err))
            return -1;
    }
    return 0;
}

/* What a slot may take: its share of what was allowed, else of most of what is
 * free on the lane's first device. */
static int share_vram(struct gpu_lane *lane, uint64_t allowed, struct err *err)
{
    size_t free_bytes, all;
    if (gpu_slot_enter(&lane->slot[0], err) ||
        check(cudaMemGetInfo(&free_bytes, &all), "asking for memory", err))
        return -1;
    size_t most = free_bytes / 4 * 3;
    if (allowed && allowed < most)
        most = (size_t)allowed;
    lane->vram = most / SLOTS_OF_DEVICE / lane->sharers;
    return 0;
}

static int cuda_open(struct lane **lane, const struct lane_opts *opts,
                     struct err *err)
{
    struct gpu_lane *made = (struct gpu_lane *)calloc(1, sizeof *made);
    if (!made)
        return fail(err, "no memory for a lane");
    made->locked_most = locked_bytes;
    size_t together = locked_together;
    if (opts->keep && opts->keep < together)
        together = (size_t)opts->keep;
    if (opts->workers && together / opts->workers < locked_bytes)
        made->locked_most = together / opts->workers;
    for (int i = 0; i < LOCKED; i++)
        made->locked[i].where = ON_HOST;
    if (open_devices(made, opts, err) || share_vram(made, opts->vram, err)) {
        cuda_close(reinterpret_cast<struct lane *>(made));
        return -1;
    }
    *lane = reinterpret_cast<struct lane *>(made);
    return 0;
}

const struct backend backend_cuda = {
    "cuda",      cuda_probe, cuda_describe, cuda_open, cuda_memory,
    cuda_apply,  cuda_close, false,
};
