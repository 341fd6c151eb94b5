/* What several simple formats share. */
#include "codecs/simple/simple.h"

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
