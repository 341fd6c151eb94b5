/* A slot: a stream on a device, and memory for one load, on the device and,
 * page-locked, on the host. A load is a whole picture or a piece of a plane. */
#ifndef CUDA_GPU_GPU_SLOT_H
#define CUDA_GPU_GPU_SLOT_H

#include "cuda/gpu/gpu_memory.h"
#include "cuda/gpu/pieces.h"

struct gpu_slot {
    int device;
    cudaStream_t stream;
    struct gpu_buffer src, dst; /* on the device */
    struct gpu_buffer in, out;  /* page-locked, for pieces */
    bool busy;                  /* a piece is under way: */
    struct plane_piece piece;
    struct plane to; /* the plane that it is a piece of, after the turn */
};

/* Opens a slot on a device, of which nothing is asked until it is used: a batch
 * on 16 processors has 48 lanes of 3 slots, and may need none. */
void gpu_slot_open(struct gpu_slot *slot, int device);
void gpu_slot_close(struct gpu_slot *slot);

/* The others return 0; on failure -1, with the reason in `err`. */

/* Fails if the slot's device cannot be used. */
int gpu_slot_check(const struct gpu_slot *slot, struct err *err);

/* Makes the slot's device the current one. Each thread has a current device,
 * and any thread may use a lane. */
int gpu_slot_enter(const struct gpu_slot *slot, struct err *err);

/* Turns a picture that the slot has room for. dst is complete on return. */
int gpu_slot_turn(struct gpu_slot *slot, struct image *dst,
                  const struct image *src, enum xform t, struct err *err);

/* Starts to turn a piece of a plane by t. The slot is not busy. */
int gpu_slot_start(struct gpu_slot *slot, enum cell cell,
                   const struct plane *dst, const struct plane *src,
                   struct plane_piece piece, enum xform t, struct err *err);

/* Waits for the piece under way, if there is one, and puts it into its plane.
 * `size` is that of a cell. */
int gpu_slot_finish(struct gpu_slot *slot, size_t size, struct err *err);

#endif
