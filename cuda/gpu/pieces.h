/* A plane cut into rectangles that are turned one by one: arithmetic,
 * tested on the host. */
#ifndef CUDA_GPU_PIECES_H
#define CUDA_GPU_PIECES_H

#include "codecs/image/image.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A rectangle of src, and the rectangle of dst that it becomes; in cells. */
struct plane_piece {
    uint32_t x, y, width, height;
    uint32_t to_x, to_y, to_width, to_height;
};

/* How a plane is cut. All pieces have the same size, but those at the right
 * and at the bottom may be smaller. */
struct pieces {
    uint32_t wide, high;   /* of a piece, in cells */
    uint32_t across, down; /* how many there are each way */
    uint64_t count;
};

/* Returns the bytes from one row of a piece to the next where it lies alone. */
size_t pieces_stride(uint32_t width, size_t cell_size);

/* Cuts width x height cells into pieces of at most `most` bytes before the
 * turn and after it, but not smaller than one IMAGE_STRIDE each way. A few
 * whole rows are preferred to many short ones. */
struct pieces pieces_cut(uint32_t width, uint32_t height, size_t cell_size,
                         size_t most);

/* Returns piece i, from 0, of a plane of width x height cells that is turned
 * by t. */
struct plane_piece pieces_get(const struct pieces *pieces, uint32_t width,
                              uint32_t height, uint64_t i, enum xform t);

#ifdef __cplusplus
}
#endif
#endif
