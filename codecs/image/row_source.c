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
    image_free(rows);
    *rows = image_kind(img);
    rows->height = height;
    return image_alloc_packed(rows, err);
}

/* Makes the window as high as this. */
static int make_room(struct row_source *rows, uint32_t height, struct err *err)
{
    const struct bands *bands = rows->img->pixels.bands;
    if (rows->window.height == height)
        return 0;
    return make_rows(&rows->window, rows->img, height, err) ||
                   (bands->convert &&
                    make_rows(&rows->stored, &bands->kind, height, err))
               ? -1
               : 0;
}

/* ---- Converting ---------------------------------------------------------- */

/* Pixels that one thread converts at a time, at least. */
enum { STRIP = 32 << 10 };

static uint32_t strip_rows(const struct image *rows)
{
    return STRIP / rows->width + 1;
}

static struct image strip_of(const struct image *rows, uint32_t y)
{
    const uint32_t most = strip_rows(rows), left = rows->height - y;
    struct image strip = *rows;
    strip.height = left < most ? left : most;
    for (unsigned i = 0; i < strip.nplanes; i++)
        strip.plane[i].data = plane_row(&rows->plane[i], y);
    return strip;
}

static void convert_strip(void *context, size_t i)
{
    const struct row_source *rows = context;
    const uint32_t y = (uint32_t)i * strip_rows(&rows->window);
    const struct image to = strip_of(&rows->window, y),
                       from = strip_of(&rows->stored, y);
    const struct bands *bands = rows->img->pixels.bands;
    bands->convert(bands->converter, &to, &from);
}

/* ---- Holding ------------------------------------------------------------- */

static void read_rows(struct row_source *rows, uint32_t y)
{
    const struct bands *bands = rows->img->pixels.bands;
    bands_read(bands, y, bands->convert ? &rows->stored : &rows->window,
               rows->pool);
    if (bands->convert)
        thread_pool_run(rows->pool, convert_strip, rows,
                        (rows->window.height - 1) / strip_rows(&rows->window) +
                            1);
}

int row_source_hold(struct row_source *rows, uint32_t begin, uint32_t end,
                    struct err *err)
{
    if (begin >= rows->begin && end <= rows->end)
        return 0;
    rows->begin = rows->end = 0;
    if (make_room(rows, end - begin, err))
        return -1;
    read_rows(rows, begin);
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
