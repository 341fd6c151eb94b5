/* What several simple formats share. */
#include "codecs/simple/simple.h"

#include <limits.h>
#include <stdio.h>

#include "codecs/base/memory.h"
#include "codecs/base/page_cache.h"
#include "codecs/image/interleave.h"

void simple_warn_cut(const struct load_opts *opts)
{
    warn(opts->warnings, "cut short, read as far as it goes");
}

int simple_check_size(struct bytes file, size_t at, uint64_t need,
                      const struct load_opts *opts, struct err *err)
{
    size_t left = file.size > at ? file.size - at : 0;
    if (left >= need)
        return 0;
    if (!opts->tolerant)
        return fail(err, "the image data is cut short: %zu bytes of %llu", left,
                    (unsigned long long)need);
    if (limit_check_cut(left, need, &opts->limits, err))
        return -1;
    simple_warn_cut(opts);
    return 0;
}

int simple_check_runs(enum runs_end end, uint32_t row,
                      const struct load_opts *opts, struct err *err)
{
    if (end == RUNS_WHOLE)
        return 0;
    if (!opts->tolerant)
        return fail(err,
                    end == RUNS_CUT ? "cut short in row %u"
                                    : "row %u is malformed",
                    row);
    simple_warn_cut(opts);
    return 0;
}

int simple_bgr_shape(struct image *img, uint64_t width, uint64_t height,
                     unsigned nplanes, const struct load_opts *opts,
                     struct err *err)
{
    if (image_check(width, height, nplanes, CELL_U8, &opts->limits, err))
        return -1;
    img->width = (uint32_t)width;
    img->height = (uint32_t)height;
    img->nplanes = nplanes;
    img->cell = CELL_U8;
    img->maxval = 255;
    img->color = nplanes < 3 ? COLOR_GRAY : COLOR_RGB;
    img->alpha = nplanes == 2 || nplanes == 4;
    return 0;
}

struct image simple_bgr_view(const struct image *img)
{
    struct image view = *img;
    if (img->nplanes >= 3) {
        view.plane[0] = img->plane[2];
        view.plane[2] = img->plane[0];
    }
    return view;
}

int simple_bgr_rows(struct bytes *rows, struct bytes file, size_t at,
                    size_t size, struct err *err)
{
    size_t begin = at < file.size ? at : file.size;
    struct bytes left = { file.data + begin, file.size - begin, 0 };
    return bytes_pad(rows, left, size)
               ? 0
               : fail_memory(err, "no memory for rows that are cut short");
}

/* ---- stb_image_write ------------------------------------------------------*/

/* The library allocates memory once, for a row of an HDR, and does not look
 * whether it got any. So it gets memory that is there already. */
static _Thread_local void *row_memory;
#define STBIW_MALLOC(size)          row_memory
#define STBIW_REALLOC(memory, size) row_memory
#define STBIW_FREE(memory)          ((void)(memory))

#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb_image_write.h>

/* What the library writes to. */
struct stb_output {
    struct bytes *file;
    bool failed; /* there was no memory; what follows is dropped */
};

static void append(void *context, void *data, int size)
{
    struct stb_output *output = context;
    if (!output->failed)
        output->failed = !bytes_append(output->file, data, (size_t)size);
}

void *simple_stb_pixels(const struct image *img, struct err *err)
{
    size_t cells = (size_t)img->width * img->nplanes;
    size_t row = cells * cell_size(img->cell);
    /* The header and the padding of rows count as well. */
    if ((cells + 3) * img->height > INT_MAX - 1024) {
        fail(err,
             "%u x %u pixels are too many; this format is written with less "
             "than 2^31 samples",
             img->width, img->height);
        return NULL;
    }
    uint8_t *pixels = page_cache_alloc(row * img->height);
    if (!pixels)
        fail_memory(err, "no memory for the pixels in the order of the file");
    for (uint32_t y = 0; pixels && y < img->height; y++)
        interleave_join_row(img, y, pixels + y * row);
    return pixels;
}

static int finish(const struct stb_output *output, void *pixels, int written,
                  struct err *err)
{
    page_cache_free(pixels);
    return written && !output->failed
               ? 0
               : fail_memory(err, "no memory for the file");
}

int simple_stb_tga(struct bytes *file, const struct image *img, void *pixels,
                   struct err *err)
{
    struct stb_output output = { .file = file };
    /* As much as it takes without runs, and seldom more. */
    output.failed = !bytes_reserve(
        file, ((size_t)img->width * img->nplanes + 3) * img->height + 1024);
    int written =
        stbi_write_tga_to_func(append, &output, (int)img->width,
                               (int)img->height, (int)img->nplanes, pixels);
    return finish(&output, pixels, written, err);
}

int simple_stb_hdr(struct bytes *file, const struct image *img, float *pixels,
                   struct err *err)
{
    struct stb_output output = { .file = file };
    row_memory = memory_alloc((size_t)img->width * 4);
    int written =
        row_memory && stbi_write_hdr_to_func(append, &output, (int)img->width,
                                             (int)img->height, 3, pixels);
    memory_free(row_memory);
    row_memory = NULL;
    return finish(&output, pixels, written, err);
}
