/* A plane cut into rectangles that are turned one by one. Arithmetic and copies
 * on the host, tested there. */
#ifndef CUDA_GPU_PIECES_H
#define CUDA_GPU_PIECES_H

#include "codecs/image/image.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A rectangle of src and the one of dst that it becomes. */
struct plane_piece {
    uint32_t x, y, width, height;
    uint32_t to_x, to_y, to_width, to_height;
};

/* How a plane is cut: all pieces are of one size, but for those at the right
 * and at the bottom. */
struct pieces {
    uint32_t wide, high;   /* of a piece, in cells */
    uint32_t across, down; /* how many there are each way */
    uint64_t count;
};

/* Bytes from one row of a piece to the next where it lies alone. */
size_t pieces_stride(uint32_t width, size_t cell_size);

/* Cuts width x height cells into pieces of at most `most` bytes before the turn
 * and after it; of one IMAGE_STRIDE each way if that is not enough. Rather a
 * few whole rows than many short ones. */
struct pieces pieces_cut(uint32_t width, uint32_t height, size_t cell_size,
                         size_t most);

/* Piece i, from 0, of a plane of width x height cells that is turned by t. */
struct plane_piece pieces_get(const struct pieces *pieces, uint32_t width,
                              uint32_t height, uint64_t i, enum xform t);

/* Copies the piece's cells of src to where they lie alone, and those that it
 * has become from there to their place in dst. */
void pieces_take(uint8_t *to, const struct plane *src,
                 const struct plane_piece *piece, size_t cell_size);
void pieces_give(const struct plane *dst, const struct plane_piece *piece,
                 const uint8_t *from, size_t cell_size);

#ifdef __cplusplus
}
#endif
#endif
