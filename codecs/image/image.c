/* struct image: shape, checked allocation, free. */
#include "codecs/image/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/base/memory.h"
#include "codecs/base/page_cache.h"
#include "codecs/image/limit.h"
#include "codecs/image/meta.h"

/* Beyond what a file may take else: samples, whose limit has been looked at,
 * and for each of their bytes so many of what is made of them on the way to a
 * file.
 */
enum { PLANNED_OF_CELLS = 8 };

static void *plain_alloc(void *context, size_t size)
{
    (void)context;
    return page_cache_alloc(size);
}

static void plain_free(void *context, void *memory)
{
    (void)context;
    page_cache_free(memory);
}

const struct mem mem_plain = { plain_alloc, plain_free, NULL };

const char *image_color_name(enum color color)
{
    static const char *const names[] = {
        [COLOR_GRAY] = "gray", [COLOR_INDEXED] = "palette",
        [COLOR_RGB] = "RGB",   [COLOR_RGBE] = "RGBE",
        [COLOR_YCC] = "YCbCr", [COLOR_CMYK] = "CMYK",
        [COLOR_YCCK] = "YCCK", [COLOR_OTHER] = "channels",
    };
    return names[color];
}

unsigned image_bits(const struct image *img)
{
    unsigned bits = 0;
    if (img->cell == CELL_F32)
        return 32;
    while (img->maxval >> bits)
        bits++;
    return bits;
}

/* A picture of which padding is so many times as much as its samples, twice as
 * it has them before and after the turn, goes through a file from so many bytes
 * on. */
enum { PADDED_TIMES = 2 * 8, PADDED_FROM = 64 << 20 };

typedef uint64_t stride_of(uint64_t width, enum cell cell);

/* What a plane has room for beyond its size, each way. libjpeg reads and writes
 * whole groups of up to 4 x 4 blocks (T.81, A.2.3), of which one may be in the
 * picture. */
static unsigned room_of(enum cell cell)
{
    return cell == CELL_DCT ? 3 : 0;
}

/* Cannot wrap: a row is below 2^31 cells of 128 bytes. */
static uint64_t row_stride(uint64_t width, enum cell cell)
{
    uint64_t mask = IMAGE_STRIDE - 1;
    return ((width + room_of(cell)) * cell_size(cell) + mask) & ~mask;
}

static uint64_t packed_stride(uint64_t width, enum cell cell)
{
    return width * cell_size(cell);
}

/* A plane whose size is not set is as large as the picture. */
static void plane_shape(const struct image *img, unsigned i, uint64_t *width,
                        uint64_t *height)
{
    const struct plane *plane = &img->plane[i];
    *width = plane->width ? plane->width : img->width;
    *height = plane->height ? plane->height : img->height;
}

/* Returns the bytes of all planes with rows of this stride, as they are or with
 * their axes exchanged; 0 if they are more than memory can hold. */
static uint64_t planes_of(const struct image *img, stride_of *stride,
                          bool exchanged)
{
    uint64_t width, height, plane, all = 0;
    for (unsigned i = 0; i < img->nplanes; i++) {
        plane_shape(img, i, exchanged ? &height : &width,
                    exchanged ? &width : &height);
        if (__builtin_mul_overflow(stride(width, img->cell),
                                   height + room_of(img->cell), &plane) ||
            __builtin_add_overflow(all, plane, &all))
            return 0;
    }
    return all > SIZE_MAX / 2 ? 0 : all;
}

static uint64_t all_planes(const struct image *img, bool exchanged)
{
    return planes_of(img, row_stride, exchanged);
}

int image_check(uint64_t width, uint64_t height, unsigned nplanes,
                enum cell cell, const struct limits *limits, struct err *err)
{
    if (width == 0 || height == 0)
        return fail(err, "an empty picture: %llu x %llu pixels",
                    (unsigned long long)width, (unsigned long long)height);
    if (nplanes == 0 || nplanes > IMAGE_PLANES)
        return fail(err, "%u channels; from 1 to %d can be read", nplanes,
                    IMAGE_PLANES);
    if (width > IMAGE_DIMENSION || height > IMAGE_DIMENSION)
        return limit_refuse_pixels(width, height, limits, err);
    struct image img = { .cell = cell,
                         .width = (uint32_t)width,
                         .height = (uint32_t)height,
                         .nplanes = nplanes };
    return image_check_planes(&img, limits, err);
}

/* Returns whether a picture and what it is turned into are beyond `most` bytes.
 * One that is counted as 0 cannot be counted. */
static bool is_beyond(uint64_t once, uint64_t turned, uint64_t most)
{
    return once == 0 || turned == 0 || once > most || turned > most - once;
}

uint64_t image_row_bytes(const struct image *img, uint32_t width)
{
    return row_stride(width, img->cell) * img->nplanes;
}

/* Bands need room for the samples in a temporary file, and for two rows in
 * memory, before and after the turn. */
enum pixels_kind image_choose_pixels(const struct image *img,
                                     const struct limits *limits)
{
    const uint64_t once = all_planes(img, false),
                   turned = all_planes(img, true), need = once + turned,
                   samples = planes_of(img, packed_stride, false);
    const uint32_t side = img->width > img->height ? img->width : img->height;
    const bool padding = need >= PADDED_FROM && need / PADDED_TIMES > samples;
    return limits->scratch && samples && samples <= limits->stored &&
                   image_row_bytes(img, side) <= limits->scratch->memory / 2 &&
                   (padding ||
                    is_beyond(once, turned, limit_bytes(limits, once)))
               ? PIXELS_BANDS
               : PIXELS_ROWS;
}

int image_check_planes(const struct image *img, const struct limits *limits,
                       struct err *err)
{
    if ((uint64_t)img->width * img->height > limits->pixels)
        return limit_refuse_pixels(img->width, img->height, limits, err);
    uint64_t once = all_planes(img, false), turned = all_planes(img, true);
    uint64_t need = once + turned;
    if (image_choose_pixels(img, limits) == PIXELS_BANDS) {
        need = limits->scratch->memory;
    } else if (is_beyond(once, turned, limit_bytes(limits, once))) {
        char what[96];
        struct limits told = *limits;
        snprintf(what, sizeof what, "%u x %u pixels in %u channels need",
                 img->width, img->height, img->nplanes);
        told.bytes = limit_bytes(limits, once);
        return limit_refuse_memory(what, once && turned ? need : UINT64_MAX,
                                   &told, err);
    }
    if (limits->reserve)
        limits->reserve(limits->context, need);
    return 0;
}

static int alloc_planes(struct image *img, stride_of *stride, struct mem mem,
                        struct err *err)
{
    uint64_t size = planes_of(img, stride, false), width, height;
    memory_plan(PLANNED_OF_CELLS * size);
    uint8_t *cells = size ? mem.alloc(mem.context, size) : NULL;
    if (!cells) {
        memory_unplan(PLANNED_OF_CELLS * size);
        return fail_memory(err, "no memory for %u x %u pixels in %u channels",
                           img->width, img->height, img->nplanes);
    }
    img->pixels =
        (struct pixels){ .kind = PIXELS_ROWS, .rows = { cells, size, mem } };
    for (unsigned i = 0; i < img->nplanes; i++) {
        plane_shape(img, i, &width, &height);
        img->plane[i] = (struct plane){
            .data = cells,
            .stride = stride(width, img->cell),
            .width = (uint32_t)width,
            .height = (uint32_t)height,
        };
        cells += img->plane[i].stride * (height + room_of(img->cell));
    }
    return 0;
}

int image_alloc(struct image *img, struct mem mem, struct err *err)
{
    return alloc_planes(img, row_stride, mem, err);
}

int image_alloc_packed(struct image *img, struct err *err)
{
    return alloc_planes(img, packed_stride, mem_plain, err);
}

struct image image_kind(const struct image *img)
{
    struct image kind = *img;
    memset(kind.plane, 0, sizeof kind.plane);
    kind.pixels = (struct pixels){ .kind = PIXELS_NONE };
    kind.meta = NULL;
    return kind;
}

struct image image_part(const struct image *img, bool columns, uint32_t first,
                        uint32_t n)
{
    struct image part = *img;
    *(columns ? &part.width : &part.height) = n;
    for (unsigned i = 0; i < part.nplanes; i++) {
        struct plane *plane = &part.plane[i];
        plane->data += first * (columns ? cell_size(part.cell) : plane->stride);
        plane->width = part.width;
        plane->height = part.height;
    }
    return part;
}

int image_like(struct image *dst, const struct image *src, enum xform t,
               struct mem mem, struct err *err)
{
    bool exchanged = xform_transposes(t);
    *dst = image_kind(src);
    dst->width = exchanged ? src->height : src->width;
    dst->height = exchanged ? src->width : src->height;
    dst->turned = xform_then(src->turned, t);
    for (unsigned i = 0; i < src->nplanes; i++) {
        const struct plane *plane = &src->plane[i];
        dst->plane[i].width = exchanged ? plane->height : plane->width;
        dst->plane[i].height = exchanged ? plane->width : plane->height;
    }
    return image_alloc(dst, mem, err);
}

struct change image_change(const struct image *img)
{
    bool exchanged = xform_transposes(img->turned);
    struct change change = {
        .turn = img->turned,
        .kept_width = exchanged ? img->height : img->width,
        .kept_height = exchanged ? img->width : img->height,
    };
    bool trimmed = img->untrimmed_width != 0;
    change.width = trimmed ? img->untrimmed_width : change.kept_width;
    change.height = trimmed ? img->untrimmed_height : change.kept_height;
    return change;
}

void image_take_meta(struct image *dst, struct image *src)
{
    dst->meta = src->meta;
    src->meta = NULL;
}

void image_free_pixels(struct image *img)
{
    struct pixels *pixels = &img->pixels;
    if (pixels->kind == PIXELS_ROWS) {
        memory_unplan(PLANNED_OF_CELLS * pixels->rows.size);
        pixels->rows.mem.free(pixels->rows.mem.context, pixels->rows.cells);
    } else if (pixels->kind == PIXELS_BANDS) {
        scratch_close(&pixels->bands->file);
        memory_free(pixels->bands->converter);
        memory_free(pixels->bands);
    }
    *pixels = (struct pixels){ .kind = PIXELS_NONE };
}

void image_free(struct image *img)
{
    image_free_pixels(img);
    meta_free(img->meta);
    *img = (struct image){ 0 };
}
