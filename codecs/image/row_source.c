/* Where the rows of a picture come from while it is written. */
#include "codecs/image/row_source.h"

#include "codecs/image/cell_store.h"

struct row_source row_source_open(const struct image *img,
                                  struct thread_pool *pool)
{
    return (struct row_source){ .img = img,
                                .pool = pool,
                                .end = img->store ? 0 : img->height };
}

uint32_t row_source_most(const struct row_source *rows)
{
    return rows->img->store ? cell_store_window(rows->img) : rows->img->height;
}

/* Makes the window as high as this. */
static int make_room(struct row_source *rows, uint32_t height, struct err *err)
{
    const struct image *img = rows->img;
    if (rows->window.height == height)
        return 0;
    image_free(&rows->window);
    rows->window = (struct image){ .cell = img->cell,
                                   .color = img->color,
                                   .alpha = img->alpha,
                                   .width = img->width,
                                   .height = height,
                                   .maxval = img->maxval,
                                   .nplanes = img->nplanes };
    return image_alloc(&rows->window, mem_plain, err);
}

int row_source_hold(struct row_source *rows, uint32_t begin, uint32_t end,
                    struct err *err)
{
    if (begin >= rows->begin && end <= rows->end)
        return 0;
    rows->begin = rows->end = 0;
    if (make_room(rows, end - begin, err) ||
        cell_store_read(rows->img, begin, &rows->window, rows->pool, err))
        return -1;
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
}
