/* The bed of PNG's image data, which a device inflates, turns and deflates in
 * batches (cuda/png/): kernel by kernel, and with several batches at a time;
 * beside libraries that inflate the same on a processor. What the device makes
 * is inflated again by zlib and compared with the pixels. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "cli/bench/bench.h"
#include "codecs/base/clock.h"
#include "codecs/base/thread_pool.h"
#include "codecs/deflate/flate.h"
#include "codecs/png/filter.h"
#include "cuda/png/idat_device.h"

enum {
    STREAMS = 3, /* batches at a time, at most */
    SOURCES = 8, /* different pictures */
    BATCH = 192, /* pictures */
    PIXEL = 3,   /* bytes */
    FILTERS = 5,
};

struct png_source {
    uint8_t *pixels;
    struct idat_turn turn;
    struct bytes coded;
    size_t rows; /* bytes, with the types of filters */
};

struct png_stream {
    struct scan_engine *engine;
    struct scan_job job[BATCH];
    bool failed;
    struct err err;
};

struct png_bed {
    const struct scan_engine_type *type; /* NULL: there is no device */
    int device;
    struct suite_shape shape; /* of the sources; {0}: there are none */
    struct png_source source[SOURCES];

    /* Of the case that is open. */
    const struct png_case *pcase;
    struct png_stream stream[STREAMS];
    double kernels[SCAN_KERNELS]; /* seconds of each */
    struct thread_pool *pool;
    uint8_t *rows; /* room for them */
};

/* ---- Cases --------------------------------------------------------------- */

static const enum xform turn = XFORM_ROTATE_90;
static const struct suite_shape shapes[] = { { 1920, 1088 }, { 0 } };
static const struct suite_section
    by_kernel = { "png",
                  "PNG image data, kernel by kernel; bars: of all kernels",
                  shapes },
    whole = { "png", "PNG image data, copies included", shapes };

static const char *const kernel_names[] = {
    IDAT_KERNELS_TABLE(SCAN_KERNEL_NAME) NULL,
};

static const struct png_case {
    const char *name;
    unsigned streams;          /* batches at a time; 0: a library inflates */
    bool kernels;              /* each is timed */
    const struct flate *flate; /* NULL: the fastest one */
} cases[] = {
    { "all kernels", 1, true, NULL },
    { "3 streams", 3, false, NULL },
    { "1 stream", 1, false, NULL },
    { "inflate alone, as gimgxf does", 0, false, NULL },
    { "inflate alone, zlib", 0, false, &flate_zlib },
};
enum { CASES = sizeof cases / sizeof cases[0] };

static bool png_entry(const void *context, size_t i, struct suite_entry *e)
{
    const struct png_bed *bed = context;
    const struct png_case *c = &cases[i < CASES ? i : 0];
    *e = (struct suite_entry){
        .section = c->kernels ? &by_kernel : &whole,
        .name = c->name,
        .origin = c->streams ? SUITE_OURS : SUITE_LIBRARY,
        .work = { CELL_U8, turn, 1 },
        .by.threads = !c->streams,
        .shapes = shapes,
        .parts = c->kernels ? kernel_names : NULL,
    };
    return bed->type && i < CASES;
}

/* ---- Pictures ------------------------------------------------------------ */

static size_t row_of(uint32_t width)
{
    return (size_t)width * PIXEL;
}

/* Filters rows by all filters in turns, and deflates them as zlib does by
 * default. */
static int encode(struct png_source *s, struct err *err)
{
    const size_t row = row_of(s->turn.width);
    const uLong room = compressBound((uLong)s->rows);
    uint8_t *rows = malloc(s->rows), *zeros = calloc(1, row);
    uLongf size = room;
    int status = -1;
    s->coded.data = malloc(room);
    for (uint32_t y = 0; rows && zeros && y < s->turn.height; y++)
        filter_row_with(y % FILTERS, rows + y * (row + 1), s->pixels + y * row,
                        y ? s->pixels + (y - 1) * row : zeros, row, PIXEL);
    if (rows && zeros && s->coded.data)
        status = compress(s->coded.data, &size, rows, (uLong)s->rows);
    s->coded.size = size;
    free(rows);
    free(zeros);
    return status == Z_OK ? 0 : fail(err, "no memory for a picture");
}

static int make_source(struct png_source *s, struct suite_shape shape,
                       uint32_t number, struct err *err)
{
    struct image img;
    if (bench_photograph(&img, shape, number, err))
        return -1;
    s->turn = (struct idat_turn){ .width = shape.width,
                                  .height = shape.height,
                                  .pixel = PIXEL,
                                  .any_size = true };
    s->rows = (row_of(shape.width) + 1) * shape.height;
    s->pixels = malloc(row_of(shape.width) * shape.height);
    for (uint32_t y = 0; s->pixels && y < shape.height; y++)
        for (uint32_t i = 0; i < shape.width * PIXEL; i++)
            s->pixels[y * row_of(shape.width) + i] =
                ((uint8_t *)plane_row(&img.plane[i % PIXEL], y))[i / PIXEL];
    image_free(&img);
    return s->pixels ? encode(s, err) : fail(err, "no memory for a picture");
}

static void free_sources(struct png_bed *bed)
{
    for (unsigned i = 0; i < SOURCES; i++) {
        free(bed->source[i].pixels);
        free(bed->source[i].coded.data);
        bed->source[i] = (struct png_source){ .pixels = NULL };
    }
    free(bed->rows);
    bed->rows = NULL;
}

static int make_sources(struct png_bed *bed, struct suite_shape shape,
                        struct err *err)
{
    if (bed->shape.width == shape.width && bed->shape.height == shape.height)
        return 0;
    free_sources(bed);
    bed->shape = shape;
    for (unsigned i = 0; i < SOURCES; i++)
        if (make_source(&bed->source[i], shape, i, err))
            return -1;
    /* Turned rows may be more, and so their types. */
    bed->rows = malloc(bed->source[0].rows + shape.width + shape.height);
    return bed->rows ? 0 : fail(err, "no memory for rows");
}

/* ---- Running ------------------------------------------------------------- */

static void run_stream(void *context, size_t i)
{
    struct png_bed *bed = context;
    struct png_stream *s = &bed->stream[i];
    s->failed = bed->type->run(s->engine, s->job, BATCH, &s->err) != 0;
}

/* The output may overlay the input. */
static void fill_stream(void *context, size_t i)
{
    struct png_bed *bed = context;
    struct png_stream *s = &bed->stream[i];
    for (unsigned k = 0; k < BATCH; k++)
        memcpy(s->engine->input + s->job[k].at, s->job[k].of.coded.data,
               s->job[k].size);
}

static int inflate_sources(struct png_bed *bed, struct err *err)
{
    const struct flate *flate = bed->pcase->flate;
    enum flate_status status = FLATE_END;
    flate = flate ? flate : flates[0];
    for (unsigned i = 0; i < SOURCES && status == FLATE_END; i++) {
        const struct png_source *s = &bed->source[i];
        struct flate_io io = { s->coded.data, s->coded.size, bed->rows,
                               s->rows };
        void *inflater = flate->inflate_open(false);
        status = inflater ? FLATE_MORE : FLATE_BAD;
        for (unsigned n = 0; inflater && status == FLATE_MORE && n < 2; n++)
            status = flate->inflate(inflater, &io);
        flate->inflate_close(inflater);
    }
    return status == FLATE_END ? 0 : fail(err, "%s fails", flate->name);
}

static int run_once(struct png_bed *bed, struct err *err)
{
    const struct png_case *c = bed->pcase;
    if (!c->streams)
        return inflate_sources(bed, err);
    thread_pool_run(bed->pool, run_stream, bed, c->streams);
    for (unsigned i = 0; i < c->streams; i++)
        if (bed->stream[i].failed)
            return fail(err, "%s", bed->stream[i].err.text);
    return 0;
}

static int png_round(void *context, double *seconds, struct err *err)
{
    struct png_bed *bed = context;
    memset(bed->kernels, 0, sizeof bed->kernels);
    thread_pool_run(bed->pool, fill_stream, bed, bed->pcase->streams);
    const double begin = now();
    if (run_once(bed, err))
        return -1;
    seconds[0] = now() - begin;
    if (!bed->pcase->kernels)
        return 0;
    seconds[0] = 0;
    for (unsigned k = 0; k < IDAT_KERNELS; k++)
        seconds[0] += seconds[2 + k] = bed->kernels[k];
    return 0;
}

/* Returns whether a stream holds the turned pixels of a source. */
static bool is_turned(struct png_bed *bed, const struct png_source *s,
                      const uint8_t *stream, size_t size)
{
    const uint32_t w = s->turn.width, h = s->turn.height;
    const size_t row = row_of(h);
    uLongf rows = (row + 1) * w;
    uint8_t *zeros = calloc(1, row);
    bool right = zeros && uncompress(bed->rows, &rows, stream, size) == Z_OK &&
                 rows == (row + 1) * w;
    for (uint32_t y = 0; right && y < w; y++) {
        uint8_t *made = bed->rows + y * (row + 1) + 1;
        right = filter_undo_row(made[-1], made, y ? made - row - 1 : zeros, row,
                                PIXEL);
        for (uint32_t x = 0; right && x < h; x++)
            right = memcmp(made + x * PIXEL,
                           s->pixels + ((size_t)(h - 1 - x) * w + y) * PIXEL,
                           PIXEL) == 0;
    }
    free(zeros);
    return right;
}

/* Equal pictures become equal streams. */
static bool is_right(struct png_bed *bed, const struct png_stream *s,
                     unsigned i)
{
    const struct scan_job *job = &s->job[i], *first = &s->job[i % SOURCES];
    const uint8_t *out = s->engine->output;
    if (job->result != SCAN_TURNED)
        return false;
    if (i < SOURCES)
        return is_turned(bed, &bed->source[i], out + job->out, job->out_size);
    return job->out_size == first->out_size &&
           memcmp(out + job->out, out + first->out, job->out_size) == 0;
}

static int png_check(void *context, struct suite_result *result,
                     struct err *err)
{
    struct png_bed *bed = context;
    thread_pool_run(bed->pool, fill_stream, bed, bed->pcase->streams);
    if (run_once(bed, err))
        return -1;
    result->cells = result->files;
    for (unsigned i = 0; i < bed->pcase->streams * BATCH; i++)
        result->wrong += !is_right(bed, &bed->stream[i / BATCH], i % BATCH);
    return 0;
}

/* ---- Opening ------------------------------------------------------------- */

static int open_stream(struct png_bed *bed, struct png_stream *s,
                       struct err *err)
{
    struct scan_engine_opts opts = { .kind = SCAN_KIND_PNG,
                                     .device = bed->device,
                                     .seconds = bed->pcase->kernels
                                                    ? bed->kernels
                                                    : NULL };
    for (unsigned i = 0; i < BATCH; i++) {
        const struct png_source *source = &bed->source[i % SOURCES];
        s->job[i] = (struct scan_job){ .of = { .idat = &source->turn,
                                               .turn = turn,
                                               .coded = source->coded },
                                       .at = opts.input,
                                       .size = source->coded.size };
        opts.input += (source->coded.size + SCAN_ALIGNMENT - 1) /
                      SCAN_ALIGNMENT * SCAN_ALIGNMENT;
    }
    return bed->type->open(&s->engine, &opts, err);
}

static int png_open(void *context, size_t number, struct suite_shape shape,
                    struct suite_result *result, struct err *err)
{
    struct png_bed *bed = context;
    const struct png_case *c = &cases[number];
    bed->pcase = c;
    if (make_sources(bed, shape, err))
        return -1;
    result->files = c->streams ? c->streams * BATCH : SOURCES;
    result->launches = 1;
    result->bytes = bed->source[0].rows * result->files;
    bed->pool = thread_pool_open(c->streams + !c->streams);
    if (!bed->pool)
        return fail(err, "no memory for threads");
    for (unsigned i = 0; i < c->streams; i++)
        if (open_stream(bed, &bed->stream[i], err))
            return -1;
    return 0;
}

static void png_close(void *context)
{
    struct png_bed *bed = context;
    for (unsigned i = 0; i < STREAMS; i++) {
        bed->type->close(bed->stream[i].engine);
        bed->stream[i].engine = NULL;
    }
    thread_pool_close(bed->pool);
    bed->pool = NULL;
}

static void *png_begin(const struct suite_place *place, struct err *err)
{
    struct png_bed *bed = calloc(1, sizeof *bed);
    if (!bed) {
        fail(err, "no memory");
        return NULL;
    }
    bed->type = bench_engine();
    bed->device = place->device;
    return bed;
}

static void png_end(void *context)
{
    struct png_bed *bed = context;
    free_sources(bed);
    free(bed);
}

const struct suite_bed_type bench_png_bed = {
    5, png_begin, png_end, png_entry, png_open, png_round, png_check, png_close,
};
