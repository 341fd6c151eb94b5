/* The stage on GPUs: the lane, and how a picture goes through its slots.
 *
 * A plane is cut into rectangles, of which a small one is one; the turn of a
 * rectangle is a rectangle of the turned plane. A lane has a few slots on each
 * of its devices and uses them in turn, so that one rectangle is copied in,
 * another turned and a third copied out at the same time.
 *
 * Blocks of coefficients, which a GPU turns in coded data alone (cuda/jpeg),
 * are left to the CPU: to send them takes longer. */
#include "cuda/backend.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda/gpu/gpu_memory.h"
#include "cuda/gpu/kernels.h"
#include "cuda/gpu/pieces.h"

enum {
    DEVICES = 16,        /* of a lane, at the most */
    SLOTS_OF_DEVICE = 3, /* in, turn, out */
};

/* Bytes of the cells of a rectangle: large enough that a copy takes far longer
 * than to start it (0.6 ms against some 10 us). */
static const size_t piece_bytes = (size_t)32 << 20;

/* Page-locked memory for pictures that a lane keeps, at the most; and all lanes
 * together that share the devices. */
static const size_t locked_bytes = (size_t)1 << 30;
static const size_t locked_together = (size_t)4 << 30;

/* ---- Slots ----------------------------------------------------------------*/

/* A stream on a device, and memory there for one rectangle, before and after
 * its turn. */
struct gpu_slot {
    int device;
    cudaStream_t stream;
    struct gpu_buffer src, dst;
};

/* A plane, and what it becomes. */
struct gpu_plane {
    enum cell cell;
    enum xform t;
    const struct plane *src, *dst;
};

/* Functions that can fail return 0; on failure -1, with the reason in `err`. */

/* Makes the slot's device the current one. Each thread has a current device,
 * and any thread may use a lane. */
static int gpu_slot_enter(const struct gpu_slot *slot, struct err *err)
{
    return gpu_check(cudaSetDevice(slot->device), "choosing the device", err);
}

/* Enqueues a copy of rows of so many cells of `size` bytes, to the device or
 * back: as one, with what is behind them, where both have the same distance. */
static int copy_rows(const struct gpu_slot *slot, const struct plane *to,
                     const struct plane *from, size_t size, struct err *err)
{
    const size_t bytes =
        to->stride == from->stride ? to->stride : to->width * size;
    /* There is a limit to the distance of rows that are copied together. */
    const bool apart = to->stride > INT_MAX || from->stride > INT_MAX;
    const size_t rows = apart ? 1 : to->height;
    for (size_t y = 0; y < to->height; y += rows)
        if (gpu_check(cudaMemcpy2DAsync(
                          plane_row(to, y), apart ? bytes : to->stride,
                          plane_row(from, y), apart ? bytes : from->stride,
                          bytes, rows, cudaMemcpyDefault, slot->stream),
                      "copying to or from the device", err))
            return -1;
    return 0;
}

/* Makes room on the device for a plane of that size. */
static int make_room(const struct gpu_slot *slot, struct gpu_buffer *buffer,
                     struct plane *p, size_t size, struct err *err)
{
    p->stride = pieces_stride(p->width, size);
    if (gpu_memory_grow(buffer, p->stride * p->height, slot->stream, err))
        return -1;
    p->data = (uint8_t *)buffer->memory;
    return 0;
}

/* Enqueues a piece of a plane: its copy in, its turn by t, and the copy out. */
static int gpu_slot_turn(struct gpu_slot *slot, const struct gpu_plane *plane,
                         const struct plane_piece *piece, struct err *err)
{
    const struct plane *src = plane->src, *dst = plane->dst;
    const size_t size = cell_size(plane->cell);
    struct plane from = { NULL, 0, piece->width, piece->height },
                 to = { NULL, 0, piece->to_width, piece->to_height };
    if (gpu_slot_enter(slot, err))
        return -1;
    /* One that does not wait for the default stream, which is not ours. */
    if (!slot->stream && gpu_check(cudaStreamCreateWithFlags(
                                       &slot->stream, cudaStreamNonBlocking),
                                   "making a stream", err))
        return -1;
    if (make_room(slot, &slot->src, &from, size, err) ||
        make_room(slot, &slot->dst, &to, size, err)) {
        /* What is too large for this slot must not leave the others short. */
        gpu_memory_free(&slot->src);
        gpu_memory_free(&slot->dst);
        return -1;
    }
    struct plane sent = *src, received = to;
    sent.data = (uint8_t *)plane_row(src, piece->y) + piece->x * size;
    received.data = (uint8_t *)plane_row(dst, piece->to_y) + piece->to_x * size;
    received.stride = dst->stride;
    return copy_rows(slot, &from, &sent, size, err) ||
                   gpu_check(kernels_turn(&to, &from, plane->cell, plane->t,
                                          slot->stream),
                             "turning", err) ||
                   copy_rows(slot, &received, &to, size, err)
               ? -1
               : 0;
}

/* ---- Lanes ----------------------------------------------------------------*/

struct gpu_lane {
    unsigned nslots, next;
    struct gpu_slot slot[DEVICES * SLOTS_OF_DEVICE];
    size_t vram;      /* bytes of device memory that a slot may take; 0: they
                         are not known before the first picture */
    uint64_t allowed; /* and that all lanes of a device may; 0: most of it */
    unsigned sharers; /* lanes that share the devices, with this one */
    struct gpu_pool pool;
    struct lane *cpu; /* of backend_cpu, which turns coefficients */
};

/* The lanes that this backend is given are those that it opened. */
static struct gpu_lane *gpu_lane_of(struct lane *lane)
{
    return reinterpret_cast<struct gpu_lane *>(lane);
}

/* ---- Devices --------------------------------------------------------------*/

static int cuda_probe(struct err *why_not)
{
    int count;
    return gpu_count_devices(&count, why_not);
}

static bool cuda_describe(unsigned i, char *text, size_t room)
{
    struct err ignored;
    cudaDeviceProp device;
    int count;
    if (gpu_count_devices(&count, &ignored) || i >= (unsigned)count ||
        gpu_check(cudaGetDeviceProperties(&device, (int)i), "the device",
                  &ignored))
        return false;
    snprintf(text, room, "%s, %.0f GiB, compute capability %d.%d", device.name,
             (double)device.totalGlobalMem / (1 << 30), device.major,
             device.minor);
    return true;
}

/* ---- Turning --------------------------------------------------------------*/

/* Sets what a slot may take of the memory that was allowed, or else of most of
 * what is free on the lane's first device. */
static int set_vram(struct gpu_lane *lane, struct err *err)
{
    size_t left, all;
    if (gpu_slot_enter(&lane->slot[0], err) ||
        gpu_check(cudaMemGetInfo(&left, &all), "asking for memory", err))
        return -1;
    size_t most = left / 4 * 3;
    if (lane->allowed && lane->allowed < most)
        most = (size_t)lane->allowed;
    lane->vram = most / SLOTS_OF_DEVICE / lane->sharers;
    return 0;
}

static int cuda_apply(struct lane *opened, struct image *dst,
                      const struct image *src, enum xform t,
                      struct thread_pool *threads, struct err *err)
{
    struct gpu_lane *lane = gpu_lane_of(opened);
    if (src->cell == CELL_DCT)
        return backend_cpu.apply(lane->cpu, dst, src, t, threads, err);
    if (lane->vram == 0 && set_vram(lane, err))
        return -1;
    const size_t half = lane->vram / 2,
                 most = half < piece_bytes ? half : piece_bytes;
    int status = 0;
    for (unsigned k = 0; k < src->nplanes; k++) {
        const struct gpu_plane plane = { src->cell, t, &src->plane[k],
                                         &dst->plane[k] };
        const uint32_t w = plane.src->width, h = plane.src->height;
        const struct pieces pieces =
            pieces_cut(w, h, cell_size(src->cell), most);
        for (uint64_t i = 0; i < pieces.count && status == 0; i++) {
            const struct plane_piece piece = pieces_get(&pieces, w, h, i, t);
            status = gpu_slot_turn(&lane->slot[lane->next++ % lane->nslots],
                                   &plane, &piece, err);
        }
    }
    /* Also after a failure, so that nothing is under way when we leave. */
    for (unsigned i = 0; i < lane->nslots; i++) {
        struct gpu_slot *slot = &lane->slot[i];
        struct err later;
        if (slot->stream &&
            (gpu_slot_enter(slot, status ? &later : err) ||
             gpu_check(cudaStreamSynchronize(slot->stream),
                       "turning on the device", status ? &later : err)))
            status = -1;
    }
    return status;
}

/* ---- The lane -------------------------------------------------------------*/

static struct mem cuda_memory(struct lane *lane)
{
    return gpu_memory_of_pool(&gpu_lane_of(lane)->pool);
}

static void cuda_close(struct lane *opened)
{
    struct gpu_lane *lane = gpu_lane_of(opened);
    if (!lane)
        return;
    gpu_memory_close_pool(&lane->pool);
    if (lane->cpu)
        backend_cpu.close(lane->cpu);
    for (unsigned i = 0; i < lane->nslots; i++) {
        struct gpu_slot *slot = &lane->slot[i];
        struct err ignored;
        if (!slot->stream || gpu_slot_enter(slot, &ignored))
            continue;
        gpu_memory_free(&slot->src);
        gpu_memory_free(&slot->dst);
        (void)cudaStreamDestroy(slot->stream);
    }
    free(lane);
}

/* Opens the slots of the devices, of which nothing is asked until they are
 * used: a batch on 16 processors has 48 lanes of 3 slots, and may need none.
 * The first lanes find out whether the devices can be used. */
static int open_devices(struct gpu_lane *lane, const struct lane_opts *opts,
                        struct err *err)
{
    int count;
    if (gpu_count_devices(&count, err))
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
            return fail(err, "CUDA device %d not found; %d found, from 0 on",
                        device, count);
        for (int k = 0; k < SLOTS_OF_DEVICE; k++) {
            struct gpu_slot *slot = &lane->slot[lane->nslots];
            if (i != mine && opts->workers)
                break;
            lane->nslots++;
            slot->device = device;
        }
    }
    for (unsigned i = 0; opts->worker < n && i < lane->nslots;
         i += SLOTS_OF_DEVICE)
        if (gpu_slot_enter(&lane->slot[i], err) ||
            gpu_check(kernels_usable(), "loading the kernels", err))
            return -1;
    return 0;
}

static int cuda_open(struct lane **lane, const struct lane_opts *opts,
                     struct err *err)
{
    struct gpu_lane *made = (struct gpu_lane *)calloc(1, sizeof *made);
    if (!made)
        return fail(err, "no memory for a lane");
    made->pool.most = locked_bytes;
    size_t together = locked_together;
    if (opts->keep && opts->keep < together)
        together = (size_t)opts->keep;
    if (opts->workers && together / opts->workers < locked_bytes)
        made->pool.most = together / opts->workers;
    made->allowed = opts->vram;
    if (backend_cpu.open(&made->cpu, opts, err) ||
        open_devices(made, opts, err)) {
        cuda_close(reinterpret_cast<struct lane *>(made));
        return -1;
    }
    made->pool.device = made->slot[0].device;
    *lane = reinterpret_cast<struct lane *>(made);
    return 0;
}

const struct backend backend_cuda = {
    "cuda",      cuda_probe, cuda_describe, cuda_open,
    cuda_memory, cuda_apply, cuda_close,    false,
};
