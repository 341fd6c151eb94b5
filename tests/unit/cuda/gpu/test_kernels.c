/* One launch of each kernel turns many planes of all sizes. Built with CUDA
 * only. */
#include "cuda/gpu/tiles.h"
#include "cuda/gpu/kernels.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/oracle.h"
#include "tests/support/test.h"

enum { PLANES = 60, GAP = IMAGE_STRIDE, POISON = 0xa5 };

static bool works(cudaError_t status)
{
    CHECK(status == cudaSuccess, "%s", cudaGetErrorString(status));
    return status == cudaSuccess;
}

/* ---- Planes, one after the other in a block -------------------------------*/

struct side {
    struct plane plane[PLANES];
    uint8_t *host, *device;
    size_t size;
};

static void lay_out(struct side *side, size_t i, uint32_t width,
                    uint32_t height, enum cell cell)
{
    struct plane *p = &side->plane[i];
    p->width = width;
    p->height = height;
    p->stride = width * cell_size(cell) + IMAGE_STRIDE - 1;
    p->stride -= p->stride % IMAGE_STRIDE;
    side->size += p->stride * height + GAP;
}

static bool allocate(struct side *side)
{
    side->host = aligned_alloc(IMAGE_STRIDE, side->size);
    size_t at = 0;
    for (int i = 0; i < PLANES; i++) {
        side->plane[i].data = side->host + at;
        at += side->plane[i].stride * side->plane[i].height + GAP;
    }
    return side->host && works(cudaMalloc((void **)&side->device, side->size));
}

static struct plane on_device(const struct side *side, size_t i)
{
    struct plane p = side->plane[i];
    p.data = side->device + (p.data - side->host);
    return p;
}

static bool gaps_hold(const struct side *side)
{
    bool hold = true;
    for (int i = 0; i < PLANES; i++) {
        const uint8_t *gap = plane_row(&side->plane[i], side->plane[i].height);
        for (int k = 0; k < GAP; k++)
            hold &= gap[k] == POISON;
    }
    return hold;
}

static void drop(struct side *side)
{
    free(side->host);
    works(cudaFree(side->device));
}

/* ---- A launch -------------------------------------------------------------*/

/* The sides of planes: around those of all tiles; for DCT blocks, too. */
static uint32_t random_side(enum cell cell, uint64_t *seed)
{
    static const uint32_t sides[] = { 1, 4, 8, 16, 31, 64, 128, 255, 257, 300 };
    uint64_t r = test_random(seed);
    uint32_t side = r % 2 ? sides[r / 2 % 10] : 1 + (uint32_t)(r / 2 % 150);
    return cell == CELL_DCT ? 1 + side % 40 : side;
}

/* The work of a caller, without the choice of tiles. */
static bool enqueue(const struct side *dst, const struct side *src,
                    const enum xform *t, enum cell cell, unsigned vectors)
{
    struct tiles_plane planes[PLANES], *there;
    struct tiles_plan plan = tiles_plan_begin(cell, t[0]);
    for (size_t i = 0; i < PLANES; i++) {
        struct plane d = on_device(dst, i), s = on_device(src, i);
        tiles_plan_add(&plan, planes, &d, &s, t[i]);
    }
    tiles_plan_cut(&plan, planes, vectors);
    if (!works(cudaMalloc((void **)&there, sizeof planes)))
        return false;
    bool done = works(cudaMemcpy(there, planes, sizeof planes,
                                 cudaMemcpyHostToDevice)) &&
                works(kernels_turn_batch(&plan, there, NULL)) &&
                works(cudaStreamSynchronize(NULL));
    return works(cudaFree(there)) && done;
}

/* src is random, dst poison. */
static bool turn_there_and_back(const struct side *dst, const struct side *src,
                                const enum xform *t, enum cell cell,
                                unsigned vectors)
{
    return works(cudaMemcpy(src->device, src->host, src->size,
                            cudaMemcpyHostToDevice)) &&
           works(cudaMemset(dst->device, POISON, dst->size)) &&
           enqueue(dst, src, t, cell, vectors) &&
           works(cudaMemcpy(dst->host, dst->device, dst->size,
                            cudaMemcpyDeviceToHost));
}

static void check_launch(enum cell cell, bool transposes, unsigned vectors,
                         uint64_t seed)
{
    struct side src = { .size = 0 }, dst = { .size = 0 };
    enum xform t[PLANES];
    bool right = true;
    for (size_t i = 0; i < PLANES; i++) {
        uint32_t w = random_side(cell, &seed), h = random_side(cell, &seed);
        t[i] =
            (enum xform)(transposes * XFORM_TRANSPOSE + test_random(&seed) % 4);
        lay_out(&src, i, w, h, cell);
        lay_out(&dst, i, transposes ? h : w, transposes ? w : h, cell);
    }
    right = right && allocate(&src) && allocate(&dst);
    for (size_t i = 0; right && i < src.size; i++)
        src.host[i] = (uint8_t)(test_random(&seed) >> 56);
    right = right && turn_there_and_back(&dst, &src, t, cell, vectors);
    for (size_t i = 0; right && i < PLANES; i++)
        CHECK(is_turned(t[i], &dst.plane[i], &src.plane[i], cell),
              "%s, %u x %u cells of %zu bytes", oracle[t[i]].name,
              src.plane[i].width, src.plane[i].height, cell_size(cell));
    CHECK(right && gaps_hold(&dst), "cells of %zu bytes", cell_size(cell));
    drop(&src);
    drop(&dst);
}

static bool has_device(void)
{
    int count = 0;
    cudaError_t status = cudaGetDeviceCount(&count);
    if (status == cudaSuccess && count > 0)
        return true;
    const char *required = getenv("CUDA_REQUIRED");
    CHECK(!required || strcmp(required, "1"), "no CUDA device");
    test_skip("the kernels: %s", cudaGetErrorString(status));
    return false;
}

/* What a device is, the kernels ask by themselves for one picture. */
TEST(chip)
{
    struct tiles_chip chip = { 0, 0, 0 };
    if (has_device())
        CHECK(works(kernels_chip(&chip)) && chip.multiprocessors > 0 &&
                  chip.shared_block >= 48 * 1024 &&
                  chip.shared_all >= chip.shared_block,
              "%u, %zu, %zu", chip.multiprocessors, chip.shared_block,
              chip.shared_all);
}

TEST(launches)
{
    for (unsigned cell = CELL_U8; has_device() && cell <= CELL_DCT; cell++) {
        check_launch((enum cell)cell, false, COLUMNS_NARROW, 3 * cell + 1);
        check_launch((enum cell)cell, true, COLUMNS_NARROW, 3 * cell + 2);
        check_launch((enum cell)cell, true, COLUMNS_WIDE, 3 * cell + 3);
    }
}
