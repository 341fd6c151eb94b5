/* The blocks of a scan one by one, as rows of coefficients. */
#ifndef CODECS_JPEG_ENTROPY_BLOCK_VISITOR_H
#define CODECS_JPEG_ENTROPY_BLOCK_VISITOR_H

#include <stdbool.h>

#include "codecs/base/err.h"
#include "codecs/base/thread_pool.h"
#include "codecs/image/image.h"
#include "codecs/jpeg/entropy/entropy_blocks.h"

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
void block_visitor_show(const struct entropy_blocks *blocks,
                        const struct entropy_scan *scan,
                        const struct block_visitor *visitor,
                        struct thread_pool *pool);

/* Shows row y of the blocks of component c. */
void block_visitor_show_row(const struct entropy_blocks *blocks,
                            const struct entropy_scan *scan, unsigned c,
                            uint32_t y, const struct block_visitor *visitor);

/* Makes them what the visitor writes, or if there are none, which is {0}, all
 * of them. They can be replaced once. Returns -1 without memory, or if a
 * coefficient is out of the range of 8-bit samples. The blocks are to be freed
 * in any case. */
int block_visitor_replace(struct entropy_blocks *blocks,
                          const struct entropy_scan *scan,
                          const struct block_visitor *visitor,
                          struct thread_pool *pool, struct err *err);

#endif
