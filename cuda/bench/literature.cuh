/* The kernels of the literature on the transpose.
 *
 * Written anew, each does what its source prints. Where that is right for some
 * sizes only, it is here twice: as it is published, kept to those sizes, and as
 * it is meant, for all. What is amiss in the published forms:
 *
 *   - NVIDIA's transposes take the width of the source for that of the result:
 *     right for squares. Whole tiles only, as the article says itself.
 *   - copyGmem of the book's downloads transposes, by the comment in it too.
 *     The upper bound that it is meant to be is a second lower one.
 *   - The form that reads columns takes nx and ny for those of the result:
 * right for squares.
 *   - transposeSmem and transposeSmemPad, as printed, test the indices after
 *     they were exchanged, against bounds that were not, and have the barrier
 *     behind that test. At edges some threads load nothing of what others
 * store, and not all come to the barrier: whole blocks, and squares.
 *   - transposeSmemPad and transposeSmemUnrollPad of the downloads read
 *     tile[irow][icol]. For a block of 32 x 16 irow reaches 31, in a tile of 16
 *     rows. For square blocks that is tile[ty][tx], so nothing is turned in
 *     shared memory, and stores are as scattered as without it.
 *   - transposeSmemUnrollPad, as printed, skips what is less than a pair of
 *     blocks, and has its barrier behind that test.
 *   - Re-indexed rectangles go round with an early return before the barrier,
 * or with the barrier behind the test: whole blocks only. (A thread that left
 *     loads nothing, but stores what another would have loaded.)
 *   - A block a row ends at the 1024 threads that a block has.
 *   - Of mat_transpose, v1 with 16 x 16 threads is said to meet 16 ways at a
 *     bank. It is 8, and v2 is not free of conflicts: two words meet once.
 *
 * All count cells with 32 bits. A call of a kernel behind its barrier's test is
 * never made where threads would part there. */
#ifndef CUDA_LITERATURE_CUH
#define CUDA_LITERATURE_CUH

/* ---- M. Harris, "An Efficient Matrix Transpose in CUDA C/C++", NVIDIA, 2013;
 * github.com/NVIDIA-developer-blog/code-samples, series/cuda-cpp/transpose.
 * Tiles of 32 x 32, blocks of 32 x 8 threads. -------------------------------
 */

enum { TILE = 32, TILE_ROWS = 8 };

__global__ void nvidia_copy(float *dst, const float *src, int, int)
{
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    int pitch = gridDim.x * TILE;
    for (int j = 0; j < TILE; j += TILE_ROWS)
        dst[(y + j) * pitch + x] = src[(y + j) * pitch + x];
}

__global__ void nvidia_copy_shared(float *dst, const float *src, int, int)
{
    __shared__ float tile[TILE * TILE];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    int pitch = gridDim.x * TILE;
    for (int j = 0; j < TILE; j += TILE_ROWS)
        tile[(threadIdx.y + j) * TILE + threadIdx.x] = src[(y + j) * pitch + x];
    __syncthreads();
    for (int j = 0; j < TILE; j += TILE_ROWS)
        dst[(y + j) * pitch + x] = tile[(threadIdx.y + j) * TILE + threadIdx.x];
}

__global__ void nvidia_naive_published(float *dst, const float *src, int, int)
{
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    int pitch = gridDim.x * TILE;
    for (int j = 0; j < TILE; j += TILE_ROWS)
        dst[x * pitch + (y + j)] = src[(y + j) * pitch + x];
}

__global__ void nvidia_naive(float *dst, const float *src, int width,
                             int height)
{
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += TILE_ROWS)
        if (x < width && y + j < height)
            dst[x * height + (y + j)] = src[(y + j) * width + x];
}

/* transposeCoalesced with PAD 0, transposeNoBankConflicts with PAD 1. */
template <int PAD>
__global__ void nvidia_tile_published(float *dst, const float *src, int, int)
{
    __shared__ float tile[TILE][TILE + PAD];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    int pitch = gridDim.x * TILE;
    for (int j = 0; j < TILE; j += TILE_ROWS)
        tile[threadIdx.y + j][threadIdx.x] = src[(y + j) * pitch + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += TILE_ROWS)
        dst[(y + j) * pitch + x] = tile[threadIdx.x][threadIdx.y + j];
}

/* Tiles of SIDE x SIDE and blocks of SIDE x STEP threads: the two above as they
 * are meant, with a STEP of 8; and v1 to v3 of mat_transpose below. */
template <int SIDE, int STEP, int PAD>
__global__ void tile_turn(float *dst, const float *src, int width, int height)
{
    __shared__ float tile[SIDE][SIDE + PAD];
    int x = blockIdx.x * SIDE + threadIdx.x;
    int y = blockIdx.y * SIDE + threadIdx.y;
    for (int j = 0; j < SIDE; j += STEP)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = src[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * SIDE + threadIdx.x;
    y = blockIdx.x * SIDE + threadIdx.y;
    for (int j = 0; j < SIDE; j += STEP)
        if (x < height && y + j < width)
            dst[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

/* ---- J. Cheng, M. Grossman, T. McKercher, "Professional CUDA C Programming",
 * Wrox, 2014, chapter 5, "Coalescing Global Memory Accesses"; the form that
 * reads columns is of chapter 4. Blocks of 32 x 16 threads as printed, 16 x 16
 * in the downloads.
 * ------------------------------------------------------------ */

enum { BOOK_X = 32, BOOK_Y = 16, BOOK_SQUARE = 16, BOOK_IPAD = 2 };

__global__ void book_copy(float *dst, const float *src, int width, int height)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        dst[y * width + x] = src[y * width + x];
}

/* Also what copyGmem of the downloads does, and v0 of mat_transpose. */
__global__ void book_naive_rows(float *dst, const float *src, int width,
                                int height)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        dst[x * height + y] = src[y * width + x];
}

__global__ void book_naive_columns_published(float *dst, const float *src,
                                             int width, int height)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        dst[y * width + x] = src[x * height + y];
}

/* Its grid covers the result. */
__global__ void book_naive_columns(float *dst, const float *src, int width,
                                   int height)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < height && y < width)
        dst[y * height + x] = src[x * width + y];
}

/* transposeSmem with PAD 0, else transposeSmemPad. */
template <int PAD>
__global__ void book_smem_published(float *dst, const float *src, int width,
                                    int height)
{
    __shared__ float tile[BOOK_Y][BOOK_X + PAD];
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned from = y * width + x;
    unsigned n = threadIdx.y * blockDim.x + threadIdx.x;
    unsigned row = n / blockDim.y, col = n % blockDim.y;
    x = blockIdx.y * blockDim.y + col;
    y = blockIdx.x * blockDim.x + row;
    unsigned to = y * height + x;
    if (x < width && y < height) {
        tile[threadIdx.y][threadIdx.x] = src[from];
        __syncthreads();
        dst[to] = tile[col][row];
    }
}

/* What these and transposeSmemUnrollPad are meant to be: a thread moves ACROSS
 * cells of a row. */
template <int ACROSS, int PAD>
__global__ void book_smem(float *dst, const float *src, int width, int height)
{
    extern __shared__ float tile[];
    unsigned pitch = ACROSS * blockDim.x + PAD;
    unsigned x = ACROSS * blockIdx.x * blockDim.x + threadIdx.x;
    unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    for (unsigned j = 0; j < ACROSS * blockDim.x; j += blockDim.x)
        if (x + j < width && y < height)
            tile[threadIdx.y * pitch + threadIdx.x + j] =
                src[y * width + x + j];
    __syncthreads();
    unsigned n = threadIdx.y * blockDim.x + threadIdx.x;
    unsigned row = n / blockDim.y, col = n % blockDim.y;
    x = blockIdx.y * blockDim.y + col;
    y = ACROSS * blockIdx.x * blockDim.x + row;
    for (unsigned j = 0; j < ACROSS * blockDim.x; j += blockDim.x)
        if (x < height && y + j < width)
            dst[(y + j) * height + x] = tile[col * pitch + row + j];
}

/* Of the downloads: square blocks only. */
__global__ void book_pad_download(float *dst, const float *src, int width,
                                  int height)
{
    __shared__ float tile[BOOK_SQUARE][BOOK_SQUARE + BOOK_IPAD];
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned n = threadIdx.y * blockDim.x + threadIdx.x;
    unsigned row = n / blockDim.y, col = n % blockDim.y;
    if (x < width && y < height) {
        tile[threadIdx.y][threadIdx.x] = src[y * width + x];
        __syncthreads();
        dst[x * height + y] = tile[row][col];
    }
}

__global__ void book_unroll_published(float *dst, const float *src, int width,
                                      int height)
{
    constexpr int pitch = BOOK_X * 2 + BOOK_IPAD;
    __shared__ float tile[BOOK_Y * pitch];
    unsigned x = 2 * blockIdx.x * blockDim.x + threadIdx.x;
    unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned from = y * width + x;
    unsigned n = threadIdx.y * blockDim.x + threadIdx.x;
    unsigned row = n / blockDim.y, col = n % blockDim.y;
    unsigned to = (2 * blockIdx.x * blockDim.x + row) * height +
                  blockIdx.y * blockDim.y + col;
    if (x + blockDim.x < width && y < height) {
        unsigned put = threadIdx.y * pitch + threadIdx.x;
        tile[put] = src[from];
        tile[put + BOOK_X] = src[from + BOOK_X];
        __syncthreads();
        unsigned get = col * pitch + row;
        dst[to] = tile[get];
        dst[to + height * BOOK_X] = tile[get + BOOK_X];
    }
}

/* Of the downloads: square blocks only. */
__global__ void book_unroll_download(float *dst, const float *src, int width,
                                     int height)
{
    __shared__ float tile[BOOK_SQUARE][BOOK_SQUARE * 2 + BOOK_IPAD];
    unsigned x = 2 * blockIdx.x * blockDim.x + threadIdx.x;
    unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned x2 = x + blockDim.x;
    unsigned n = threadIdx.y * blockDim.x + threadIdx.x;
    unsigned row = n / blockDim.y, col = n % blockDim.y;
    if (x < width && y < height)
        tile[threadIdx.y][threadIdx.x] = src[y * width + x];
    if (x2 < width && y < height)
        tile[threadIdx.y][blockDim.x + threadIdx.x] = src[y * width + x2];
    __syncthreads();
    if (x < width && y < height)
        dst[x * height + y] = tile[row][col];
    if (x2 < width && y < height)
        dst[x2 * height + y] = tile[row][blockDim.x + col];
}

/* ---- mat_transpose v0 to v3: zhuanlan.zhihu.com/p/692010210. v0 is
 * book_naive_rows, v1 to v3 are tile_turn: with as many rows of threads as of
 * cells and no padding, with padding, and with 4 cells a thread. -----------*/

/* ---- Rectangles whose threads are counted anew for the result, and one block
 * a row: forms that go round in tutorials without an author to name. What the
 * first two are meant to be is book_smem.
 * ------------------------------------------*/

template <int BX, int BY>
__global__ void reindex_return(float *dst, const float *src, int width,
                               int height)
{
    __shared__ float tile[BY][BX];
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    tile[threadIdx.y][threadIdx.x] = src[y * width + x];
    __syncthreads();
    int tid = threadIdx.y * blockDim.x + threadIdx.x;
    int row = tid / blockDim.y, col = tid % blockDim.y;
    dst[(blockIdx.x * blockDim.x + row) * height + blockIdx.y * blockDim.y +
        col] = tile[col][row];
}

template <int BX, int BY>
__global__ void reindex_branch(float *dst, const float *src, int width,
                               int height)
{
    __shared__ float tile[BY][BX];
    int from = (blockIdx.y * blockDim.y + threadIdx.y) * width +
               blockIdx.x * blockDim.x + threadIdx.x;
    int tid = threadIdx.y * blockDim.x + threadIdx.x;
    int row = tid / blockDim.y, col = tid % blockDim.y;
    int x = blockIdx.y * blockDim.y + col;
    int y = blockIdx.x * blockDim.x + row;
    if (x < height && y < width) {
        tile[threadIdx.y][threadIdx.x] = src[from];
        __syncthreads();
        dst[y * height + x] = tile[col][row];
    }
}

__global__ void row_published(float *dst, const float *src, int, int)
{
    dst[threadIdx.x * gridDim.x + blockIdx.x] =
        src[blockIdx.x * blockDim.x + threadIdx.x];
}

__global__ void row_loop(float *dst, const float *src, int width, int height)
{
    for (int x = threadIdx.x; x < width; x += blockDim.x)
        dst[x * height + blockIdx.x] = src[blockIdx.x * width + x];
}

#endif
