/* The blocks of a scan as planes of coefficients, which other turns and other
 * coders take: CELL_DCT, one plane a component. */
#ifndef CODECS_JPEG_ENTROPY_BLOCK_PLANES_H
#define CODECS_JPEG_ENTROPY_BLOCK_PLANES_H

#include <stdbool.h>

#include "codecs/base/err.h"
#include "codecs/base/thread_pool.h"
#include "codecs/image/image.h"
#include "codecs/jpeg/entropy/entropy_blocks.h"

/* Makes the blocks of a scan, whose components stand in these planes. Returns
 * -1 without memory, or if a coefficient is out of the range of 8-bit samples.
 * The blocks are to be freed in any case. */
int block_planes_take(struct entropy_blocks *blocks,
                      const struct entropy_scan *scan,
                      const struct plane *const plane[ENTROPY_COMPONENTS],
                      struct thread_pool *pool, struct err *err);

/* Writes the blocks, which are not transposed, to planes of their sizes. */
void block_planes_give(const struct entropy_blocks *blocks,
                       const struct entropy_scan *scan,
                       const struct plane *const plane[ENTROPY_COMPONENTS],
                       struct thread_pool *pool);

/* Who computes with blocks one by one: that of component c of the scan in
 * column x and row y, as rows of coefficients, transposed where all are.
 * Several threads call it, for different rows. */
struct block_visitor {
    bool wants[ENTROPY_COMPONENTS];
    void (*visit)(void *context, unsigned c, uint32_t x, uint32_t y,
                  int16_t block[64]);
    void *context;
};

/* Shows the blocks of those components that are wanted. */
void block_planes_visit(const struct entropy_blocks *blocks,
                        const struct entropy_scan *scan,
                        const struct block_visitor *visitor,
                        struct thread_pool *pool);

/* Shows row y of the blocks of component c. */
void block_planes_visit_row(const struct entropy_blocks *blocks,
                            const struct entropy_scan *scan, unsigned c,
                            uint32_t y, const struct block_visitor *visitor);

/* Makes them what the visitor writes, or if there are none, which is {0}, all
 * of them. They can be replaced once. Returns -1 as block_planes_take() does.
 */
int block_planes_replace(struct entropy_blocks *blocks,
                         const struct entropy_scan *scan,
                         const struct block_visitor *visitor,
                         struct thread_pool *pool, struct err *err);

#endif
