/* One launch of each kernel turns planes of all sizes. Built with CUDA only. */
#include "cuda/gpu/kernels.h"

#include "tests/support/oracle.h"
#include "tests/support/test.h"

enum { PLANES = 60, GAP = IMAGE_STRIDE, POISON = 0xa5 };

static bool works(cudaError_t status)
{
    CHECK(status == cudaSuccess, "%s", cudaGetErrorString(status));
    return status == cudaSuccess;
}

/* Planes, one after the other in a block of memory, with gaps. */
struct side {
    struct image img; /* on the host */
    uint8_t *host, *device;
    size_t size;
};

static bool allocate(struct side *side)
{
    for (unsigned i = 0; i < side->img.nplanes; i++) {
        struct plane *p = &side->img.plane[i];
        p->stride = p->width * cell_size(side->img.cell) + IMAGE_STRIDE - 1;
        p->stride -= p->stride % IMAGE_STRIDE;
        side->size += p->stride * p->height + GAP;
    }
    side->host = aligned_alloc(IMAGE_STRIDE, side->size);
    uint8_t *at = side->host;
    for (unsigned i = 0; i < side->img.nplanes; i++) {
        struct plane *p = &side->img.plane[i];
        p->data = at;
        at += p->stride * p->height + GAP;
    }
    return side->host && works(cudaMalloc((void **)&side->device, side->size));
}

static struct image on_device(const struct side *side)
{
    struct image img = side->img;
    for (unsigned i = 0; i < img.nplanes; i++)
        img.plane[i].data = side->device + (img.plane[i].data - side->host);
    return img;
}

static bool gaps_hold(const struct side *side)
{
    bool hold = true;
    for (unsigned i = 0; i < side->img.nplanes; i++) {
        const struct plane *p = &side->img.plane[i];
        const uint8_t *gap = plane_row(p, p->height);
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

/* src is random, dst poison. */
static bool turn_there_and_back(const struct side *dst, const struct side *src,
                                enum xform t)
{
    const struct image to = on_device(dst), from = on_device(src);
    return works(cudaMemcpy(src->device, src->host, src->size,
                            cudaMemcpyHostToDevice)) &&
           works(cudaMemset(dst->device, POISON, dst->size)) &&
           works(kernels_turn(&to, &from, t, NULL)) &&
           works(cudaMemcpy(dst->host, dst->device, dst->size,
                            cudaMemcpyDeviceToHost));
}

/* A plane of this width and height, or many small ones where these are 0. */
static void check_launch(enum cell cell, enum xform t, uint32_t width,
                         uint32_t height)
{
    struct side src = { .img.cell = cell, .img.nplanes = width ? 1 : PLANES };
    struct side dst = src;
    uint64_t seed = 8 * cell + t + 1;
    for (unsigned i = 0; i < src.img.nplanes; i++) {
        struct plane *s = &src.img.plane[i], *d = &dst.img.plane[i];
        s->width = width ? width : random_side(cell, &seed);
        s->height = height ? height : random_side(cell, &seed);
        d->width = xform_transposes(t) ? s->height : s->width;
        d->height = xform_transposes(t) ? s->width : s->height;
    }
    bool right = allocate(&src) && allocate(&dst);
    for (size_t i = 0; right && i < src.size; i++)
        src.host[i] = (uint8_t)(test_random(&seed) >> 56);
    right = right && turn_there_and_back(&dst, &src, t);
    for (unsigned i = 0; right && i < src.img.nplanes; i++)
        CHECK(is_turned(t, &dst.img.plane[i], &src.img.plane[i], cell),
              "%s, %u x %u cells of %zu bytes", oracle[t].name,
              src.img.plane[i].width, src.img.plane[i].height, cell_size(cell));
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

/* Of the large planes rows become columns in wide tiles: 34 x 33 of them, which
 * is more than eight for each multiprocessor of an H200. */
TEST(launches)
{
    for (unsigned cell = CELL_U8; has_device() && cell <= CELL_DCT; cell++)
        for (EACH_TURN(t))
            check_launch((enum cell)cell, t, 0, 0);
    for (unsigned cell = CELL_U8; has_device() && cell <= CELL_F32; cell++) {
        const uint32_t side = 256 / (uint32_t)cell_size((enum cell)cell);
        for (EACH_TURN(t))
            if (xform_transposes(t))
                check_launch((enum cell)cell, t, 34 * side - 9, 33 * side - 5);
    }
}
