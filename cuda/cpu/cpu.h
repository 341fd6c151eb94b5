/* The stage on the CPU: turns pictures without a GPU.
 *
 * In comes a picture in planes and one of the eight turns; out goes the turned
 * picture; both may be parts of pictures. cpu.c cuts the planes into pieces
 * that the threads of a pool share, and pieces into blocks. What moves a block
 * stands in a table for each instruction set: plain C, SSE2, AVX-512. A mirror
 * is a stride below zero and, where a row stays a row, a reversed row. Any size
 * of picture and any stride is right. The room knows nothing of files and
 * formats, nor of what a cell means, but that DCT blocks are turned inside as
 * well. */
#ifndef CUDA_CPU_CPU_H
#define CUDA_CPU_CPU_H

#include <stdbool.h>

#include "cuda/backend.h"

/* ---- Tables of functions -------------------------------------------------*/

enum { CPU_CELL_KINDS = CELL_DCT + 1 };

enum {
    CPU_LINE = 64,    /* bytes of a cache line */
    CPU_DCT_SIDE = 8, /* coefficients along a side of a DCT block */
    CPU_DCT_BYTES = CPU_DCT_SIDE * CPU_DCT_SIDE * sizeof(int16_t),
};

/* The sides of a block whose rows become columns, in bytes of a row of dst and
 * of a row of src: 4 and 2 cache lines. Runs of lines are what memory likes
 * (128 on both sides costs a sixth of the speed, 64 more), and a block of bytes
 * still fits into a first-level cache. Of coefficients it is 8 by 8 cells. */
enum { CPU_BLOCK_TO = 256, CPU_BLOCK_FROM = 128, CPU_BLOCK_DCT = 8 };

struct cpu_block {
    uint8_t *to;         /* the first cell of the first row of dst */
    const uint8_t *from; /* the cell that goes there */
    /* Bytes from each row to the next; that of src is above zero if rows stay
     * rows. */
    ptrdiff_t to_stride, from_stride;
    size_t rows;  /* of dst; columns of src, if they become rows */
    size_t cells; /* in each of them */
    enum xform t;
    /* Whether stores bypass the cache: dst is too large to be in a cache when
     * it is next read, and must not push out what is. */
    bool stream;
};

/* The functions of one instruction set. All rows lie in planes as
 * codecs/image/image.h has them: the bytes between the last cell of a row and
 * the next multiple of IMAGE_STRIDE may be read and written. */
struct cpu_tiles {
    const char *name;
    bool (*usable)(void); /* on this machine */
    /* Rows stay rows. Any number of them; `from` is the first cell of a row of
     * src also where that cell goes to the end of the row of dst. */
    void (*rows[CPU_CELL_KINDS])(const struct cpu_block *block);
    /* Rows become columns. No more than CPU_BLOCK_TO bytes of `cells` and
     * CPU_BLOCK_FROM bytes of `rows`; `to` is aligned to the one, `from` to the
     * other. The block that follows in the rows of src is expected next. */
    void (*columns[CPU_CELL_KINDS])(const struct cpu_block *block);
    /* Makes streamed stores visible to other threads. */
    void (*flush)(void);
};

/* The fastest first; the last is portable. Ended by NULL. Tests try each. */
extern const struct cpu_tiles *const cpu_tiles[];
extern const struct cpu_tiles cpu_tiles_avx512, cpu_tiles_sse2,
    cpu_tiles_portable;

/* Prefetches src a page ahead: the CPU's own prefetcher follows rows that are
 * read from beginning to end, but stops at each page of 4 KiB. */
static inline __attribute__((always_inline)) void
cpu_tiles_fetch_ahead(const uint8_t *from)
{
    __builtin_prefetch(from + 4096);
}

/* Prefetches what the next block reads of a row, into the second-level cache:
 * the first would not keep it until then. */
static inline __attribute__((always_inline)) void
cpu_tiles_fetch_next(const uint8_t *row)
{
    for (size_t k = CPU_BLOCK_FROM; k < 2 * CPU_BLOCK_FROM; k += CPU_LINE)
        __builtin_prefetch(row + k, 0, 2);
}

/* ---- The backend ---------------------------------------------------------*/

/* How a lane of backend_cpu works. */
struct cpu_opts {
    const struct cpu_tiles *tiles;
    size_t piece;       /* bytes that one thread turns at a time, roughly */
    size_t alone_below; /* pictures of fewer bytes are turned by one thread */
    size_t stream_from; /* pictures of so many bytes bypass the cache */
};

/* Opens a lane of backend_cpu with these options; backend_cpu.open() chooses
 * them itself. The caller closes the lane. Returns 0; on failure -1, with the
 * reason in `err`. */
int cpu_open_with(struct lane **lane, const struct cpu_opts *opts,
                  struct err *err);

#endif
