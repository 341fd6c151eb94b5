/* stb_image and stb_image_write behind our own types. */
#include "codecs/stb.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/planes.h"
#include "codecs/stb_library.h"

/* ---- Reading ------------------------------------------------------------ */

/* The file as stb_image reads it. It has a buffer of BUFFER bytes, which it may
 * ask to be filled past the end of the file; to find nothing there at all, or
 * less than it asks for in another measure, means that it wants more than there
 * is, and goes on with zeros. */
enum { BUFFER = 128 };

struct source {
    struct bytes file;
    size_t at;
    bool short_of; /* it asked for what is not there */
};

static int on_read(void *user, char *data, int size)
{
    struct source *s = user;
    size_t want = size > 0 ? (size_t)size : 0, left = s->file.size - s->at;
    size_t n = left < want ? left : want;
    if (n < want && (n == 0 || want != BUFFER))
        s->short_of = true;
    memcpy(data, s->file.data + s->at, n);
    s->at += n;
    return (int)n;
}

static void on_skip(void *user, int size)
{
    struct source *s = user;
    size_t left = s->file.size - s->at;
    if (size < 0) { /* back within what was read */
        size_t back = (size_t) - (long)size;
        s->at -= back < s->at ? back : s->at;
        return;
    }
    if ((size_t)size > left)
        s->short_of = true;
    s->at += (size_t)size < left ? (size_t)size : left;
}

static int on_end(void *user)
{
    struct source *s = user;
    return s->at == s->file.size;
}

static const stbi_io_callbacks callbacks = { on_read, on_skip, on_end };

/* Pixels of stb_image, interleaved, into the planes of img. */
static int take_pixels(struct image *img, const void *pixels,
                       const struct load_opts *opts, struct err *err)
{
    size_t row = (size_t)img->width * img->nplanes * cell_size(img->cell);
    if (image_alloc(img, opts->mem, err))
        return -1;
    for (uint32_t y = 0; y < img->height; y++)
        planes_split_row(img, y, (const uint8_t *)pixels + y * row);
    return 0;
}

static int shape(struct image *img, struct bytes file, bool floats,
                 const struct load_opts *opts, struct err *err)
{
    struct source source = { .file = file };
    int w = 0, h = 0, channels = 0;
    if (!stbi_info_from_callbacks(&callbacks, &source, &w, &h, &channels))
        return fail(err, "%s", stbi_failure_reason());
    if (w <= 0 || h <= 0 || channels < 1 || channels > 4)
        return fail(err, "an empty picture");
    img->width = (uint32_t)w;
    img->height = (uint32_t)h;
    img->cell = floats ? CELL_F32 : CELL_U8;
    img->maxval = floats ? 0 : 255;
    return image_check(img->width, img->height, (unsigned)channels, img->cell,
                       &opts->limits, err);
}

int stb_read(struct image *img, struct bytes file, bool floats,
             const struct load_opts *opts, struct err *err)
{
    struct source source = { .file = file };
    int w, h, channels, status = -1;
    img->orientation = 1;
    if (shape(img, file, floats, opts, err))
        return -1;
    void *pixels =
        floats ? (void *)stbi_loadf_from_callbacks(&callbacks, &source, &w, &h,
                                                   &channels, 0)
               : (void *)stbi_load_from_callbacks(&callbacks, &source, &w, &h,
                                                  &channels, 0);
    if (!pixels)
        return fail(err, "%s", stbi_failure_reason());
    if ((uint32_t)w != img->width || (uint32_t)h != img->height) {
        fail(err, "its header is malformed");
        goto out;
    }
    if (source.short_of && !opts->tolerant) {
        fail(err, "the image data is cut short");
        goto out;
    }
    if (source.short_of)
        warn(opts->warnings, "cut short, read as far as it goes");
    img->nplanes = (unsigned)channels;
    img->color = channels < 3 ? COLOR_GRAY : COLOR_RGB;
    img->alpha = channels == 2 || channels == 4;
    status = take_pixels(img, pixels, opts, err);
out:
    stbi_image_free(pixels);
    return status;
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

int stb_write(struct bytes *file, const struct image *img,
              enum stb_format format, struct err *err)
{
    struct sink sink = { .file = file };
    int w = (int)img->width, h = (int)img->height, n = (int)img->nplanes, done;
    size_t row = (size_t)img->width * img->nplanes * cell_size(img->cell);
    /* The library counts bytes of a picture in int. */
    if (row * img->height > INT_MAX - 65536)
        return fail(err, "%u x %u pixels are too many for this format",
                    img->width, img->height);
    uint8_t *pixels = malloc(row * img->height);
    if (!pixels)
        return fail(err, "no memory for the pixels");
    for (uint32_t y = 0; y < img->height; y++)
        planes_join_row(img, y, pixels + y * row);
    if (format == STB_BMP)
        done = stbi_write_bmp_to_func(on_write, &sink, w, h, n, pixels);
    else if (format == STB_TGA)
        done = stbi_write_tga_to_func(on_write, &sink, w, h, n, pixels);
    else
        done = stbi_write_hdr_to_func(on_write, &sink, w, h, n,
                                      (const float *)(void *)pixels);
    free(pixels);
    if (!done || sink.full)
        return fail(err, "no memory for the file");
    return 0;
}
