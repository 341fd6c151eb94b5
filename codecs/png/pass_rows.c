/* Rows of passes on their way to the picture. */
#include "codecs/png/pass_rows.h"

#include <string.h>

#include "codecs/base/memory.h"
#include "codecs/image/cell_store.h"
#include "codecs/png/scanline.h"

/* Bytes of rows that are written or read at a time, if a row is not longer. */
enum { BUFFER = 128 << 10 };

/* A pass in the scratch file, its rows as they came, one after the other. */
struct waiting_pass {
    uint64_t at;
    size_t row;          /* bytes */
    uint32_t come;       /* rows */
    uint32_t room;       /* of the buffer, in rows */
    uint32_t begin, end; /* rows that are in it */
    uint8_t *buffer;     /* the next rows to write, or to read */
};

struct waiting_rows {
    struct scratch_part part; /* of the scratch file */
    struct scratch scratch;
    struct waiting_pass pass[ADAM7_PASSES];
};

/* The last pass, or the only one, has whole rows. */
static bool is_whole(const struct adam7_pass *pass)
{
    return pass->dx == 1;
}

/* ---- Opening ------------------------------------------------------------- */

static int open_line(struct pass_rows *p, const struct image *img,
                     struct err *err)
{
    p->line = (struct image){ .cell = img->cell,
                              .color = img->color,
                              .alpha = img->alpha,
                              .width = img->width / 2 + 1,
                              .height = 1,
                              .maxval = img->maxval,
                              .nplanes = img->nplanes };
    return image_alloc(&p->line, mem_plain, err);
}

static int open_waiting(struct pass_rows *p, const struct image *img,
                        struct err *err)
{
    struct waiting_rows *wait = memory_alloc_zeroed(1, sizeof *wait);
    struct image one = *img;
    uint64_t size = 0;
    p->wait = wait;
    if (!wait)
        return fail_memory(err, "no memory for the passes");
    for (unsigned i = 0; i < p->passes; i++) {
        struct waiting_pass *w = &wait->pass[i];
        if (is_whole(&p->pass[i]))
            continue;
        one.width = p->pass[i].width;
        w->at = size;
        w->row = scanline_size(&one);
        w->room = w->row < BUFFER ? (uint32_t)(BUFFER / w->row) : 1;
        w->buffer = memory_alloc(w->room * w->row);
        if (!w->buffer)
            return fail_memory(err, "no memory for the passes");
        size += (uint64_t)w->row * p->pass[i].height;
    }
    wait->part = cell_store_behind(p->rows->img);
    wait->scratch = scratch_part_access(&wait->part);
    return wait->scratch.begin(wait->scratch.context, size, err);
}

int pass_rows_open(struct pass_rows *p, struct row_sink *rows, bool interlaced,
                   struct err *err)
{
    uint32_t row;
    const struct image *img = row_sink_at(rows, 0, &row);
    *p = (struct pass_rows){
        .rows = rows,
        .pass = { { 0, 0, 1, 1, img->width, rows->height } },
        .passes = 1,
        .interlaced = interlaced,
    };
    if (!interlaced)
        return 0;
    p->passes = adam7_passes(p->pass, img->width, rows->height);
    return open_line(p, img, err) ||
                   (rows->img->store && open_waiting(p, img, err))
               ? -1
               : 0;
}

/* The sink of the whole picture has all of it before row 0. */
void pass_rows_blacken(struct pass_rows *p)
{
    uint32_t row;
    const struct image *img = row_sink_at(p->rows, 0, &row);
    if (p->interlaced && !p->wait)
        memset(img->cells, 0, img->size);
}

/* ---- Waiting ------------------------------------------------------------- */

static int write_waiting(const struct waiting_rows *wait,
                         struct waiting_pass *w, struct err *err)
{
    const struct scratch *scratch = &wait->scratch;
    const uint64_t at = w->at + (uint64_t)w->row * w->begin;
    const size_t size = (w->end - w->begin) * w->row;
    w->begin = w->end;
    return size ? scratch->write(scratch->context, at, w->buffer, size, err)
                : 0;
}

static int wait_row(struct pass_rows *p, unsigned pass, const uint8_t *row,
                    struct err *err)
{
    struct waiting_pass *w = &p->wait->pass[pass];
    memcpy(w->buffer + (w->end - w->begin) * w->row, row, w->row);
    w->come = ++w->end;
    return w->end - w->begin == w->room || w->end == p->pass[pass].height
               ? write_waiting(p->wait, w, err)
               : 0;
}

/* Sets *row to row i of a pass; or to NULL if it has not come. */
static int take_waiting(struct waiting_rows *wait, struct waiting_pass *w,
                        uint32_t i, const uint8_t **row, struct err *err)
{
    const struct scratch *scratch = &wait->scratch;
    *row = NULL;
    if (i >= w->come)
        return 0;
    if (w->end == w->come && w->begin < w->end && i < w->begin &&
        write_waiting(wait, w, err)) /* the pass was cut short */
        return -1;
    if (i < w->begin || i >= w->end) {
        w->begin = i;
        w->end = w->come - i < w->room ? w->come : i + w->room;
        if (scratch->read(scratch->context, w->at + (uint64_t)w->row * i,
                          w->buffer, (w->end - i) * w->row, err))
            return -1;
    }
    *row = w->buffer + (i - w->begin) * w->row;
    return 0;
}

/* ---- Completing rows ----------------------------------------------------- */

static void spread(struct pass_rows *p, unsigned pass, uint32_t y,
                   const uint8_t *row)
{
    uint32_t at;
    const struct image *to = row_sink_at(p->rows, y, &at);
    p->line.width = p->pass[pass].width;
    scanline_split(&p->line, 0, row);
    adam7_spread(to, at, &p->pass[pass], &p->line);
}

static void blacken_row(struct pass_rows *p, uint32_t y)
{
    uint32_t at;
    const struct image *to = row_sink_at(p->rows, y, &at);
    for (unsigned i = 0; i < to->nplanes; i++)
        memset(plane_row(&to->plane[i], at), 0,
               to->width * cell_size(to->cell));
}

/* Puts together row y of what waits. */
static int join_row(struct pass_rows *p, uint32_t y, struct err *err)
{
    const uint8_t *row;
    blacken_row(p, y);
    for (unsigned i = 0; i < p->passes; i++) {
        const struct adam7_pass *pass = &p->pass[i];
        if (is_whole(pass) || y < pass->y || (y - pass->y) % pass->dy)
            continue;
        if (take_waiting(p->wait, &p->wait->pass[i], (y - pass->y) / pass->dy,
                         &row, err))
            return -1;
        if (row)
            spread(p, i, y, row);
    }
    return 0;
}

/* Completes the rows before `end` that the last pass does not have. */
static int complete_rows(struct pass_rows *p, uint32_t end, struct err *err)
{
    for (; p->complete < end; p->complete++)
        if ((p->wait && join_row(p, p->complete, err)) ||
            row_sink_done(p->rows, p->complete, err))
            return -1;
    return 0;
}

static int put_whole(struct pass_rows *p, uint32_t y, const uint8_t *row,
                     struct err *err)
{
    uint32_t at;
    if (complete_rows(p, y, err))
        return -1;
    const struct image *to = row_sink_at(p->rows, y, &at);
    scanline_split(to, at, row);
    p->complete = y + 1;
    return row_sink_done(p->rows, y, err);
}

int pass_rows_put(struct pass_rows *p, unsigned pass, uint32_t i,
                  const uint8_t *row, struct err *err)
{
    const uint32_t y = p->pass[pass].y + i * p->pass[pass].dy;
    if (is_whole(&p->pass[pass]))
        return put_whole(p, y, row, err);
    if (p->wait)
        return wait_row(p, pass, row, err);
    spread(p, pass, y, row);
    return 0;
}

int pass_rows_end(struct pass_rows *p, struct err *err)
{
    for (; !p->interlaced && p->complete < p->rows->height; p->complete++) {
        blacken_row(p, p->complete);
        if (row_sink_done(p->rows, p->complete, err))
            return -1;
    }
    return complete_rows(p, p->rows->height, err);
}

void pass_rows_close(struct pass_rows *p)
{
    for (unsigned i = 0; p->wait && i < p->passes; i++)
        memory_free(p->wait->pass[i].buffer);
    memory_free(p->wait);
    image_free(&p->line);
}
