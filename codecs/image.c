/* struct image: shape, checked allocation, free. */
#include "codecs/image.h"

#include <stdlib.h>
#include <string.h>

#include "codecs/meta.h"
#include "codecs/pages.h"

static void *plain_alloc(void *context, size_t size)
{
    (void)context;
    void *memory = aligned_alloc(IMAGE_STRIDE, size);
    if (memory)
        pages_advise(memory, size);
    return memory;
}

static void plain_free(void *context, void *memory)
{
    (void)context;
    free(memory);
}

const struct mem mem_plain = { plain_alloc, plain_free, NULL };

const char *color_name(enum color color)
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

/* Cannot wrap: a row is below 2^31 cells of 128 bytes. */
static uint64_t row_stride(uint64_t width, enum cell cell)
{
    uint64_t mask = IMAGE_STRIDE - 1;
    return (width * cell_size(cell) + mask) & ~mask;
}

/* The bytes of all planes; 0 if they are no number of bytes. */
static uint64_t all_planes(uint64_t width, uint64_t height, unsigned nplanes,
                           enum cell cell)
{
    uint64_t plane, all;
    if (__builtin_mul_overflow(row_stride(width, cell), height, &plane) ||
        __builtin_mul_overflow(plane, nplanes, &all) || all > SIZE_MAX / 2)
        return 0;
    return all;
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
    if (width > IMAGE_DIMENSION || height > IMAGE_DIMENSION ||
        width * height > limits->pixels)
        return fail(err,
                    "%llu x %llu pixels are more than --max-pixels allows",
                    (unsigned long long)width, (unsigned long long)height);
    uint64_t once = all_planes(width, height, nplanes, cell);
    uint64_t turned = all_planes(height, width, nplanes, cell);
    if (once == 0 || turned == 0 || once > limits->bytes ||
        turned > limits->bytes - once)
        return fail(err,
                    "%llu x %llu pixels in %u channels need more memory than "
                    "--max-memory allows",
                    (unsigned long long)width, (unsigned long long)height,
                    nplanes);
    return 0;
}

int image_alloc(struct image *img, struct mem mem, struct err *err)
{
    uint64_t size =
        all_planes(img->width, img->height, img->nplanes, img->cell);
    uint8_t *cells = size ? mem.alloc(mem.context, size) : NULL;
    if (!cells)
        return fail(err, "no memory for %u x %u pixels in %u channels",
                    img->width, img->height, img->nplanes);
    size_t stride = row_stride(img->width, img->cell);
    for (unsigned i = 0; i < img->nplanes; i++)
        img->plane[i] = (struct plane){
            .data = cells + i * stride * img->height,
            .stride = stride,
            .width = img->width,
            .height = img->height,
        };
    img->cells = cells;
    img->size = size;
    img->mem = mem;
    return 0;
}

int image_like(struct image *dst, const struct image *src, enum xform t,
               struct mem mem, struct err *err)
{
    *dst = (struct image){
        .cell = src->cell,
        .color = src->color,
        .alpha = src->alpha,
        .width = xform_transposes(t) ? src->height : src->width,
        .height = xform_transposes(t) ? src->width : src->height,
        .maxval = src->maxval,
        .nplanes = src->nplanes,
        .orientation = src->orientation,
        .turned = xform_then(src->turned, t),
    };
    return image_alloc(dst, mem, err);
}

void image_take_meta(struct image *dst, struct image *src)
{
    dst->meta = src->meta;
    src->meta = NULL;
}

void image_free(struct image *img)
{
    if (img->cells)
        img->mem.free(img->mem.context, img->cells);
    meta_free(img->meta);
    *img = (struct image){ 0 };
}
