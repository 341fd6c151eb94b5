/* What BMP and TGA share. */
#include "codecs/simple/bgr_rows.h"

int bgr_rows_shape(struct image *img, uint64_t width, uint64_t height,
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

struct image bgr_rows_view(const struct image *img)
{
    struct image view = *img;
    if (img->nplanes >= 3) {
        view.plane[0] = img->plane[2];
        view.plane[2] = img->plane[0];
    }
    return view;
}

int bgr_rows_check(struct bytes file, size_t at, size_t size, uint32_t count,
                   const struct load_opts *opts, struct err *err)
{
    return simple_check_size(file.size > at ? file.size - at : 0,
                             (uint64_t)size * count, opts, err);
}

int bgr_rows_find(struct bytes *rows, struct bytes file, size_t at, size_t size,
                  uint32_t count, struct err *err)
{
    size_t begin = at < file.size ? at : file.size;
    struct bytes left = { file.data + begin, file.size - begin, 0 };
    return bytes_pad(rows, left, size * count)
               ? 0
               : fail_memory(err, "no memory for rows that are cut short");
}
