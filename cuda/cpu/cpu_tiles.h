/* What moves cells on the CPU: the same functions for several kinds of CPU.
 *
 * cuda/cpu/cpu.c cuts a picture into blocks and does all index arithmetic; what is
 * here moves one block. Mirroring is a stride below zero and, where a row stays
 * a row, a row that is reversed. Tests take each implementation from the table,
 * whichever this machine would choose. */
#ifndef CUDA_CPU_CPU_TILES_H
#define CUDA_CPU_CPU_TILES_H

#include <stdbool.h>

#include "cuda/backend.h"

enum { CELL_KINDS = CELL_DCT + 1 };

/* The sides of a block whose rows become columns, in bytes of a row of dst and
 * of a row of src: 4 and 2 cache lines. Runs of lines are what memory likes
 * (128 on both sides costs a sixth of the speed, 64 more), and a block of bytes
 * still fits into a first-level cache. Of coefficients it is 8 by 8 cells. */
enum { BLOCK_TO = 256, BLOCK_FROM = 128, BLOCK_DCT = 8 };

struct cpu_block {
    uint8_t *to;         /* the first cell of the first row of dst */
    const uint8_t *from; /* the cell that goes there */
    /* Bytes from each row to the next; that of src is above zero if rows stay
     * rows. */
    ptrdiff_t to_stride, from_stride;
    size_t rows;  /* of dst; columns of src, if they become rows */
    size_t cells; /* in each of them */
    enum xform t;
    /* Whether dst is too large to be in a cache when it is next read. Then it
     * is not to push out what is. */
    bool stream;
};

/* All of dst's and src's rows lie in planes as codecs/image/image.h has them: what is
 * between the last cell of a row and the next multiple of IMAGE_STRIDE may be
 * read and written. */
struct cpu_tiles {
    const char *name;
    bool (*usable)(void); /* on this machine */
    /* Rows stay rows. Any number of them; `from` is the first cell of a row of
     * src also where it goes to the end of the row of dst. */
    void (*rows[CELL_KINDS])(const struct cpu_block *block);
    /* Rows become columns. No more than BLOCK_TO bytes of `cells` and
     * BLOCK_FROM bytes of `rows`; `to` is aligned to the one, `from` to the
     * other. Whatever follows in the rows of src is expected to be next. */
    void (*columns[CELL_KINDS])(const struct cpu_block *block);
    /* Lets other threads see what was streamed. */
    void (*flush)(void);
};

/* The best first; the last is portable. Ended by NULL. */
extern const struct cpu_tiles *const cpu_tiles[];
extern const struct cpu_tiles cpu_tiles_avx512, cpu_tiles_avx2, cpu_tiles_sse2,
    cpu_tiles_portable;

#endif
