/* A slot: a stream on a device, and memory for one load. */
#include "cuda/gpu/gpu_slot.h"

#include <string.h>

#include "cuda/gpu/gpu_check.h"
#include "cuda/gpu/kernels.h"

int gpu_slot_enter(const struct gpu_slot *slot, struct err *err)
{
    return gpu_check(cudaSetDevice(slot->device), "choosing the device", err);
}

void gpu_slot_open(struct gpu_slot *slot, int device)
{
    memset(slot, 0, sizeof *slot);
    slot->device = device;
    slot->in.on_host = slot->out.on_host = true;
}

int gpu_slot_check(const struct gpu_slot *slot, struct err *err)
{
    return gpu_slot_enter(slot, err) ||
                   gpu_check(kernels_usable(), "loading the kernels", err)
               ? -1
               : 0;
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

void gpu_slot_close(struct gpu_slot *slot)
{
    struct err ignored;
    if (!slot->stream || gpu_slot_enter(slot, &ignored))
        return;
    gpu_memory_free(&slot->src);
    gpu_memory_free(&slot->dst);
    gpu_memory_free(&slot->in);
    gpu_memory_free(&slot->out);
    (void)cudaStreamDestroy(slot->stream);
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
    there.cells = (uint8_t *)buffer->memory;
    for (unsigned i = 0; i < img->nplanes; i++)
        there.plane[i].data = there.cells + (img->plane[i].data - img->cells);
    return there;
}

static int enqueue_whole(struct gpu_slot *slot, struct image *dst,
                         const struct image *src, enum xform t, struct err *err)
{
    struct image from = on_device(src, &slot->src);
    struct image to = on_device(dst, &slot->dst);
    if (gpu_check(cudaMemcpyAsync(from.cells, src->cells, src->size,
                                  cudaMemcpyHostToDevice, slot->stream),
                  "copying to the device", err) ||
        gpu_check(kernels_turn(&to, &from, t, slot->stream), "turning", err))
        return -1;
    return gpu_check(cudaMemcpyAsync(dst->cells, to.cells, dst->size,
                                     cudaMemcpyDeviceToHost, slot->stream),
                     "copying from the device", err);
}

int gpu_slot_turn(struct gpu_slot *slot, struct image *dst,
                  const struct image *src, enum xform t, struct err *err)
{
    struct err later;
    if (begin_use(slot, err) || make_room(slot, src->size, dst->size, err))
        return -1;
    int status = enqueue_whole(slot, dst, src, t, err);
    /* Also after a failure: what was enqueued may still use both pictures. */
    int waited = gpu_check(cudaStreamSynchronize(slot->stream),
                           "turning on the device", status ? &later : err);
    return status ? status : waited;
}

/* ---- A picture in pieces --------------------------------------------------*/

/* Returns one plane as a picture, which is what a launch takes. */
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

int gpu_slot_finish(struct gpu_slot *slot, size_t size, struct err *err)
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

int gpu_slot_start(struct gpu_slot *slot, enum cell cell,
                   const struct plane *dst, const struct plane *src,
                   struct plane_piece piece, enum xform t, struct err *err)
{
    if (begin_use(slot, err))
        return -1;
    struct image from = alone(cell, NULL, piece.width, piece.height);
    struct image to = alone(cell, NULL, piece.to_width, piece.to_height);
    if (make_room(slot, from.size, to.size, err) ||
        gpu_memory_grow(&slot->in, from.size, slot->stream, err) ||
        gpu_memory_grow(&slot->out, to.size, slot->stream, err))
        return -1;
    pieces_take((uint8_t *)slot->in.memory, src, &piece, cell_size(cell));
    from.plane[0].data = (uint8_t *)slot->src.memory;
    to.plane[0].data = (uint8_t *)slot->dst.memory;
    slot->piece = piece;
    slot->to = *dst;
    slot->busy = true;
    if (gpu_check(cudaMemcpyAsync(slot->src.memory, slot->in.memory, from.size,
                                  cudaMemcpyHostToDevice, slot->stream),
                  "copying to the device", err) ||
        gpu_check(kernels_turn(&to, &from, t, slot->stream), "turning", err))
        return -1;
    return gpu_check(cudaMemcpyAsync(slot->out.memory, slot->dst.memory,
                                     to.size, cudaMemcpyDeviceToHost,
                                     slot->stream),
                     "copying from the device", err);
}
