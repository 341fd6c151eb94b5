/* Samples from blocks of coefficients, and back. */
#include "codecs/jpeg/samples.h"

#include <string.h>

#include "codecs/base/each_cpu.h"
#include "codecs/base/memory.h"
#include "codecs/base/page_cache.h"
#include "codecs/jpeg/parameters.h"

enum { SIDE = 8, CELLS = 64 };

struct dct_rounding samples_rounding(const uint16_t step[CELLS], bool dead_zone)
{
    struct dct_rounding rounding = { .least = { 0 } };
    for (unsigned k = 0; k < CELLS; k++) {
        rounding.step[k] = requantize_step(step[k], UINT16_MAX);
        if (dead_zone)
            rounding.least[k] = requantize_least(k, rounding.step[k]);
    }
    return rounding;
}

/* ---- Blocks -------------------------------------------------------------- */

static void decode_block(void *context, unsigned c, uint32_t x, uint32_t y,
                         int16_t block[CELLS])
{
    const struct samples *s = (const struct samples *)context + c;
    uint8_t last[CELLS], *to = plane_row(&s->plane, SIDE * (size_t)y);
    uint32_t rows = s->plane.height - SIDE * y;
    to += SIDE * (size_t)x;
    if (s->transposed)
        dct_transpose(block);
    if (rows >= SIDE) {
        dct_inverse(to, s->plane.stride, block, s->step);
        return;
    }
    dct_inverse(last, SIDE, block, s->step);
    for (uint32_t i = 0; i < rows; i++, to += s->plane.stride)
        memcpy(to, last + (size_t)SIDE * i, SIDE);
}

/* Returns the samples of a block. If it is not whole, it is made so in `last`.
 */
static const uint8_t *block_samples(const struct plane *plane, uint32_t x,
                                    uint32_t y, uint8_t last[CELLS],
                                    size_t *stride)
{
    const uint32_t width = plane->width - SIDE * x,
                   height = plane->height - SIDE * y;
    const uint8_t *from =
        (uint8_t *)plane_row(plane, SIDE * (size_t)y) + SIDE * (size_t)x;
    *stride = plane->stride;
    if (width >= SIDE && height >= SIDE)
        return from;
    for (uint32_t i = 0; i < CELLS; i++) {
        const uint32_t row = i / SIDE, column = i % SIDE;
        last[i] = from[*stride * (row < height ? row : height - 1) +
                       (column < width ? column : width - 1)];
    }
    *stride = SIDE;
    return last;
}

static void encode_block(void *context, unsigned c, uint32_t x, uint32_t y,
                         int16_t block[CELLS])
{
    const struct samples *s = (const struct samples *)context + c;
    uint8_t last[CELLS];
    size_t stride;
    const uint8_t *from = block_samples(&s->plane, x, y, last, &stride);
    dct_forward(block, from, stride, &s->rounding);
    if (s->transposed)
        dct_transpose(block);
}

/* What is done with the blocks of component c of a picture. */
struct plane_work {
    const struct block_visitor *visitor;
    const struct plane *plane;
    unsigned c;
};

static void compute_row(void *context, size_t y)
{
    const struct plane_work *work = context;
    int16_t *block = (int16_t *)plane_row(work->plane, y);
    for (uint32_t x = 0; x < work->plane->width; x++, block += CELLS)
        work->visitor->visit(work->visitor->context, work->c, x, (uint32_t)y,
                             block);
}

/* Computes with the blocks of planes. Returns false if they do not stand there:
 * then it is the visitor of `count` components that does so. */
static bool compute_planes(struct block_visitor *visitor,
                           const struct samples *samples,
                           const struct image *planes, unsigned count,
                           struct thread_pool *pool)
{
    visitor->context = (void *)(uintptr_t)samples;
    if (planes && planes->pixels.kind == PIXELS_ROWS) {
        for (unsigned i = 0; i < planes->nplanes; i++) {
            struct plane_work work = { visitor, &planes->plane[i], i };
            if (samples[i].wanted)
                thread_pool_run(pool, compute_row, &work, work.plane->height);
        }
        return true;
    }
    for (unsigned c = 0; c < count; c++)
        visitor->wants[c] = samples[c].wanted;
    return false;
}

void samples_decode(const struct samples *samples, const struct image *planes,
                    const struct sequential *coded, struct thread_pool *pool)
{
    struct block_visitor visitor = { .visit = decode_block };
    const unsigned count = coded ? coded->components : 0;
    if (!compute_planes(&visitor, samples, planes, count, pool))
        sequential_show(coded, &visitor, pool);
}

int samples_encode(const struct samples *samples, const struct image *planes,
                   struct sequential *coded, struct thread_pool *pool,
                   struct err *err)
{
    struct block_visitor visitor = { .visit = encode_block };
    const unsigned count = coded ? coded->components : 0;
    return compute_planes(&visitor, samples, planes, count, pool)
               ? 0
               : sequential_replace(coded, &visitor, pool, err);
}

/* ---- Steps --------------------------------------------------------------- */

/* Returns the error of blocks when they are rounded to capped steps. */
static uint64_t error_of(const int16_t *block, size_t count,
                         const uint16_t step[CELLS], unsigned cap)
{
    uint16_t capped[CELLS];
    uint64_t error = 0;
    for (int k = 0; k < CELLS; k++)
        capped[k] = requantize_step(step[k], cap);
    const struct dct_rounding rounding = samples_rounding(capped, true);
    for (size_t i = 0; i < count; i++)
        error += dct_rounding_error(block + CELLS * i, &rounding);
    return error;
}

unsigned samples_find_cap(const struct plane *plane, const uint16_t step[CELLS],
                          unsigned number)
{
    const uint32_t columns = entropy_divide_up(plane->width, SIDE),
                   rows = entropy_divide_up(plane->height, SIDE);
    int16_t *block = memory_alloc(sizeof *block * CELLS * REQUANTIZE_SAMPLES);
    size_t count = 0;
    uint32_t n = 1;
    unsigned low = REQUANTIZE_FINE, high = 1;
    if (!block)
        return 0;
    while ((uint64_t)entropy_divide_up(columns, n) *
               entropy_divide_up(rows, n) >
           REQUANTIZE_SAMPLES)
        n *= 2;
    for (uint32_t y = 0; y < rows; y += n)
        for (uint32_t x = 0; x < columns; x += n) {
            uint8_t last[CELLS];
            size_t stride;
            const uint8_t *from = block_samples(plane, x, y, last, &stride);
            dct_forward(block + CELLS * count++, from, stride, NULL);
        }
    const uint64_t limit = requantize_error_limit(number, count);
    for (int k = 0; k < CELLS; k++)
        high = step[k] > high ? step[k] : high;
    if (high <= low || error_of(block, count, step, high) <= limit * 7 / 5)
        low = high;
    while (high > low + 1) {
        const unsigned middle = (low + high) / 2;
        *(error_of(block, count, step, middle) <= limit ? &low : &high) =
            middle;
    }
    memory_free(block);
    return low;
}

/* ---- Blocks that a turn leaves whole ------------------------------------- */

int samples_realign(const struct image *img, enum xform turn,
                    struct thread_pool *pool, struct err *err)
{
    struct jpeg_parameters *p = parameters_of(img->meta);
    struct parameters_move move[COMPONENTS];
    struct samples samples[COMPONENTS] = { { .wanted = false } };
    uint8_t *memory[COMPONENTS] = { NULL }; /* rows and columns go on by a
                                               block */
    const uint64_t pixels = (uint64_t)img->width * img->height;
    unsigned moved = 0, divisor[4];
    int status = 0;
    for (unsigned i = 0; status == 0 && i < img->nplanes; i++) {
        struct samples *s = &samples[i];
        const struct plane *plane = &img->plane[i];
        move[i] = parameters_move(p, i, img->width, img->height, turn);
        s->wanted = move[i].right || move[i].down;
        if (!s->wanted)
            continue;
        s->transposed = xform_transposes(img->turned);
        moved |= 1u << i;
        memcpy(s->step, p->step[p->component[i].quantization], sizeof s->step);
        s->plane = (struct plane){ .stride = SIDE * ((size_t)plane->width + 1),
                                   .width = SIDE * plane->width,
                                   .height = SIDE * plane->height };
        memory[i] = page_cache_alloc(s->plane.stride *
                                     (SIDE * ((size_t)plane->height + 1)));
        if (!memory[i])
            status = fail_memory(err, "no memory for the samples of a "
                                      "component");
        else
            s->plane.data =
                memory[i] + s->plane.stride * move[i].down + move[i].right;
    }
    if (status == 0) {
        samples_decode(samples, img, p->coded, pool);
        parameters_refine(p->step, divisor, p->component, moved, pixels);
        if (p->coded)
            parameters_refine(p->coded->steps, divisor, p->coded->component,
                              moved, pixels);
        for (unsigned i = 0; i < img->nplanes; i++) {
            const uint8_t n = p->component[i].quantization;
            if (!samples[i].wanted)
                continue;
            samples[i].rounding = samples_rounding(p->step[n], false);
            /* What is moved in repeats the edge. Blocks begin there now. */
            struct plane *plane = &samples[i].plane;
            const size_t right = move[i].right, stride = plane->stride;
            uint8_t *first = plane->data - right, *row = first;
            for (size_t y = 0; right && y < plane->height; y++, row += stride)
                memset(row, row[right], right);
            for (uint32_t y = 0; y < move[i].down; y++)
                memcpy(memory[i] + stride * y, first, stride);
            plane->data = memory[i];
        }
        status = samples_encode(samples, img, p->coded, pool, err);
        p->realigned = true;
    }
    for (unsigned i = 0; i < img->nplanes; i++)
        page_cache_free(memory[i]);
    return status;
}

/* ---- Chroma in full resolution ------------------------------------------- */

/* A sample of chroma at half the resolution lies between two pixels. If their
 * number is odd, the last sample has only one of them; after a mirror it would
 * be the first, which has two, and all would be off by half a sample. */

/* Whether libjpeg smooths a component to show it. */
static bool is_smooth(j_decompress_ptr d, const jpeg_component_info *info)
{
    struct upsampling u;
    const struct sampling own = { (unsigned)info->h_samp_factor,
                                  (unsigned)info->v_samp_factor };
    const struct sampling most = { (unsigned)d->max_h_samp_factor,
                                   (unsigned)d->max_v_samp_factor };
    return upsample_set(&u, d->image_width, d->image_height, own, most) &&
           upsample_is_smooth(&u);
}

void samples_choose_full(j_decompress_ptr d, uint32_t width, uint32_t height,
                         enum xform t, bool *across, bool *down)
{
    struct stream_info info;
    parameters_alignments(&info, d);
    const struct alignment *alignment = &info.alignment[REPRESENTATION_PLANES];
    info.width = width;
    info.height = height;
    bool moved = !stream_info_can_turn(&info, REPRESENTATION_COEFFICIENTS, t);
    *across = moved && width % alignment->x != 0;
    *down = moved && height % alignment->y != 0;
    for (int i = 0; i < d->num_components; i++) {
        /* libjpeg might smooth it in one of these cases and not in the other:
         * as it is, and turned or in full resolution along one axis. */
        const jpeg_component_info *c = &d->comp_info[i];
        if ((*across || *down) &&
            (c->h_samp_factor != d->max_h_samp_factor ||
             c->v_samp_factor != d->max_v_samp_factor) &&
            (!is_smooth(d, c) || c->downsampled_height <= UPSAMPLE_NARROW))
            *across = *down = true;
    }
}

void samples_fill(j_decompress_ptr d, const struct image *img)
{
    for (unsigned i = 0; i < img->nplanes; i++) {
        const struct plane *plane = &img->plane[i];
        const jpeg_component_info *info = &d->comp_info[i];
        bool smooth = is_smooth(d, info);
        const struct chroma_axis across = { info->downsampled_width,
                                            (uint32_t)info->h_samp_factor,
                                            (uint32_t)d->max_h_samp_factor,
                                            smooth };
        const struct chroma_axis down = { info->downsampled_height,
                                          (uint32_t)info->v_samp_factor,
                                          (uint32_t)d->max_v_samp_factor,
                                          smooth };
        for (uint32_t y = 0; y < down.count && across.count < plane->width;
             y++) {
            uint8_t *row = plane_row(plane, y);
            for (uint32_t x = plane->width; x-- > 0;)
                row[x] = upsample_across(row[chroma_at(&across, x)],
                                         row[chroma_next(&across, x)], x);
        }
        for (uint32_t y = plane->height;
             y-- > 0 && down.count < plane->height;) {
            const uint8_t *at = plane_row(plane, chroma_at(&down, y));
            const uint8_t *next = plane_row(plane, chroma_next(&down, y));
            uint8_t *row = plane_row(plane, y);
            for (uint32_t x = 0; x < plane->width; x++)
                row[x] = upsample_across(at[x], next[x], y);
        }
    }
}

/* ---- Pixels of other formats --------------------------------------------- */

/* Eight pixels. */
typedef uint8_t pixels __attribute__((vector_size(SIDE)));
typedef int32_t sums __attribute__((vector_size(4 * SIDE)));

/* T.871, 7: the weights of R, G and B, times 2^16, and what is added to round.
 * They are libjpeg's. */
enum { ONE = 1 << 16 };
static const struct weights {
    int32_t rgb[3], bias;
} weights[] = {
    { { 19595, 38470, 7471 }, ONE / 2 },
    { { -11059, -21709, 32768 }, 128 * ONE + ONE / 2 - 1 },
    { { 32768, -27439, -5329 }, 128 * ONE + ONE / 2 - 1 },
};

struct image_pair {
    const struct image *from, *to;
};

/* Rows have room for whole vectors. */
FOR_EACH_CPU static void convert_row(void *context, size_t y)
{
    const struct image_pair *all = context;
    for (unsigned c = 0; c < 3; c++) {
        uint8_t *to = plane_row(&all->to->plane[c], y);
        for (uint32_t x = 0; x < all->from->width; x += SIDE) {
            sums sum = { 0 };
            sum += weights[c].bias;
            for (unsigned k = 0; k < 3; k++) {
                pixels eight;
                memcpy(&eight,
                       (uint8_t *)plane_row(&all->from->plane[k], y) + x, SIDE);
                sum += __builtin_convertvector(eight, sums) * weights[c].rgb[k];
            }
            const pixels made = __builtin_convertvector(sum >> 16, pixels);
            memcpy(to + x, &made, SIDE);
        }
    }
}

static void copy_row(void *context, size_t y)
{
    const struct image_pair *all = context;
    for (unsigned c = 0; c < all->from->nplanes; c++)
        memcpy(plane_row(&all->to->plane[c], y),
               plane_row(&all->from->plane[c], y), all->from->plane[c].width);
}

/* Replaces four samples each by their mean, in place. Halves are rounded down
 * and up in turn. Beyond its end the plane is repeated. */
static void halve(struct plane *plane)
{
    const uint32_t width = plane->width, height = plane->height;
    plane->width = width / 2 + width % 2;
    plane->height = height / 2 + height % 2;
    for (uint32_t y = 0; y < plane->height; y++) {
        const uint8_t *first = plane_row(plane, 2 * (size_t)y);
        const uint8_t *second =
            2 * y + 1 < height ? first + plane->stride : first;
        uint8_t *to = plane_row(plane, y);
        for (uint32_t x = 0; x < plane->width; x++) {
            const uint32_t left = 2 * x,
                           right = left + 1 < width ? left + 1 : left;
            to[x] = (uint8_t)((first[left] + first[right] + second[left] +
                               second[right] + 1 + x % 2) /
                              4);
        }
    }
}

int samples_of_pixels(struct image *made, const struct image *img,
                      const struct jpeg_compress_struct *c,
                      struct thread_pool *pool, struct err *err)
{
    struct image_pair all = { img, made };
    const bool converts =
        img->color == COLOR_RGB && c->jpeg_color_space == JCS_YCbCr;
    *made = (struct image){ .cell = CELL_U8,
                            .width = img->width,
                            .height = img->height,
                            .nplanes = img->nplanes };
    if (image_alloc(made, mem_plain, err))
        return -1;
    thread_pool_run(pool, converts ? convert_row : copy_row, &all, img->height);
    for (unsigned i = 1; i < made->nplanes; i++)
        if (c->comp_info[i].h_samp_factor < c->comp_info[0].h_samp_factor)
            halve(&made->plane[i]);
    return 0;
}
