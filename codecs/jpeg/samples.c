/* Samples from blocks of coefficients, and back. */
#include "codecs/jpeg/samples.h"

#include <stdbool.h>
#include <string.h>

#include "codecs/base/memory.h"
#include "codecs/base/page_cache.h"
#include "codecs/jpeg/arithmetic.h"
#include "codecs/jpeg/entropy/coder.h"
#include "codecs/jpeg/entropy/huffman_table.h"
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

/* ---- One block ------------------------------------------------------------*/

static void decode_block(const struct samples *s, uint32_t x, uint32_t y,
                         int16_t block[CELLS])
{
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

static void encode_block(const struct samples *s, uint32_t x, uint32_t y,
                         int16_t block[CELLS])
{
    uint8_t last[CELLS];
    size_t stride;
    const uint8_t *from = block_samples(&s->plane, x, y, last, &stride);
    dct_forward(block, from, stride, &s->rounding);
    if (s->transposed)
        dct_transpose(block);
}

/* ---- All blocks -----------------------------------------------------------*/

typedef void compute_block(const struct samples *s, uint32_t x, uint32_t y,
                           int16_t block[CELLS]);

/* What is done with the blocks of a plane. */
struct plane_work {
    const struct plane *plane;
    const struct samples *samples;
    compute_block *compute;
};

static void compute_row(void *context, size_t y)
{
    const struct plane_work *work = context;
    int16_t *block = (int16_t *)plane_row(work->plane, y);
    for (uint32_t x = 0; x < work->plane->width; x++, block += CELLS)
        work->compute(work->samples, x, (uint32_t)y, block);
}

/* What is done with the blocks of a scan: its components are samples[i]. */
struct scan_work {
    const struct samples *samples[ENTROPY_COMPONENTS];
    compute_block *compute;
};

static void visit(void *context, unsigned c, uint32_t x, uint32_t y,
                  int16_t block[CELLS])
{
    const struct scan_work *work = context;
    work->compute(work->samples[c], x, y, block);
}

static int compute_scan(struct sequential_scan *scan,
                        const struct samples *samples, bool encodes,
                        struct thread_pool *pool, struct err *err)
{
    struct scan_work work = { .compute =
                                  encodes ? encode_block : decode_block };
    struct block_visitor visitor = { .visit = visit, .context = &work };
    bool any = false;
    for (unsigned i = 0; i < scan->coding.components; i++) {
        work.samples[i] = &samples[scan->component[i]];
        visitor.wants[i] = work.samples[i]->wanted;
        any = any || visitor.wants[i];
    }
    if (any && encodes)
        return block_visitor_replace(&scan->blocks, &scan->coding, &visitor,
                                     pool, err);
    if (any)
        block_visitor_show(&scan->blocks, &scan->coding, &visitor, pool);
    return 0;
}

static int compute(const struct samples *samples,
                   const struct block_holder *blocks, bool encodes,
                   struct thread_pool *pool, struct err *err)
{
    const struct image *planes = blocks->planes;
    int status = 0;
    const bool in_planes = planes && planes->cells;
    for (unsigned i = 0; in_planes && i < planes->nplanes; i++) {
        struct plane_work work = { &planes->plane[i], &samples[i],
                                   encodes ? encode_block : decode_block };
        if (samples[i].wanted)
            thread_pool_run(pool, compute_row, &work, work.plane->height);
    }
    for (unsigned i = 0; !in_planes && status == 0 && i < blocks->coded->scans;
         i++)
        status =
            compute_scan(&blocks->coded->scan[i], samples, encodes, pool, err);
    return status;
}

void samples_decode(const struct samples *samples,
                    const struct block_holder *from, struct thread_pool *pool)
{
    compute(samples, from, false, pool, NULL);
}

int samples_encode(const struct samples *samples, const struct block_holder *to,
                   struct thread_pool *pool, struct err *err)
{
    return compute(samples, to, true, pool, err);
}

/* ---- Steps ----------------------------------------------------------------*/

/* Some blocks of a component, which stand for all. */
struct sampled {
    int16_t *block;
    size_t count;
    const uint16_t *step;
    uint64_t limit; /* of their error */
};

static uint64_t error_of(const struct sampled *s, unsigned cap)
{
    uint16_t step[CELLS];
    uint64_t error = 0;
    for (int k = 0; k < CELLS; k++)
        step[k] = requantize_step(s->step[k], cap);
    const struct dct_rounding rounding = samples_rounding(step, true);
    for (size_t i = 0; i < s->count; i++)
        error += dct_rounding_error(s->block + CELLS * i, &rounding);
    return error;
}

static unsigned search(const struct sampled *s)
{
    unsigned low = REQUANTIZE_FINE, high = 1;
    for (int k = 0; k < CELLS; k++)
        high = s->step[k] > high ? s->step[k] : high;
    if (high <= low || error_of(s, high) <= s->limit * 7 / 5)
        return high;
    while (high - low > 1) {
        const unsigned middle = (low + high) / 2;
        *(error_of(s, middle) <= s->limit ? &low : &high) = middle;
    }
    return low;
}

unsigned samples_find_cap(const struct plane *plane, const uint16_t step[CELLS],
                          unsigned number)
{
    const uint32_t columns = entropy_divide_up(plane->width, SIDE),
                   rows = entropy_divide_up(plane->height, SIDE);
    struct sampled s = { .step = step };
    uint32_t n = 1;
    while ((uint64_t)entropy_divide_up(columns, n) *
               entropy_divide_up(rows, n) >
           REQUANTIZE_SAMPLES)
        n *= 2;
    s.block = memory_alloc(sizeof *s.block * CELLS * REQUANTIZE_SAMPLES);
    if (!s.block)
        return 0;
    for (uint32_t y = 0; y < rows; y += n)
        for (uint32_t x = 0; x < columns; x += n) {
            uint8_t last[CELLS];
            size_t stride;
            const uint8_t *from = block_samples(plane, x, y, last, &stride);
            dct_forward_units(s.block + CELLS * s.count++, from, stride);
        }
    s.limit = requantize_error_limit(number, s.count);
    const unsigned cap = search(&s);
    memory_free(s.block);
    return cap;
}

/* ---- Blocks that a turn leaves whole ------------------------------------- */

/* How a component is moved. */
struct move {
    uint32_t right, down; /* by how many samples, below 8 */
    uint8_t *memory;      /* of them; rows and columns go on by a block */
};

/* Returns how many samples of the last block lie beyond the picture, which has
 * `pixels` and `factor` of `most` samples for each. */
static uint32_t padding(uint32_t pixels, unsigned factor, unsigned most)
{
    return -entropy_divide_up((uint64_t)pixels * factor, most) % SIDE;
}

static void find_moves(struct move move[COMPONENTS], const struct image *img,
                       enum xform turn)
{
    const struct jpeg_parameters *p = parameters_of(img->meta);
    unsigned across, down;
    parameters_most(p, &across, &down);
    for (unsigned i = 0; i < img->nplanes; i++) {
        if (xform_reverses_x(turn))
            move[i].right = padding(img->width, p->across[i], across);
        if (xform_reverses_y(turn))
            move[i].down = padding(img->height, p->down[i], down);
    }
}

/* Sets the samples of a component where it is moved to. */
static int begin(struct samples *s, struct move *m, const struct image *img,
                 unsigned i, struct err *err)
{
    const struct jpeg_parameters *p = parameters_of(img->meta);
    const struct plane *blocks = &img->plane[i];
    s->wanted = m->right || m->down;
    if (!s->wanted)
        return 0;
    s->transposed = xform_transposes(img->turned);
    memcpy(s->step, p->step[p->table[i]], sizeof s->step);
    s->rounding = samples_rounding(s->step, false);
    s->plane = (struct plane){ .stride = SIDE * ((size_t)blocks->width + 1),
                               .width = SIDE * blocks->width,
                               .height = SIDE * blocks->height };
    m->memory = page_cache_alloc(s->plane.stride *
                                 (SIDE * ((size_t)blocks->height + 1)));
    if (!m->memory)
        return fail_memory(err, "no memory for the samples of a component");
    s->plane.data = m->memory + s->plane.stride * m->down + m->right;
    return 0;
}

/* What is moved in repeats the edge. Blocks begin there now. */
static void repeat_edges(struct samples *s, const struct move *m)
{
    uint8_t *first = s->plane.data - m->right, *row = first;
    for (size_t y = 0; m->right && y < s->plane.height; y++) {
        memset(row, row[m->right], m->right);
        row += s->plane.stride;
    }
    for (uint32_t y = 0; y < m->down; y++)
        memcpy(m->memory + s->plane.stride * y, first, s->plane.stride);
    s->plane.data = m->memory;
}

int realign_image(const struct image *img, enum xform turn,
                  struct thread_pool *pool, struct err *err)
{
    const struct block_holder blocks = { img, parameters_of(img->meta)->coded };
    struct move move[COMPONENTS] = { { 0 } };
    struct samples samples[COMPONENTS] = { { .wanted = false } };
    int status = 0;
    find_moves(move, img, turn);
    for (unsigned i = 0; status == 0 && i < img->nplanes; i++)
        status = begin(&samples[i], &move[i], img, i, err);
    if (status == 0) {
        samples_decode(samples, &blocks, pool);
        for (unsigned i = 0; i < img->nplanes; i++)
            if (samples[i].wanted)
                repeat_edges(&samples[i], &move[i]);
        status = samples_encode(samples, &blocks, pool, err);
        parameters_of(img->meta)->realigned = true;
    }
    for (unsigned i = 0; i < img->nplanes; i++)
        page_cache_free(move[i].memory);
    return status;
}

/* ---- Chroma in full resolution ------------------------------------------- */

/* Whether libjpeg smooths a component to show it. */
static bool is_smooth(j_decompress_ptr d, const jpeg_component_info *info)
{
    struct upsampling u;
    return upsample_set(&u, d->image_width, d->image_height,
                        (unsigned)info->h_samp_factor,
                        (unsigned)info->v_samp_factor,
                        (unsigned)d->max_h_samp_factor,
                        (unsigned)d->max_v_samp_factor) &&
           upsample_is_smooth(&u);
}

/* Whether libjpeg might smooth a component in one of these cases and not in the
 * other: as it is, and turned or in full resolution along one axis. */
static bool may_differ(j_decompress_ptr d, const jpeg_component_info *info)
{
    bool full = info->h_samp_factor == d->max_h_samp_factor &&
                info->v_samp_factor == d->max_v_samp_factor;
    return !full &&
           (!is_smooth(d, info) || info->downsampled_height <= UPSAMPLE_NARROW);
}

void chroma_choose(j_decompress_ptr d, uint32_t width, uint32_t height,
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
    for (int i = 0; i < d->num_components; i++)
        if ((*across || *down) && may_differ(d, &d->comp_info[i]))
            *across = *down = true;
}

static void fill_row(uint8_t *row, uint32_t width,
                     const struct chroma_axis *axis)
{
    for (uint32_t i = width; i-- > 0;)
        row[i] =
            chroma_mix(row[chroma_at(axis, i)], row[chroma_next(axis, i)], i);
}

static void fill_columns(const struct plane *plane,
                         const struct chroma_axis *axis)
{
    for (uint32_t y = plane->height; y-- > 0;) {
        const uint8_t *at = plane_row(plane, chroma_at(axis, y));
        const uint8_t *next = plane_row(plane, chroma_next(axis, y));
        uint8_t *row = plane_row(plane, y);
        for (uint32_t x = 0; x < plane->width; x++)
            row[x] = chroma_mix(at[x], next[x], y);
    }
}

void chroma_fill(j_decompress_ptr d, const struct image *img)
{
    for (unsigned i = 0; i < img->nplanes; i++) {
        const struct plane *plane = &img->plane[i];
        const jpeg_component_info *info = &d->comp_info[i];
        bool smooth = is_smooth(d, info);
        const struct chroma_axis x = { info->downsampled_width,
                                       (uint32_t)info->h_samp_factor,
                                       (uint32_t)d->max_h_samp_factor, smooth };
        const struct chroma_axis y = { info->downsampled_height,
                                       (uint32_t)info->v_samp_factor,
                                       (uint32_t)d->max_v_samp_factor, smooth };
        for (uint32_t row = 0; row < y.count && x.count < plane->width; row++)
            fill_row(plane_row(plane, row), plane->width, &x);
        if (y.count < plane->height)
            fill_columns(plane, &y);
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
ENTROPY_FOR_EACH_CPU static void convert_row(void *context, size_t y)
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

int components_make(struct image *made, const struct image *img,
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
