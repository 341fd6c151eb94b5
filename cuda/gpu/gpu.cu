/* The stage on GPUs: the lane, and how a picture goes through its slots.
 *
 * A lane has a few slots on each of its devices and uses them in
 * turn, so that one load is copied in, another turned and a third copied out at
 * the same time.
 *
 * A picture that a slot holds is one load: one copy in, one launch for all its
 * planes, one copy out. A larger one is cut into rectangles; the turn of a
 * rectangle is a rectangle of the turned plane, so each is a load of its own.
 *
 * Blocks of coefficients, which a GPU turns in coded data alone
 * (cuda/jpeg), are left to the CPU: to send them takes longer. */
#include "cuda/backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/gpu/gpu_memory.h"
#include "cuda/gpu/kernels.h"
#include "cuda/gpu/pieces.h"

enum {
    DEVICES = 16,        /* of a lane, at the most */
    SLOTS_OF_DEVICE = 3, /* in, turn, out */
};

/* Bytes of the cells of a rectangle. Large enough that a copy takes far longer
 * than to start it (0.6 ms against some 10 us), small enough to be page-locked
 * at once: that takes 0.28 ms/MB for each rectangle that is under way. */
static const size_t piece_bytes = (size_t)32 << 20;

/* A picture up to this size goes whole, if the device has room: larger ones are
 * faster in pieces that overlap. */
static const size_t whole_bytes = (size_t)256 << 20;

/* Page-locked memory for pictures that a lane keeps, at the most; and all lanes
 * together that share the devices. */
static const size_t locked_bytes = (size_t)1 << 30;
static const size_t locked_together = (size_t)4 << 30;

/* ---- Slots ----------------------------------------------------------------*/

/* A stream on a device, and memory for one load, on the device and,
 * page-locked, on the host. */
struct gpu_slot {
    int device;
    cudaStream_t stream;
    struct gpu_buffer src, dst; /* on the device */
    struct gpu_buffer in, out;  /* page-locked, for pieces */
    bool busy;                  /* a piece is under way: */
    struct plane_piece piece;
    struct plane to; /* the plane that it is a piece of, after the turn */
};

/* Functions that can fail return 0; on failure -1, with the reason in `err`. */

/* Makes the slot's device the current one. Each thread has a current device,
 * and any thread may use a lane. */
static int gpu_slot_enter(const struct gpu_slot *slot, struct err *err)
{
    return gpu_check(cudaSetDevice(slot->device), "choosing the device", err);
}

/* Enters a slot that is about to be used, and makes its stream: one that does
 * not wait for the default stream, which is not ours. */
static int begin_use(struct gpu_slot *slot, struct err *err)
{
    if (gpu_slot_enter(slot, err))
        return -1;
    return slot->stream ? 0
                        : gpu_check(cudaStreamCreateWithFlags(
                                        &slot->stream, cudaStreamNonBlocking),
                                    "making a stream", err);
}

/* If one of the two does not fit, neither is kept: a picture that is too large
 * for this slot must not leave the others short. */
static int make_room(struct gpu_slot *slot, size_t src_size, size_t dst_size,
                     struct err *err)
{
    if (gpu_memory_grow(&slot->src, src_size, slot->stream, err) == 0 &&
        gpu_memory_grow(&slot->dst, dst_size, slot->stream, err) == 0)
        return 0;
    gpu_memory_free(&slot->src);
    gpu_memory_free(&slot->dst);
    return -1;
}

/* ---- A picture as one load ------------------------------------------------*/

/* Returns the picture as it lies in a buffer of the device. */
static struct image on_device(const struct image *img,
                              const struct gpu_buffer *buffer)
{
    struct image there = *img;
    uint8_t *cells = (uint8_t *)buffer->memory;
    there.pixels.rows.cells = cells;
    for (unsigned i = 0; i < img->nplanes; i++)
        there.plane[i].data =
            cells + (img->plane[i].data - img->pixels.rows.cells);
    return there;
}

/* A picture on the device, before and after the turn, and where it comes from
 * and goes. */
struct gpu_load {
    struct image from, to;
    const uint8_t *sent;
    uint8_t *received;
};

/* Enqueues the copy of a picture in, its turn, and the copy out. */
static int enqueue(const struct gpu_load *load, enum xform t,
                   cudaStream_t stream, struct err *err)
{
    const struct pixel_rows *from = &load->from.pixels.rows,
                            *to = &load->to.pixels.rows;
    if (gpu_check(cudaMemcpyAsync(from->cells, load->sent, from->size,
                                  cudaMemcpyHostToDevice, stream),
                  "copying to the device", err) ||
        gpu_check(kernels_turn(&load->to, &load->from, t, stream), "turning",
                  err))
        return -1;
    return gpu_check(cudaMemcpyAsync(load->received, to->cells, to->size,
                                     cudaMemcpyDeviceToHost, stream),
                     "copying from the device", err);
}

/* Turns a picture that the slot has room for. dst is complete on return. */
static int gpu_slot_turn(struct gpu_slot *slot, struct image *dst,
                         const struct image *src, enum xform t, struct err *err)
{
    struct err later;
    if (begin_use(slot, err) ||
        make_room(slot, src->pixels.rows.size, dst->pixels.rows.size, err))
        return -1;
    const struct gpu_load load = { on_device(src, &slot->src),
                                   on_device(dst, &slot->dst),
                                   src->pixels.rows.cells,
                                   dst->pixels.rows.cells };
    const int status = enqueue(&load, t, slot->stream, err);
    /* Also after a failure: what was enqueued may still use both pictures. */
    const int waited =
        gpu_check(cudaStreamSynchronize(slot->stream), "turning on the device",
                  status ? &later : err);
    return status ? status : waited;
}

/* ---- A picture in pieces --------------------------------------------------*/

/* Returns one plane as a picture, which is what a launch takes. */
static struct image alone(enum cell cell, const struct gpu_buffer *buffer,
                          uint32_t width, uint32_t height)
{
    struct image img;
    memset(&img, 0, sizeof img);
    img.cell = cell;
    img.nplanes = 1;
    img.width = img.plane[0].width = width;
    img.height = img.plane[0].height = height;
    img.plane[0].stride = pieces_stride(width, cell_size(cell));
    img.pixels.rows.size = img.plane[0].stride * height;
    img.plane[0].data = img.pixels.rows.cells = (uint8_t *)buffer->memory;
    return img;
}

/* Waits for the piece under way, if there is one, and puts it into its plane.
 * `size` is that of a cell. */
static int gpu_slot_finish(struct gpu_slot *slot, size_t size, struct err *err)
{
    if (!slot->busy)
        return 0;
    slot->busy = false;
    if (gpu_slot_enter(slot, err) ||
        gpu_check(cudaStreamSynchronize(slot->stream), "turning on the device",
                  err))
        return -1;
    pieces_give(&slot->to, &slot->piece, (const uint8_t *)slot->out.memory,
                size);
    return 0;
}

/* Starts to turn a piece of a plane by t. The slot is not busy. */
static int gpu_slot_start(struct gpu_slot *slot, enum cell cell,
                          const struct plane *dst, const struct plane *src,
                          struct plane_piece piece, enum xform t,
                          struct err *err)
{
    if (begin_use(slot, err))
        return -1;
    const size_t size = cell_size(cell);
    const size_t from_size = pieces_stride(piece.width, size) * piece.height,
                 to_size =
                     pieces_stride(piece.to_width, size) * piece.to_height;
    if (make_room(slot, from_size, to_size, err) ||
        gpu_memory_grow(&slot->in, from_size, slot->stream, err) ||
        gpu_memory_grow(&slot->out, to_size, slot->stream, err))
        return -1;
    const struct gpu_load load = {
        alone(cell, &slot->src, piece.width, piece.height),
        alone(cell, &slot->dst, piece.to_width, piece.to_height),
        (const uint8_t *)slot->in.memory, (uint8_t *)slot->out.memory
    };
    pieces_take((uint8_t *)slot->in.memory, src, &piece, size);
    slot->piece = piece;
    slot->to = *dst;
    slot->busy = true;
    return enqueue(&load, t, slot->stream, err);
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

static struct gpu_slot *next_slot(struct gpu_lane *lane)
{
    return &lane->slot[lane->next++ % lane->nslots];
}

static int apply_pieces(struct gpu_lane *lane, struct image *dst,
                        const struct image *src, enum xform t, struct err *err)
{
    const size_t size = cell_size(src->cell);
    size_t most = lane->vram / 2 < piece_bytes ? lane->vram / 2 : piece_bytes;
    struct err later;
    int status = 0;
    for (unsigned k = 0; k < src->nplanes; k++) {
        const struct plane *plane = &src->plane[k];
        const uint32_t w = plane->width, h = plane->height;
        const struct pieces pieces = pieces_cut(w, h, size, most);
        for (uint64_t i = 0; i < pieces.count && status == 0; i++) {
            struct gpu_slot *slot = next_slot(lane);
            status = gpu_slot_finish(slot, size, err);
            if (status == 0)
                status =
                    gpu_slot_start(slot, src->cell, &dst->plane[k], plane,
                                   pieces_get(&pieces, w, h, i, t), t, err);
        }
    }
    /* Also after a failure, so that nothing is under way when we leave. */
    for (unsigned i = 0; i < lane->nslots; i++)
        if (gpu_slot_finish(&lane->slot[i], size, status ? &later : err))
            status = -1;
    return status;
}

static int cuda_apply(struct lane *opened, struct image *dst,
                      const struct image *src, enum xform t,
                      struct thread_pool *threads, struct err *err)
{
    struct gpu_lane *lane = gpu_lane_of(opened);
    if (src->cell == CELL_DCT)
        return backend_cpu.apply(lane->cpu, dst, src, t, threads, err);
    size_t both = src->pixels.rows.size + dst->pixels.rows.size;
    if (lane->vram == 0) {
        /* A slot's share of the memory that was allowed, or else of most of
         * what is free on the lane's first device. */
        size_t left, all;
        if (gpu_slot_enter(&lane->slot[0], err) ||
            gpu_check(cudaMemGetInfo(&left, &all), "asking for memory", err))
            return -1;
        size_t most = left / 4 * 3;
        if (lane->allowed && lane->allowed < most)
            most = (size_t)lane->allowed;
        lane->vram = most / SLOTS_OF_DEVICE / lane->sharers;
    }
    if (both <= whole_bytes && both <= lane->vram)
        return gpu_slot_turn(next_slot(lane), dst, src, t, err);
    return apply_pieces(lane, dst, src, t, err);
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
        gpu_memory_free(&slot->in);
        gpu_memory_free(&slot->out);
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
            slot->in.on_host = slot->out.on_host = true;
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
