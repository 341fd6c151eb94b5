/* Rows of passes on their way to the picture. */
#include "codecs/png/pass_rows.h"

#include <string.h>

#include "codecs/base/bytes.h"
#include "codecs/base/memory.h"
#include "codecs/png/scanline.h"

/* Bytes of rows that are written at a time, if a row is not longer. */
enum { BUFFER = 128 << 10 };

/* A pass in a temporary file, its rows as they came, one after the other. */
struct waiting_pass {
    size_t at;              /* where they begin */
    size_t row;             /* bytes of each */
    uint32_t come, written; /* rows */
    uint32_t room;          /* of the buffer, in rows */
    uint8_t *buffer;        /* the rows that have come and are not written */
    struct bytes_passed read;
};

struct waiting_rows {
    struct scratch_map file;
    struct waiting_pass pass[ADAM7_PASSES];
};

/* The last pass, or the only one, has whole rows. */
static bool is_whole(const struct adam7_pass *pass)
{
    return pass->dx == 1;
}

/* ---- Opening ------------------------------------------------------------- */

static int open_waiting(struct pass_rows *p, const struct image *img,
                        struct err *err)
{
    const struct scratch *scratch = p->rows->scratch;
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
    /* The last row of the picture may be the only one. */
    return scratch->make(scratch->context, size + !size, &wait->file, err);
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
    p->line = image_kind(img);
    p->line.width = img->width / 2 + 1;
    p->line.height = 1;
    return image_alloc(&p->line, mem_plain, err) ||
                   (image_has_bands(rows->img) && open_waiting(p, img, err))
               ? -1
               : 0;
}

/* The sink of the whole picture has all of it before row 0. */
void pass_rows_blacken(struct pass_rows *p)
{
    uint32_t row;
    const struct image *img = row_sink_at(p->rows, 0, &row);
    if (p->interlaced && !p->wait)
        memset(img->pixels.rows.cells, 0, img->pixels.rows.size);
}

/* ---- Waiting ------------------------------------------------------------- */

static int write_waiting(const struct waiting_rows *wait,
                         struct waiting_pass *w, struct err *err)
{
    const uint32_t from = w->written;
    w->written = w->come;
    return scratch_write(&wait->file, w->at + from * w->row, w->buffer,
                         (w->come - from) * w->row, err);
}

static int wait_row(struct pass_rows *p, unsigned pass, const uint8_t *row,
                    struct err *err)
{
    struct waiting_pass *w = &p->wait->pass[pass];
    memcpy(w->buffer + (w->come - w->written) * w->row, row, w->row);
    w->come++;
    return w->come - w->written == w->room || w->come == p->pass[pass].height
               ? write_waiting(p->wait, w, err)
               : 0;
}

/* Returns row i of a pass; or NULL if it has not come. */
static const uint8_t *take_waiting(const struct waiting_rows *wait,
                                   struct waiting_pass *w, uint32_t i)
{
    const uint8_t *row = wait->file.bytes.data + w->at + i * w->row;
    if (i >= w->come)
        return NULL;
    if (i == 0)
        w->read = bytes_passed_begin((struct bytes){
            (uint8_t *)(uintptr_t)row, w->come * w->row, SIZE_MAX });
    bytes_pass(&w->read, row);
    return row;
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
static void join_row(struct pass_rows *p, uint32_t y)
{
    blacken_row(p, y);
    for (unsigned i = 0; i < p->passes; i++) {
        const struct adam7_pass *pass = &p->pass[i];
        if (is_whole(pass) || y < pass->y || (y - pass->y) % pass->dy)
            continue;
        const uint8_t *row =
            take_waiting(p->wait, &p->wait->pass[i], (y - pass->y) / pass->dy);
        if (row)
            spread(p, i, y, row);
    }
}

/* Completes the rows before `end` that the last pass does not have. */
static int complete_rows(struct pass_rows *p, uint32_t end, struct err *err)
{
    for (; p->complete < end; p->complete++) {
        if (p->wait)
            join_row(p, p->complete);
        if (row_sink_done(p->rows, p->complete, err))
            return -1;
    }
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
    for (unsigned i = 0; p->wait && i < p->passes; i++)
        if (write_waiting(p->wait, &p->wait->pass[i], err)) /* if it was cut */
            return -1;
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
    if (p->wait && p->wait->file.bytes.data)
        scratch_close(&p->wait->file);
    memory_free(p->wait);
    image_free(&p->line);
}
