/* BMP, TGA and HDR files by stb_image_write. */
#include "codecs/simple/stb_write.h"

#include <limits.h>
#include <stdio.h>

#include "codecs/base/memory.h"
#include "codecs/base/page_cache.h"
#include "codecs/image/interleave.h"

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

/* Makes the one block of pixels that the library takes, as large as the whole
 * picture; page_cache_free() frees it. NULL: it failed. */
static void *interleave(const struct image *img, struct err *err)
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

/* A function of the library for pixels of bytes. */
typedef int write_function(stbi_write_func *append, void *output, int width,
                           int height, int components, const void *pixels);

static int write_bytes(struct bytes *file, const struct image *img,
                       write_function *write, struct err *err)
{
    struct stb_output output = { .file = file };
    void *pixels = interleave(img, err);
    if (!pixels)
        return -1;
    /* As much as a BMP takes, and a TGA seldom more. */
    output.failed = !bytes_reserve(
        file, ((size_t)img->width * img->nplanes + 3) * img->height + 1024);
    int written = write(append, &output, (int)img->width, (int)img->height,
                        (int)img->nplanes, pixels);
    return finish(&output, pixels, written, err);
}

int stb_write_bmp(struct bytes *file, const struct image *img, struct err *err)
{
    return write_bytes(file, img, stbi_write_bmp_to_func, err);
}

int stb_write_tga(struct bytes *file, const struct image *img, struct err *err)
{
    return write_bytes(file, img, stbi_write_tga_to_func, err);
}

/* The library cuts a mantissa off where it should be rounded, and what is not a
 * number has no defined value there: it is given pixels that are exact. Those
 * below 1e-32 become black. */
static void round_pixels(float *pixels, size_t count, struct rgbe_lost *lost)
{
    for (size_t i = 0; i < count; i++) {
        float *p = pixels + 3 * i;
        rgbe_round(p, lost);
        if (p[0] < 1e-32f && p[1] < 1e-32f && p[2] < 1e-32f)
            lost->clipped += (p[0] > 0) + (p[1] > 0) + (p[2] > 0);
    }
}

int stb_write_hdr(struct bytes *file, const struct image *img,
                  struct rgbe_lost *lost, struct err *err)
{
    struct stb_output output = { .file = file };
    float *pixels = interleave(img, err);
    if (!pixels)
        return -1;
    round_pixels(pixels, (size_t)img->width * img->height, lost);
    row_memory = memory_alloc((size_t)img->width * 4);
    int written =
        row_memory && stbi_write_hdr_to_func(append, &output, (int)img->width,
                                             (int)img->height, 3, pixels);
    memory_free(row_memory);
    row_memory = NULL;
    return finish(&output, pixels, written, err);
}
