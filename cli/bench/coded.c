/* The beds of coded data that a device turns in batches (cuda/jpeg/,
 * cuda/png/): the scans of JPEG files, and the image data of PNG. Each is timed
 * kernel by kernel, and with several batches at a time; beside processors,
 * which do the same, or of a PNG a part of it. What the device makes of a JPEG
 * is compared with what a processor makes; of a PNG it is inflated by zlib and
 * compared with the pixels. A kernel has a share, of all of them. */
#include "cli/bench/bench.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "codecs/base/clock.h"
#include "codecs/base/thread_pool.h"
#include "codecs/codec.h"
#include "codecs/deflate/flate.h"
#include "codecs/jpeg/entropy/sequential.h"
#include "codecs/png/filter.h"
#include "cuda/bench/verify.h"
#include "cuda/jpeg/scan_device.h"
#include "cuda/jpeg/scan_engine.h"
#include "cuda/png/idat_device.h"

enum {
    STREAMS = 3, /* batches at a time, at most */
    SOURCES = 8, /* different pictures */
    SIZES = 2,   /* of pictures */
    BATCH = 256, /* pictures, at most */
    PIXEL = 3,   /* bytes, of a PNG */
    FILTERS = 5,
};

static const enum xform turn = XFORM_ROTATE_90;

struct coded_source {
    struct bytes coded; /* what the device turns */
    size_t bytes;       /* that are counted */
    /* Of a JPEG: the file, which has the above, and what a processor makes of
     * it. */
    struct bytes file, made;
    struct sequential from, to;
    /* Of a PNG. */
    uint8_t *pixels;
    struct idat_turn idat;
};

/* The pictures of a size. */
struct coded_size {
    struct suite_shape shape; /* {0}: there are none */
    struct coded_source source[SOURCES];
    unsigned count; /* of a batch: the sources in turns */
    uint8_t *rows;  /* of a PNG: room for them */
};

/* A batch on its way through a device, again and again. */
struct coded_stream {
    struct scan_engine *engine;
    struct scan_job job[BATCH];
    struct entropy_scan to[BATCH]; /* of each job */
    bool failed;
    struct err err;
};

struct coded_bed {
    const struct coded_kind *kind;
    const struct scan_engine_type *type; /* NULL: there is no device */
    int device;
    struct coded_size sizes[SIZES]; /* that were run: later cases have them */

    /* Of the case that is open. */
    const struct coded_case *ccase;
    struct coded_size *size;
    struct coded_stream stream[STREAMS];
    double kernels[SCAN_KERNELS]; /* seconds of each */
    struct thread_pool *pool;
    unsigned files; /* of a round */
    atomic_uint wrong;
};

struct coded_case {
    const char *name;
    unsigned streams;          /* batches at a time; 0: processors do it */
    bool kernels;              /* each is timed */
    bool all;                  /* processors, else one */
    const struct flate *flate; /* that inflates a PNG; NULL: the fastest one */
};

struct coded_kind {
    enum scan_kind kind;
    struct suite_section by_kernel, whole;
    const struct suite_shape *shapes;
    const char *const *kernels;
    const struct coded_case *cases;
    size_t batch;  /* bytes of one, about */
    unsigned most; /* pictures of one */
    /* Makes picture i of a size. */
    int (*make)(struct coded_source *source, const struct image *img,
                struct err *err);
    /* Returns whether a device has made the right thing of a picture. */
    bool (*is_right)(struct coded_bed *bed, const struct coded_source *source,
                     const uint8_t *made, size_t size);
    /* Does one picture on a processor, and returns whether it is right. */
    bool (*run)(struct coded_bed *bed, const struct coded_source *source);
};

static size_t aligned(size_t size)
{
    return (size + SCAN_ALIGNMENT - 1) / SCAN_ALIGNMENT * SCAN_ALIGNMENT;
}

/* ---- Pictures ------------------------------------------------------------ */

enum { SCALES = 8, NOISE = 14 /* the larger, the less */ };

static int hash(uint32_t x, uint32_t y, uint32_t z)
{
    return (int)(verify_mix(verify_mix((uint64_t)y << 32 | x) + z) & 255);
}

/* Returns smooth noise of one scale, from 0 to 255: between four places that
 * are so far apart. */
static int noise_at(uint32_t x, uint32_t y, unsigned scale, uint32_t seed)
{
    const uint32_t size = 1u << scale, cx = x >> scale, cy = y >> scale;
    const int fx = (int)(x % size), fy = (int)(y % size), n = (int)size;
    int row[2];
    for (unsigned i = 0; i < 2; i++)
        row[i] =
            hash(cx, cy + i, seed) * (n - fx) + hash(cx + 1, cy + i, seed) * fx;
    return (row[0] * (n - fy) + row[1] * fy) / (n * n);
}

/* Fills a row with noise of all scales, as photographs have it, and a little of
 * a sensor. */
static void fill_row(const struct image *img, uint32_t y, uint32_t seed)
{
    for (uint32_t x = 0; x < img->width; x++) {
        int light = 0;
        for (unsigned scale = 1; scale < SCALES; scale++)
            light += (noise_at(x, y, scale, seed + scale) - 128) * (1 << scale);
        light = 128 + light / 170 + (hash(x, y, seed + 99) - 128) / NOISE;
        const int tint = (noise_at(x, y, 6, seed + 50) - 128) / 4;
        for (unsigned c = 0; c < img->nplanes; c++) {
            uint8_t *row = plane_row(&img->plane[c], y);
            const int sample = light + tint * ((int)c - 1);
            row[x] = (uint8_t)(sample < 0 ? 0 : sample > 255 ? 255 : sample);
        }
    }
}

static int make_source(const struct coded_bed *bed, struct coded_source *source,
                       uint32_t number, struct err *err)
{
    struct image img = { .cell = CELL_U8,
                         .nplanes = 3,
                         .width = bed->size->shape.width,
                         .height = bed->size->shape.height };
    if (image_alloc(&img, mem_plain, err))
        return -1;
    img.color = COLOR_RGB;
    img.maxval = 255;
    img.orientation = 1;
    for (uint32_t y = 0; y < img.height; y++)
        fill_row(&img, y, number * 1000);
    const int status = bed->kind->make(source, &img, err);
    image_free(&img);
    return status;
}

/* Finds the pictures of a size, or makes them and chooses how many a batch
 * has. */
static int find_pictures(struct coded_bed *bed, struct suite_shape shape,
                         struct err *err)
{
    size_t all = 0;
    struct coded_size *size = bed->sizes;
    while (size->shape.width && (size->shape.width != shape.width ||
                                 size->shape.height != shape.height))
        size++; /* there are as many as of shapes */
    bed->size = size;
    if (size->shape.width)
        return 0;
    size->shape = shape;
    for (uint32_t i = 0; i < SOURCES; i++) {
        if (make_source(bed, &size->source[i], i, err))
            return -1;
        all += aligned(size->source[i].coded.size);
    }
    const size_t count = bed->kind->batch / (all / SOURCES) + 1;
    size->count = count < bed->kind->most ? (unsigned)count : bed->kind->most;
    /* Turned rows of a PNG may be more, and so their filters. */
    size->rows = malloc(size->source[0].bytes + shape.width + shape.height);
    return size->rows ? 0 : fail(err, "no memory for rows");
}

/* ---- JPEG ---------------------------------------------------------------- */

/* Turns a file as a processor does: appends it to `made` from its first
 * quantization table on. */
static int turn_file(struct bytes *made, struct bytes file, struct err *err)
{
    struct sequential from = { 0 }, to;
    size_t end;
    int status =
        sequential_read(&from, file, xform_transposes(turn), NULL, &end, err);
    if (status == 0) {
        sequential_turn(&to, &from, turn);
        status = sequential_write(made, &to, &from, false, NULL, err);
    }
    sequential_free(&from);
    return status;
}

/* Makes a file of 0.42 MB for 2 megapixels. */
static int jpeg_make(struct coded_source *s, const struct image *img,
                     struct err *err)
{
    enum { QUALITY = 88 }; /* the highest one that is 4:2:0 */
    struct warnings warnings = { .count = 0 };
    const struct save_opts opts = { .suffix = "jpg",
                                    .quality = QUALITY,
                                    .warnings = &warnings };
    size_t end;
    if (codec_jpeg.encode(&s->file, img, &opts, err) ||
        sequential_find(&s->from, s->file, &end, err) ||
        turn_file(&s->made, s->file, err))
        return -1;
    sequential_turn(&s->to, &s->from, turn);
    s->coded = s->from.scan[0].data;
    s->bytes = s->coded.size;
    return 0;
}

/* What a processor makes ends with the data of the scan and EOI. */
static bool jpeg_is_right(struct coded_bed *bed, const struct coded_source *s,
                          const uint8_t *made, size_t size)
{
    const size_t end = s->made.size - 2;
    (void)bed;
    return size <= end && memcmp(s->made.data + end - size, made, size) == 0;
}

static bool jpeg_run(struct coded_bed *bed, const struct coded_source *s)
{
    struct bytes made = { 0 };
    struct err err;
    (void)bed;
    const bool right = turn_file(&made, s->file, &err) == 0 &&
                       made.size == s->made.size &&
                       memcmp(made.data, s->made.data, made.size) == 0;
    bytes_free(&made);
    return right;
}

/* ---- PNG ----------------------------------------------------------------- */

/* Filters rows by all filters in turns, and deflates them as zlib does by
 * default. */
static int png_make(struct coded_source *s, const struct image *img,
                    struct err *err)
{
    const size_t row = (size_t)img->width * PIXEL;
    s->bytes = (row + 1) * img->height;
    s->idat = (struct idat_turn){ .width = img->width,
                                  .height = img->height,
                                  .pixel = PIXEL,
                                  .any_size = true };
    uLongf size = compressBound((uLong)s->bytes);
    uint8_t *rows = malloc(s->bytes), *zeros = calloc(1, row);
    int status = -1;
    s->coded.data = malloc(size);
    s->pixels = malloc(row * img->height);
    if (rows && zeros && s->coded.data && s->pixels) {
        for (uint32_t y = 0; y < img->height; y++) {
            uint8_t *pixels = s->pixels + y * row;
            for (size_t i = 0; i < row; i++)
                pixels[i] = ((const uint8_t *)plane_row(&img->plane[i % PIXEL],
                                                        y))[i / PIXEL];
            filter_row_with(y % FILTERS, rows + y * (row + 1), pixels,
                            y ? pixels - row : zeros, row, PIXEL);
        }
        status = compress(s->coded.data, &size, rows, (uLong)s->bytes);
    }
    s->coded.size = size;
    free(rows);
    free(zeros);
    return status == Z_OK ? 0 : fail(err, "no memory for a picture");
}

/* Returns whether a stream holds the turned pixels of a source. */
static bool png_is_right(struct coded_bed *bed, const struct coded_source *s,
                         const uint8_t *stream, size_t size)
{
    const uint32_t w = s->idat.width, h = s->idat.height;
    const size_t row = (size_t)h * PIXEL;
    uint8_t *rows = bed->size->rows, *zeros = calloc(1, row);
    uLongf all = (row + 1) * w;
    bool right = zeros && uncompress(rows, &all, stream, size) == Z_OK &&
                 all == (row + 1) * w;
    for (uint32_t y = 0; right && y < w; y++) {
        uint8_t *made = rows + y * (row + 1) + 1;
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

/* Inflates it: one processor alone does so. */
static bool png_run(struct coded_bed *bed, const struct coded_source *s)
{
    const struct flate *flate = bed->ccase->flate;
    flate = flate ? flate : flates[0];
    struct flate_io io = { s->coded.data, s->coded.size, bed->size->rows,
                           s->bytes };
    void *inflater = flate->inflate_open(false);
    enum flate_status status = inflater ? FLATE_MORE : FLATE_BAD;
    for (unsigned n = 0; status == FLATE_MORE && n < 2; n++)
        status = flate->inflate(inflater, &io);
    flate->inflate_close(inflater);
    return status == FLATE_END;
}

/* ---- Cases --------------------------------------------------------------- */

static const struct suite_shape jpeg_shapes[] = { { 1632, 1216 },
                                                  { 4000, 3008 },
                                                  { 0 } },
                                png_shapes[] = { { 1920, 1088 }, { 0 } };

static const char *const jpeg_kernels[] = {
    SCAN_KERNELS_TABLE(SCAN_KERNEL_NAME) NULL,
};
static const char *const png_kernels[] = {
    IDAT_KERNELS_TABLE(SCAN_KERNEL_NAME) NULL,
};

static const struct coded_case
    jpeg_cases[] = { { "all kernels", .streams = 1, .kernels = true },
                     { "3 streams", .streams = 3 },
                     { "2 streams", .streams = 2 },
                     { "1 stream", .streams = 1 },
                     { "one processor", .all = false },
                     { "all processors", .all = true },
                     { .name = NULL } },
    png_cases[] = { { "all kernels", .streams = 1, .kernels = true },
                    { "3 streams", .streams = 3 },
                    { "1 stream", .streams = 1 },
                    { "inflate alone, as gimgxf does", .flate = NULL },
                    { "inflate alone, zlib", .flate = &flate_zlib },
                    { .name = NULL } };

static const struct coded_kind
    jpeg_kind = {
        .kind = SCAN_KIND_JPEG,
        .by_kernel = { "jpeg",
                       "Coded JPEG scans, kernel by kernel; bars: of all "
                       "kernels",
                       jpeg_shapes },
        .whole = { "jpeg", "Coded JPEG scans, copies included", jpeg_shapes },
        .shapes = jpeg_shapes,
        .kernels = jpeg_kernels,
        .cases = jpeg_cases,
        .batch = 32 << 20,
        .most = BATCH,
        .make = jpeg_make,
        .is_right = jpeg_is_right,
        .run = jpeg_run,
    },
    png_kind = {
        .kind = SCAN_KIND_PNG,
        .by_kernel = { "png",
                       "PNG image data, kernel by kernel; bars: of all kernels",
                       png_shapes },
        .whole = { "png", "PNG image data, copies included", png_shapes },
        .shapes = png_shapes,
        .kernels = png_kernels,
        .cases = png_cases,
        .batch = 1 << 30,
        .most = 192,
        .make = png_make,
        .is_right = png_is_right,
        .run = png_run,
    };

static bool coded_entry(const void *context, size_t i, struct suite_entry *e)
{
    const struct coded_bed *bed = context;
    const struct coded_kind *kind = bed->kind;
    const struct coded_case *c = &kind->cases[i];
    if (!bed->type || !c->name)
        return false;
    *e = (struct suite_entry){
        .section = c->kernels ? &kind->by_kernel : &kind->whole,
        .name = c->name,
        .origin = !c->streams && kind == &png_kind ? SUITE_LIBRARY : SUITE_OURS,
        .work = { CELL_U8, turn },
        .by.threads = c->all ? bench_processors() : !c->streams,
        .shapes = kind->shapes,
        .parts = c->kernels ? kind->kernels : NULL,
    };
    return true;
}

/* ---- Running ------------------------------------------------------------- */

static void run_one(void *context, size_t i)
{
    struct coded_bed *bed = context;
    struct coded_stream *s = &bed->stream[i % STREAMS];
    if (bed->ccase->streams)
        s->failed =
            bed->type->run(s->engine, s->job, bed->size->count, &s->err) != 0;
    else if (!bed->kind->run(bed, &bed->size->source[i % SOURCES]))
        atomic_fetch_add(&bed->wrong, 1);
}

/* The output may overlay the input. */
static void fill_stream(void *context, size_t i)
{
    struct coded_bed *bed = context;
    struct coded_stream *s = &bed->stream[i];
    for (unsigned k = 0; k < bed->size->count; k++)
        memcpy(s->engine->input + s->job[k].at, s->job[k].of.coded.data,
               s->job[k].size);
}

static int coded_round(void *context, double *seconds, struct err *err)
{
    struct coded_bed *bed = context;
    const struct coded_case *c = bed->ccase;
    memset(bed->kernels, 0, sizeof bed->kernels);
    atomic_store(&bed->wrong, 0);
    thread_pool_run(bed->pool, fill_stream, bed, c->streams);
    const double begin = now();
    thread_pool_run(bed->pool, run_one, bed,
                    c->streams ? c->streams : bed->files);
    seconds[0] = now() - begin;
    for (unsigned i = 0; i < c->streams; i++)
        if (bed->stream[i].failed)
            return fail(err, "%s", bed->stream[i].err.text);
    if (c->kernels)
        seconds[0] = 0;
    for (unsigned k = 0; c->kernels && bed->kind->kernels[k]; k++)
        seconds[0] += seconds[2 + k] = bed->kernels[k];
    return 0;
}

/* Equal pictures become equal data. */
static bool is_right(struct coded_bed *bed, const struct coded_stream *s,
                     unsigned i)
{
    const struct scan_job *job = &s->job[i], *first = &s->job[i % SOURCES];
    const uint8_t *out = s->engine->output;
    if (job->result != SCAN_TURNED)
        return false;
    if (i < SOURCES)
        return bed->kind->is_right(bed, &bed->size->source[i], out + job->out,
                                   job->out_size);
    return job->out_size == first->out_size &&
           memcmp(out + job->out, out + first->out, job->out_size) == 0;
}

static int coded_check(void *context, struct suite_result *result,
                       struct err *err)
{
    struct coded_bed *bed = context;
    const unsigned count = bed->size->count;
    double unused[SUITE_TIMES];
    if (coded_round(bed, unused, err))
        return -1;
    result->cells = bed->files;
    result->wrong = atomic_load(&bed->wrong);
    for (unsigned i = 0; i < bed->ccase->streams * count; i++)
        result->wrong += !is_right(bed, &bed->stream[i / count], i % count);
    return 0;
}

/* ---- Opening ------------------------------------------------------------- */

static int open_stream(struct coded_bed *bed, struct coded_stream *s,
                       struct err *err)
{
    struct scan_engine_opts opts = { .kind = bed->kind->kind,
                                     .device = bed->device,
                                     .seconds = bed->ccase->kernels
                                                    ? bed->kernels
                                                    : NULL };
    const bool jpeg = bed->kind == &jpeg_kind;
    for (unsigned i = 0; i < bed->size->count; i++) {
        const struct coded_source *source = &bed->size->source[i % SOURCES];
        s->to[i] = source->to.scan[0].coding;
        s->job[i] = (struct scan_job){
            .of = { .idat = jpeg ? NULL : &source->idat,
                    .from = jpeg ? &source->from.scan[0].coding : NULL,
                    .to = jpeg ? &s->to[i] : NULL,
                    .turn = turn,
                    .coded = source->coded },
            .at = opts.input,
            .size = source->coded.size,
        };
        opts.input += aligned(source->coded.size);
    }
    return bed->type->open(&s->engine, &opts, err);
}

static int coded_open(void *context, size_t number, struct suite_shape shape,
                      struct suite_result *result, struct err *err)
{
    enum { EACH = 8 }; /* pictures of a processor */
    struct coded_bed *bed = context;
    const struct coded_case *c = bed->ccase = &bed->kind->cases[number];
    const unsigned processors = c->all ? bench_processors() : 1;
    if (find_pictures(bed, shape, err))
        return -1;
    bed->files = c->streams ? c->streams * bed->size->count : processors * EACH;
    result->files = bed->files;
    result->launches = 1;
    result->bytes = bed->size->source[0].bytes * bed->files;
    if (c->all && processors == 1)
        result->left_out = "there is one";
    bed->pool = thread_pool_open(c->streams ? c->streams : processors);
    if (!bed->pool)
        return fail(err, "no memory for threads");
    for (unsigned i = 0; i < c->streams; i++)
        if (open_stream(bed, &bed->stream[i], err))
            return -1;
    return 0;
}

static void coded_close(void *context)
{
    struct coded_bed *bed = context;
    for (unsigned i = 0; i < STREAMS; i++) {
        bed->type->close(bed->stream[i].engine);
        bed->stream[i].engine = NULL;
    }
    thread_pool_close(bed->pool);
    bed->pool = NULL;
}

static void *coded_begin(const struct coded_kind *kind,
                         const struct suite_place *place, struct err *err)
{
    const struct scan_engine_type *type = backend_choose_engine();
    struct coded_bed *bed = calloc(1, sizeof *bed);
    struct err ignored;
    unsigned devices;
    if (!bed) {
        fail(err, "no memory");
        return NULL;
    }
    bed->kind = kind;
    bed->type = type && type->devices(&devices, &ignored) == 0 ? type : NULL;
    bed->device = place->device;
    return bed;
}

static void *jpeg_begin(const struct suite_place *place, struct err *err)
{
    return coded_begin(&jpeg_kind, place, err);
}

static void *png_begin(const struct suite_place *place, struct err *err)
{
    return coded_begin(&png_kind, place, err);
}

static void coded_end(void *context)
{
    struct coded_bed *bed = context;
    for (unsigned i = 0; i < SIZES * SOURCES; i++) {
        struct coded_source *s = &bed->sizes[i / SOURCES].source[i % SOURCES];
        if (bed->kind == &png_kind)
            free(s->coded.data); /* else it is a part of the file */
        bytes_free(&s->file);
        bytes_free(&s->made);
        sequential_free(&s->from);
        free(s->pixels);
    }
    for (unsigned i = 0; i < SIZES; i++)
        free(bed->sizes[i].rows);
    free(bed);
}

const struct suite_bed_type bench_jpeg_bed = {
    11,         jpeg_begin,  coded_end,   coded_entry,
    coded_open, coded_round, coded_check, coded_close,
};
const struct suite_bed_type bench_png_bed = {
    5,          png_begin,   coded_end,   coded_entry,
    coded_open, coded_round, coded_check, coded_close,
};
