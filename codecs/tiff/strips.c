/* From strips and tiles to planes of cells, and back: on several threads, some
 * rows of strips or tiles at a time. */
#include "codecs/tiff/tiff.h"

#include <stdatomic.h>
#include <string.h>

#include "codecs/base/account.h"
#include "codecs/base/lzw.h"
#include "codecs/base/memory.h"
#include "codecs/image/interleave.h"
#include "codecs/image/rows.h"

/* Bytes that are worked on at a time, for each thread. */
enum { ROUND = 8 << 20 };

static uint32_t least(uint64_t a, uint64_t b)
{
    return (uint32_t)(a < b ? a : b);
}

static uint32_t divide_up(uint32_t a, uint32_t b)
{
    return a / b + (a % b != 0);
}

/* ---- Shapes -------------------------------------------------------------- */

/* Pixels of whole bytes are the largest cells that make them up; others one
 * cell, or a cell a sample. */
int strips_measure(struct tiff_strips *s, struct err *err)
{
    const struct coding *c = &s->coding;
    struct cut *cut = &s->cut;
    unsigned bits = (c->separate ? 1 : c->samples) * c->bits, count = 1;
    if (cut->width == 0 || cut->height == 0 || c->bits == 0 ||
        c->samples == 0 || cut->chunk_height == 0 ||
        (cut->tiled && cut->chunk_width == 0))
        return fail(err, "an empty picture: %u x %u pixels", cut->width,
                    cut->height);
    /* What LogLuv packs into pixels is read as it is. */
    if (c->compression == 34676 || c->compression == 34677)
        bits = c->photometric == 32844 ? 16 : 32;
    if (c->bits > 128 || (bits % 8 && c->bits > 32))
        return fail_unread(err, "samples of %u bits", c->bits);
    if (!cut->tiled) {
        cut->chunk_width = cut->width;
        cut->chunk_height = least(cut->chunk_height, cut->height);
    }
    cut->across = divide_up(cut->width, cut->chunk_width);
    cut->down = divide_up(cut->height, cut->chunk_height);
    cut->planes = c->separate ? c->samples : 1;
    cut->row = (size_t)(((uint64_t)cut->chunk_width * bits + 7) / 8);
    if (bits % 8 == 0)
        count = bits % 32 == 0   ? bits / 32
                : bits % 16 == 0 ? bits / 16
                                 : bits / 8;
    else if (bits > 32)
        count = bits / c->bits;
    bits /= count;
    s->unit = (struct unit){ bits <= 8    ? CELL_U8
                             : bits <= 16 ? CELL_U16
                                          : CELL_F32,
                             count, bits };
    if ((uint64_t)cut->across * cut->down * cut->planes > UINT32_MAX)
        return fail(err, "it has too many strips or tiles");
    return 0;
}

int strips_show(struct tiff_strips *s, struct err *err)
{
    const struct coding was = s->coding;
    const bool gray = was.photometric <= MEANS_BLACK_IS_ZERO;
    s->shown = true;
    s->coding = (struct coding){
        .compression = CODED_DEFLATE,
        .predictor = 2,
        .photometric = gray ? MEANS_BLACK_IS_ZERO : MEANS_RGB,
        .bits = 8,
        .samples = gray ? 1 : 3,
        .format = 1,
        .fill_order = 1,
        .sub_x = 1,
        .sub_y = 1,
        .big_endian = was.big_endian,
    };
    return strips_measure(s, err);
}

int strips_open(struct tiff_strips *s, struct image *img,
                const struct directories *all, const struct directory *dir,
                struct err *err)
{
    *s = (struct tiff_strips){ .file = all->file,
                               .at = dir->at,
                               .coding = { .big_endian = all->form.big_endian },
                               .opts = all->opts };
    struct coding *c = &s->coding;
    struct cut *cut = &s->cut;
    struct tiff_handle *h =
        tiff_load(err) ? NULL : tiff_handle_open(s, false, err);
    const int status = h ? tiff_handle_describe(h, s, err) : -1;
    tiff_handle_close(h);
    if (status)
        return -1;
    if (c->photometric == 32803)
        return fail_unread(err, "a camera's raw samples in a TIFF, which are "
                                "not turned");
    const bool blocks = c->photometric == MEANS_YCC &&
                        (c->sub_x > 1 || c->sub_y > 1) &&
                        c->compression != CODED_JPEG;
    if (blocks || c->compression == CODED_OLD_JPEG ? strips_show(s, err)
                                                   : strips_measure(s, err))
        return -1;
    *img = (struct image){ .cell = s->unit.cell,
                           .color = COLOR_OTHER,
                           .width = cut->width,
                           .height = cut->height,
                           .nplanes = s->unit.count * cut->planes,
                           .orientation = 1,
                           .meta = img->meta };
    return image_check(cut->width, cut->height,
                       s->unit.count > IMAGE_PLANES ? s->unit.count
                                                    : img->nplanes,
                       s->unit.cell, &all->opts->limits, err);
}

/* ---- Cells of bits ----------------------------------------------------- */

/* Unpacks n cells of so many bits, the high bits first. */
static void unpack(uint8_t *cells, enum cell cell, const uint8_t *from,
                   size_t n, unsigned bits)
{
    const unsigned size = (unsigned)cell_size(cell);
    uint64_t held = 0;
    unsigned have = 0;
    if (bits == 1 || bits == 2 || bits == 4) {
        interleave_unpack(cells, n, from, bits);
        return;
    }
    for (size_t i = 0; i < n; i++, cells += size) {
        for (; have < bits; have += 8)
            held = held << 8 | *from++;
        have -= bits;
        write_uint(cells, size, interleave_big_endian(),
                   held >> have & ((UINT64_C(1) << bits) - 1));
    }
}

/* The inverse: bits after the last cell are 0. */
static void pack(uint8_t *to, const uint8_t *cells, enum cell cell, size_t n,
                 unsigned bits)
{
    const unsigned size = (unsigned)cell_size(cell);
    uint64_t held = 0;
    unsigned have = 0;
    if (bits == 1 || bits == 2 || bits == 4) {
        interleave_pack(to, cells, n, bits);
        return;
    }
    for (size_t i = 0; i < n; i++, cells += size) {
        held = held << bits | read_uint(cells, size, interleave_big_endian());
        for (have += bits; have >= 8; have -= 8)
            *to++ = (uint8_t)(held >> (have - 8));
    }
    if (have)
        *to = (uint8_t)(held << (8 - have));
}

static bool is_packed(const struct unit *unit)
{
    return unit->bits != 8 * cell_size(unit->cell);
}

/* Returns the cells of plane `p` of those that are cut. */
static struct image plane_view(const struct tiff_strips *s,
                               const struct image *img, unsigned p)
{
    struct image view = image_kind(img);
    view.nplanes = s->unit.count;
    memcpy(view.plane, img->plane + p * s->unit.count,
           s->unit.count * sizeof *view.plane);
    return view;
}

/* ---- LZW ----------------------------------------------------------------- */

/* Returns whether our own LZW takes such samples: bytes. */
static bool is_plain_lzw(const struct coding *c)
{
    return c->compression == CODED_LZW && c->fill_order == 1 &&
           (c->predictor == 1 ? c->bits <= 8
                              : c->predictor == 2 && c->bits == 8);
}

/* Reads a part. What is not sound is left to libtiff. */
static bool read_lzw(const struct tiff_strips *s, struct bytes codes,
                     uint8_t *to, size_t size)
{
    const struct coding *c = &s->coding;
    const size_t row = s->cut.row, step = c->separate ? 1 : c->samples;
    size_t got, left;
    if (!codes.size ||
        lzw_read(to, size, codes, 8, true, &got, &left) != LZW_WHOLE)
        return false;
    for (size_t at = 0; at < size && c->predictor == 2; at += row)
        for (size_t i = step; i < row; i++)
            to[at + i] = (uint8_t)(to[at + i] + to[at + i - step]);
    return true;
}

static int write_lzw(const struct tiff_strips *s, uint8_t *part, size_t size,
                     struct bytes *made, struct err *err)
{
    const struct coding *c = &s->coding;
    const size_t row = s->cut.row, step = c->separate ? 1 : c->samples;
    struct lzw_writer lzw;
    for (size_t at = 0; at < size && c->predictor == 2; at += row)
        for (size_t i = row; i-- > step;)
            part[at + i] = (uint8_t)(part[at + i] - part[at + i - step]);
    lzw_begin(&lzw, 8, true);
    return lzw_put(&lzw, made, part, size) && lzw_end(&lzw, made)
               ? 0
               : fail_memory(err, "no memory for a strip or tile");
}

/* ---- Threads ----------------------------------------------------------- */

/* What threads share that read or write parts: so many at a time, each thread
 * every so-manieth of them, with a handle of its own. */
struct strip_round {
    const struct tiff_strips *s;
    unsigned threads;
    size_t parts;
    struct err *err; /* of the first failure */
    atomic_bool failed;
};

static void run_round(struct strip_round *round, size_t parts,
                      void (*work)(void *context, size_t first), void *context)
{
    struct thread_pool *pool = round->s->opts->pool;
    round->parts = parts;
    round->threads = least(thread_pool_threads(pool), parts);
    thread_pool_run(pool, work, context, round->threads);
}

static void note_failure(struct strip_round *round, const struct err *err)
{
    if (!atomic_exchange(&round->failed, true))
        *round->err = *err;
}

/* ---- Reading ----------------------------------------------------------- */

struct strips_reading {
    struct strip_round round;
    const struct tiff_strips *s;
    const struct row_sink *sink;
    uint8_t *rows; /* some of each plane that is cut, one after the other */
    size_t row;    /* bytes from a row to the next */
    uint32_t room; /* rows of a plane */
    uint32_t begin, end; /* rows that are there */
    uint32_t down, n;    /* rows of parts that are being read */
    size_t band;         /* the first one that is not complete */
    atomic_uint damaged; /* parts that were not wholly read */
    struct err damage;   /* of the first of these */
};

static uint8_t *row_at(const struct strips_reading *r, unsigned plane,
                       uint32_t y)
{
    return r->rows + ((size_t)plane * r->room + (y - r->begin)) * r->row;
}

/* Reads parts to their places among the rows. */
static void read_parts(void *context, size_t first)
{
    struct strips_reading *r = context;
    const struct cut *cut = &r->s->cut;
    struct err err;
    struct tiff_handle *h = tiff_handle_open(r->s, false, &err);
    uint8_t *tile = memory_alloc(cut->tiled ? cut->row * cut->chunk_height : 1);
    if (h && !tile)
        fail_memory(&err, "no memory for a tile");
    if (!h || !tile)
        note_failure(&r->round, &err);
    for (size_t i = first; i < r->round.parts && !r->round.failed;
         i += r->round.threads) {
        const uint32_t column = (uint32_t)(i % cut->across),
                       down = r->down + (uint32_t)(i / cut->across % r->n),
                       plane = (uint32_t)(i / cut->across / r->n),
                       y = down * cut->chunk_height,
                       height = least(cut->chunk_height, cut->height - y),
                       part = (plane * cut->down + down) * cut->across + column;
        const size_t size =
            (cut->tiled ? cut->chunk_height : height) * cut->row;
        uint8_t *to = cut->tiled ? tile : row_at(r, plane, y);
        int status = 0;
        if (!is_plain_lzw(&r->s->coding) ||
            !read_lzw(r->s, tiff_handle_coded(h, part), to, size))
            status = tiff_handle_read(h, part, to, size, &err);
        if (status < 0 && !r->s->opts->tolerant)
            note_failure(&r->round, &err);
        else if (status && atomic_fetch_add(&r->damaged, 1) == 0)
            r->damage = err;
        for (uint32_t k = 0; k < height && cut->tiled; k++)
            memcpy(row_at(r, plane, y + k) + column * cut->row,
                   to + k * cut->row, cut->row);
    }
    tiff_handle_close(h);
    memory_free(tile);
}

static void put_band(void *context, size_t i)
{
    struct strips_reading *r = context;
    const struct tiff_strips *s = r->s;
    const struct unit *unit = &s->unit;
    uint8_t *cells = NULL;
    struct row_sink band = { 0 };
    struct err err;
    uint32_t begin, end, row;
    int status =
        row_sink_open_band(&band, r->sink, r->band + i, &begin, &end, &err);
    if (status == 0 && is_packed(unit) &&
        !(cells = memory_alloc((size_t)s->cut.width * unit->count *
                               cell_size(unit->cell))))
        status = fail_memory(&err, "no memory for a row");
    for (uint32_t y = begin; status == 0 && y < end; y++) {
        const struct image *to = row_sink_at(&band, y, &row);
        for (unsigned p = 0; p < s->cut.planes; p++) {
            const struct image view = plane_view(s, to, p);
            if (cells)
                unpack(cells, unit->cell, row_at(r, p, y),
                       (size_t)view.width * unit->count, unit->bits);
            interleave_split_row(&view, row, cells ? cells : row_at(r, p, y));
        }
        status = row_sink_done(&band, y, &err);
    }
    if (status)
        note_failure(&r->round, &err);
    if (band.turner)
        row_sink_close(&band);
    memory_free(cells);
}

/* Passes on the bands of which all rows are there, and keeps the others. */
static void put_bands(struct strips_reading *r, struct thread_pool *pool)
{
    const struct row_sink *sink = r->sink;
    const uint32_t first = sink && sink->turner ? sink->band.end : BAND_ROWS;
    uint32_t kept = r->end;
    if (sink) {
        size_t bands = r->end >= sink->height ? row_sink_bands(sink)
                       : r->end < first       ? 0
                                        : 1 + (r->end - first) / sink->step;
        const bool parallel = !sink->turner || sink->turner->parallel;
        thread_pool_run(parallel ? pool : NULL, put_band, r, bands - r->band);
        r->band = bands;
        const uint64_t done =
            bands ? first + (uint64_t)(bands - 1) * sink->step : 0;
        kept = least(done, r->end);
    }
    for (unsigned p = 0; p < r->s->cut.planes && kept < r->end; p++)
        memmove(r->rows + (size_t)p * r->room * r->row, row_at(r, p, kept),
                (r->end - kept) * r->row);
    r->begin = kept;
}

/* Chooses how many rows of parts are read at a time, and makes room. */
static int make_room(struct strips_reading *r, uint32_t *most, struct err *err)
{
    const struct cut *cut = &r->s->cut;
    const struct limits *limits = &r->s->opts->limits;
    const uint64_t threads = thread_pool_threads(r->s->opts->pool);
    const uint64_t rest = r->sink ? r->sink->step : 0;
    const bool bands = r->sink && image_has_bands(r->sink->img);
    const uint64_t memory = bands ? limits->scratch->memory : limits->bytes;
    r->row = cut->row * cut->across;
    const uint64_t part = r->row * cut->chunk_height * cut->planes;
    const uint64_t all = bands ? memory / 4 : ROUND * threads;
    *most = least(all > part ? all / part : 1, cut->down);
    const uint64_t rows = (uint64_t)*most * cut->chunk_height;
    r->room = least(rows, cut->height) + (uint32_t)rest;
    const uint64_t need =
        r->s->shown ? (uint64_t)cut->width * cut->height * sizeof(uint32_t)
                    : (uint64_t)r->room * cut->planes * r->row;
    if (need > memory)
        return limit_refuse_memory("its strips or tiles need", need, limits,
                                   err);
    memory_plan((size_t)need);
    r->rows = memory_alloc((size_t)need);
    return r->rows ? 0 : fail_memory(err, "no memory for strips or tiles");
}

int strips_read(const struct tiff_strips *s, struct image *img, enum xform t,
                const struct turner *turner, struct err *err)
{
    const struct row_sink_opts how = { .t = t,
                                       .turner = turner,
                                       .limits = &s->opts->limits,
                                       .mem = s->opts->mem };
    struct row_sink sink = { 0 };
    struct strips_reading r = { .round = { .s = s, .err = err },
                                .s = s,
                                .sink = img ? &sink : NULL };
    const struct cut *cut = &s->cut;
    uint32_t most = 1;
    int status = (img && row_sink_open(&sink, img, &how, err)) ||
                 make_room(&r, &most, err);
    if (status == 0 && s->shown) {
        struct tiff_handle *h = tiff_handle_open(s, false, err);
        status =
            h ? tiff_handle_show(h, s, (uint32_t *)(void *)r.rows, err) : -1;
        tiff_handle_close(h);
        r.row = (size_t)cut->width * s->coding.samples;
        most = cut->down;
    }
    for (; r.down < cut->down && status == 0; r.down += r.n) {
        r.n = least(most, cut->down - r.down);
        if (!s->shown)
            run_round(&r.round, (size_t)r.n * cut->across * cut->planes,
                      read_parts, &r);
        r.end =
            least((uint64_t)(r.down + r.n) * cut->chunk_height, cut->height);
        if (!r.round.failed)
            put_bands(&r, s->opts->pool);
        status = r.round.failed
                     ? -1
                     : account_check_time(s->opts->limits.account, err);
    }
    const unsigned damaged = atomic_load(&r.damaged);
    if (status == 0 && damaged)
        warn(s->opts->warnings, "%s; %u such part%s kept as far as can be read",
             r.damage.text, damaged, damaged > 1 ? "s are" : " is");
    memory_free(r.rows);
    row_sink_close(&sink);
    return status ? -1 : 0;
}

/* ---- Writing ----------------------------------------------------------- */

struct strips_writing {
    struct strip_round round;
    const struct tiff_strips *s;
    struct row_source source;
    struct bytes *made; /* of each part */
    uint32_t plane, down;
};

/* Makes a part of its rows, with zeros where a tile is beyond the picture.
 * Returns its bytes. */
static size_t fill_part(const struct strips_writing *w, uint8_t *part,
                        uint8_t *cells, uint32_t down, uint32_t column)
{
    const struct cut *cut = &w->s->cut;
    const struct unit *unit = &w->s->unit;
    const uint32_t y = down * cut->chunk_height, x = column * cut->chunk_width,
                   width = least(cut->chunk_width, cut->width - x),
                   height = least(cut->chunk_height, cut->height - y);
    const size_t size = (cut->tiled ? cut->chunk_height : height) * cut->row;
    uint32_t row;
    const struct image *img = row_source_at(&w->source, y, &row);
    const struct image columns = image_part(img, true, x, width);
    const struct image view = plane_view(w->s, &columns, w->plane);
    if (width < cut->chunk_width || height < cut->chunk_height)
        memset(part, 0, size);
    for (uint32_t k = 0; k < height; k++, part += cut->row) {
        interleave_join_row(&view, row + k, is_packed(unit) ? cells : part);
        if (is_packed(unit))
            pack(part, cells, unit->cell, (size_t)width * unit->count,
                 unit->bits);
    }
    return size;
}

static void write_parts(void *context, size_t first)
{
    struct strips_writing *w = context;
    const struct tiff_strips *s = w->s;
    const struct cut *cut = &s->cut;
    struct err err;
    struct tiff_handle *h = tiff_handle_open(s, true, &err);
    uint8_t *part = memory_alloc(cut->row * cut->chunk_height),
            *cells = memory_alloc((size_t)cut->chunk_width * s->unit.count *
                                  cell_size(s->unit.cell));
    if (h && (!part || !cells))
        fail_memory(&err, "no memory for a strip or tile");
    if (!h || !part || !cells)
        note_failure(&w->round, &err);
    for (size_t i = first; i < w->round.parts && !w->round.failed;
         i += w->round.threads) {
        const uint32_t column = (uint32_t)(i % cut->across),
                       down = w->down + (uint32_t)(i / cut->across);
        const size_t size = fill_part(w, part, cells, down, column);
        if (is_plain_lzw(&s->coding)
                ? write_lzw(s, part, size, &w->made[i], &err)
                : tiff_handle_write(
                      h, (w->plane * cut->down + down) * cut->across + column,
                      part, size, &w->made[i], &err))
            note_failure(&w->round, &err);
    }
    tiff_handle_close(h);
    memory_free(part);
    memory_free(cells);
}

/* Appends parts to the file, some rows of them at a time. Rows of one strip
 * that is not compressed may come in several. */
static int write_rounds(struct strips_writing *w, struct tiff_writer *to,
                        const struct directory_parts *parts, struct err *err)
{
    const struct cut *cut = &w->s->cut;
    const uint64_t part = (uint64_t)cut->row * cut->across * cut->chunk_height;
    const uint64_t all = ROUND * thread_pool_threads(w->s->opts->pool);
    uint32_t most = least(all > part ? all / part : 1, cut->down), n;
    if (most > 1 &&
        (uint64_t)most * cut->chunk_height > row_source_most(&w->source))
        most = row_source_most(&w->source) / cut->chunk_height;
    most += !most;
    const size_t count = (size_t)most * cut->across;
    w->made = memory_alloc_zeroed(count, sizeof *w->made);
    int status =
        w->made ? 0 : fail_memory(err, "no memory for strips or tiles");
    for (w->plane = 0; w->plane < cut->planes; w->plane++)
        for (w->down = 0; w->down < cut->down && status == 0; w->down += n) {
            n = least(most, cut->down - w->down);
            status = row_source_hold(
                &w->source, w->down * cut->chunk_height,
                least((uint64_t)(w->down + n) * cut->chunk_height, cut->height),
                err);
            if (status)
                break;
            run_round(&w->round, (size_t)n * cut->across, write_parts, w);
            for (size_t i = 0; i < w->round.parts && !w->round.failed; i++) {
                struct bytes *made = &w->made[i];
                const uint64_t k =
                    parts->count == cut->planes
                        ? w->plane
                        : ((uint64_t)w->plane * cut->down + w->down) *
                                  cut->across +
                              i;
                const uint64_t was = directory_part(parts, PART_SIZE, k);
                if (!was)
                    directory_part_set(parts, PART_AT, k, tiff_writer_at(to));
                directory_part_set(parts, PART_SIZE, k, was + made->size);
                tiff_writer_append(to, made->data, made->size);
                made->size = 0;
            }
            if (w->round.failed || to->failed ||
                account_check_time(w->s->opts->limits.account, err))
                status = -1;
        }
    for (size_t i = 0; w->made && i < count; i++)
        bytes_free(&w->made[i]);
    memory_free(w->made);
    return status;
}

int strips_write(struct tiff_writer *to, struct directory *dir,
                 const struct tiff_strips *s, const struct image *img,
                 struct err *err)
{
    const uint64_t count =
        (uint64_t)s->cut.planes * s->cut.across * s->cut.down;
    struct tiff_strips cut = *s;
    struct strips_writing w = {
        .round = { .s = &cut, .err = err },
        .s = &cut,
        .source = row_source_open(img, s->opts->pool),
    };
    struct directory_parts parts;
    /* An even number of rows, so that nothing comes between them. */
    if (s->coding.compression == CODED_NONE && s->cut.down == 1 &&
        !s->cut.tiled) {
        cut.cut.chunk_height = least(BAND_ROWS, cut.cut.height);
        cut.cut.down = divide_up(cut.cut.height, cut.cut.chunk_height);
    }
    int status = directory_parts_make(&parts, dir, s->cut.tiled, count, err);
    if (status == 0)
        status = write_rounds(&w, to, &parts, err);
    row_source_close(&w.source);
    return status;
}
