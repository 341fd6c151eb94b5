/* Where the rows of a picture come from while it is written. */
#include "codecs/image/row_source.h"

#include "codecs/image/bands.h"

struct row_source row_source_open(const struct image *img,
                                  struct thread_pool *pool)
{
    return (struct row_source){ .img = img,
                                .pool = pool,
                                .end = image_has_bands(img) ? 0 : img->height };
}

uint32_t row_source_most(const struct row_source *rows)
{
    return image_has_bands(rows->img) ? bands_window(rows->img)
                                      : rows->img->height;
}

/* Makes rows of the kind of `img` so many. */
static int make_rows(struct image *rows, const struct image *img,
                     uint32_t height, struct err *err)
{
    if (rows->height == height)
        return 0;
    image_free(rows);
    *rows = image_kind(img);
    rows->height = height;
    return image_alloc_packed(rows, err);
}

/* ---- Holding ------------------------------------------------------------- */

int row_source_hold(struct row_source *rows, uint32_t begin, uint32_t end,
                    struct err *err)
{
    if (begin >= rows->begin && end <= rows->end)
        return 0;
    const struct bands *bands = rows->img->pixels.bands;
    rows->begin = rows->end = 0;
    if (make_rows(&rows->window, rows->img, end - begin, err) ||
        (bands->convert &&
         make_rows(&rows->stored, &bands->kind, end - begin, err)))
        return -1;
    bands_read(bands, begin, bands->convert ? &rows->stored : &rows->window,
               rows->pool);
    if (bands->convert)
        bands->convert(bands->converter, &rows->window, &rows->stored);
    rows->begin = begin;
    rows->end = end;
    return 0;
}

int row_source_reach(struct row_source *rows, uint32_t y, struct err *err)
{
    if (y >= rows->begin && y < rows->end)
        return 0;
    uint32_t most = row_source_most(rows), left = rows->img->height - y;
    if (y + 1 == rows->begin || left == 1)
        return row_source_hold(rows, y + 1 > most ? y + 1 - most : 0, y + 1,
                               err);
    return row_source_hold(rows, y, y + (left < most ? left : most), err);
}

void row_source_close(struct row_source *rows)
{
    image_free(&rows->window);
    image_free(&rows->stored);
}
