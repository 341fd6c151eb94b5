/* stb_image and stb_image_write behind our own types. */
#include "codecs/stb.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "codecs/planes.h"
#include "codecs/stb_library.h"

/* The libraries count the bytes of a picture in int, and of a file, which has
 * up to a byte of padding or of run lengths for each of them. */
enum { BYTES_MAX = INT_MAX / 4 * 3 };

static uint64_t row_bytes(const struct image *img)
{
    return (uint64_t)img->width * img->nplanes * cell_size(img->cell);
}

static int too_many(const struct image *img, struct err *err)
{
    return fail(err, "%u x %u pixels are too many for this format", img->width,
                img->height);
}

/* ---- Reading ------------------------------------------------------------ */

int stb_shape(struct image *img, uint64_t width, uint64_t height,
              unsigned nplanes, enum cell cell, const struct load_opts *opts,
              struct err *err)
{
    if (image_check(width, height, nplanes, cell, &opts->limits, err))
        return -1;
    img->width = (uint32_t)width;
    img->height = (uint32_t)height;
    img->nplanes = nplanes;
    img->cell = cell;
    img->maxval = cell == CELL_F32 ? 0 : 255;
    img->color = nplanes < 3 ? COLOR_GRAY : COLOR_RGB;
    img->alpha = nplanes == 2 || nplanes == 4;
    img->orientation = 1;
    return row_bytes(img) * height > BYTES_MAX ? too_many(img, err) : 0;
}

/* Pixels of stb_image, interleaved, into the planes of img. */
static int take_pixels(struct image *img, const void *pixels,
                       const struct load_opts *opts, struct err *err)
{
    size_t row = row_bytes(img);
    if (image_alloc(img, opts->mem, err))
        return -1;
    for (uint32_t y = 0; y < img->height; y++)
        planes_split_row(img, y, (const uint8_t *)pixels + y * row);
    return 0;
}

int stb_read(struct image *img, struct bytes file,
             const struct load_opts *opts, struct err *err)
{
    int size = file.size < INT_MAX ? (int)file.size : INT_MAX;
    int w = 0, h = 0, channels = 0, status;
    void *pixels = img->cell == CELL_F32
                       ? (void *)stbi_loadf_from_memory(file.data, size, &w, &h,
                                                        &channels, 0)
                       : (void *)stbi_load_from_memory(file.data, size, &w, &h,
                                                       &channels, 0);
    if (!pixels)
        return fail(err, "it cannot be decoded: %s", stbi_failure_reason());
    if ((uint32_t)w != img->width || (uint32_t)h != img->height ||
        (unsigned)channels != img->nplanes)
        status = fail(err, "its header is malformed");
    else
        status = take_pixels(img, pixels, opts, err);
    stbi_image_free(pixels);
    return status;
}

void stb_warn_cut(const struct load_opts *opts)
{
    warn(opts->warnings, "cut short, read as far as it goes");
}

/* ---- Writing ------------------------------------------------------------ */

struct sink {
    struct bytes *file;
    bool full; /* no memory: what follows is dropped */
};

static void on_write(void *context, void *data, int size)
{
    struct sink *sink = context;
    if (!sink->full && !bytes_append(sink->file, data, (size_t)size))
        sink->full = true;
}

/* The pixels of an HDR are three bytes of mantissa and one of a common exponent.
 * stb_image_write takes the largest for granted, and makes what is below the
 * smallest black. */
static const float rgbe_largest = 255 * 0x1p119f, rgbe_smallest = 1e-32f;

struct rgbe_lost {
    uint64_t clipped, rounded; /* samples */
};

static float clip(float v, struct rgbe_lost *lost)
{
    if (v >= 0 && v <= rgbe_largest)
        return v;
    lost->clipped++;
    return v > 0 ? rgbe_largest : 0; /* NaN is black */
}

static void fit_rgbe(float *pixel, struct rgbe_lost *lost)
{
    float most = 0;
    int exponent;
    for (int i = 0; i < 3; i++) {
        pixel[i] = clip(pixel[i], lost);
        most = fmaxf(most, pixel[i]);
    }
    frexpf(most, &exponent);
    for (int i = 0; i < 3 && most < rgbe_smallest; i++)
        lost->clipped += pixel[i] > 0;
    for (int i = 0; i < 3 && most >= rgbe_smallest; i++) {
        float mantissa = ldexpf(pixel[i], 8 - exponent);
        float whole = fminf(roundf(mantissa), 255);
        lost->rounded += mantissa != whole;
        pixel[i] = ldexpf(whole, exponent - 8);
    }
}

static void make_rgbe(float *pixels, const struct image *img,
                      struct warnings *warnings)
{
    struct rgbe_lost lost = { 0 };
    for (size_t i = 0; i < (size_t)img->width * img->height; i++)
        fit_rgbe(pixels + 3 * i, &lost);
    if (lost.clipped)
        warn(warnings, "%llu samples are below or above what HDR can hold and "
                       "are clipped",
             (unsigned long long)lost.clipped);
    if (lost.rounded)
        warn(warnings, "%llu samples have more than the 8 bits that HDR can "
                       "hold and are rounded",
             (unsigned long long)lost.rounded);
}

/* What stb_image_write takes memory for is a row of an HDR, 4 bytes a pixel. */
static _Thread_local struct {
    void *memory;
    size_t size;
} set_aside;

void *stb_lend(size_t size)
{
    return size <= set_aside.size ? set_aside.memory : malloc(size);
}

void stb_take_back(void *memory)
{
    if (memory != set_aside.memory)
        free(memory);
}

static bool set_aside_row(const struct image *img)
{
    set_aside.size = (size_t)4 * img->width;
    set_aside.memory = malloc(set_aside.size);
    return set_aside.memory;
}

static void drop_row(void)
{
    free(set_aside.memory);
    set_aside.memory = NULL;
    set_aside.size = 0;
}

int stb_write(struct bytes *file, const struct image *img,
              enum stb_format format, const struct save_opts *opts,
              struct err *err)
{
    struct sink sink = { .file = file };
    int w = (int)img->width, h = (int)img->height, n = (int)img->nplanes, done;
    size_t row = row_bytes(img);
    /* A row of BMP has up to 3 bytes of padding, which count where it is
     * narrow. */
    if ((row + 3) * img->height > BYTES_MAX)
        return too_many(img, err);
    void *pixels = malloc(row * img->height);
    if (!pixels || !set_aside_row(img)) {
        free(pixels);
        return fail(err, "no memory for the pixels");
    }
    for (uint32_t y = 0; y < img->height; y++)
        planes_join_row(img, y, (uint8_t *)pixels + y * row);
    if (format == STB_BMP) {
        done = stbi_write_bmp_to_func(on_write, &sink, w, h, n, pixels);
    } else if (format == STB_TGA) {
        done = stbi_write_tga_to_func(on_write, &sink, w, h, n, pixels);
    } else {
        make_rgbe(pixels, img, opts->warnings);
        done = stbi_write_hdr_to_func(on_write, &sink, w, h, n, pixels);
    }
    drop_row();
    free(pixels);
    if (!done || sink.full)
        return fail(err, "no memory for the file");
    return 0;
}
