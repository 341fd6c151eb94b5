/* The bed of coded JPEG scans, which a device turns in batches
 * (cuda/jpeg/scan_engine.h): kernel by kernel, and with several batches at a
 * time; beside NVIDIA's codec, and the processors. All that the device makes is
 * compared with what a processor makes. A kernel has a share, of all of them.
 */
#include "cli/bench/bench.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/base/clock.h"
#include "codecs/base/thread_pool.h"
#include "codecs/codec.h"
#include "codecs/jpeg/entropy/sequential.h"
#include "cuda/bench/verify.h"
#include "cuda/jpeg/scan_device.h"
#include "cuda/jpeg/scan_engine.h"

enum {
    STREAMS = 3,      /* batches at a time, at most */
    SOURCES = 8,      /* different pictures */
    EACH = 4,         /* pictures of a processor */
    BATCH = 32 << 20, /* bytes of a batch, about */
    QUALITY = 88,     /* the highest one that is 4:2:0 */
};

/* A picture of one scan, and the file that a processor makes of it. */
struct jpeg_source {
    struct bytes file, made;
    struct sequential from;
};

/* The pictures of a size. */
struct jpeg_size {
    struct suite_shape shape; /* {0}: there are none */
    struct jpeg_source source[SOURCES];
    unsigned count; /* of a batch: the sources in turns */
    size_t bytes;   /* of the coded data of a batch */
};

/* A batch on its way through a device, again and again. */
struct jpeg_stream {
    struct scan_engine *engine;
    struct scan_job job[SUITE_BATCH];
    struct entropy_scan to[SUITE_BATCH]; /* of each job */
    bool failed;
    struct err err;
};

struct jpeg_bed {
    const struct scan_engine_type *type; /* NULL: there is no device */
    struct suite_place place;

    struct jpeg_size sizes[2]; /* that were run: they stay for later cases */

    /* Of the case that is open. */
    const struct jpeg_case *jcase;
    struct jpeg_size *size;
    struct jpeg_stream stream[STREAMS];
    double kernels[SCAN_KERNELS]; /* seconds of each */
    struct suite_codec *codec;
    struct thread_pool *pool;
    unsigned files; /* of a round */
    atomic_uint wrong;
};

/* ---- Cases --------------------------------------------------------------- */

static const enum xform turn = XFORM_ROTATE_90;
static const struct suite_shape shapes[] = { { 1632, 1216 },
                                             { 4000, 3008 },
                                             { 0 } };
static const struct suite_section
    by_kernel = { "jpeg",
                  "Coded JPEG scans, kernel by kernel; bars: of all kernels",
                  shapes },
    whole = { "jpeg", "Coded JPEG scans, copies included", shapes };

static const char *const kernel_names[] = {
    SCAN_KERNELS_TABLE(SCAN_KERNEL_NAME) NULL,
};

/* What a case has: the kernels of one stream, or so many streams; or a task of
 * nvJPEG; or so many processors. */
static const struct jpeg_case {
    const char *name;
    bool kernels;
    unsigned streams;
    bool decodes, encodes;
    enum suite_decoder by;
    unsigned processors; /* 1, or more: all */
} cases[] = {
    { "all kernels", .kernels = true, .streams = 1 },
    { "3 streams", .streams = 3 },
    { "2 streams", .streams = 2 },
    { "1 stream", .streams = 1 },
    { "nvJPEG, decode", .decodes = true },
    { "nvJPEG, decode by kernels", .decodes = true, .by = SUITE_KERNELS },
    { "nvJPEG, decode by circuits", .decodes = true, .by = SUITE_CIRCUITS },
    { "nvJPEG, encode", .encodes = true },
    { "nvJPEG, decode and encode", .decodes = true, .encodes = true },
    { "nvJPEG, circuits and encode", .decodes = true, .encodes = true,
      .by = SUITE_CIRCUITS },
    { "one processor", .processors = 1 },
    { "all processors", .processors = 2 },
};
enum { CASES = sizeof cases / sizeof cases[0] };

static bool is_nvjpeg(const struct jpeg_case *c)
{
    return c->decodes || c->encodes;
}

static bool jpeg_entry(const void *context, size_t i, struct suite_entry *e)
{
    const struct jpeg_bed *bed = context;
    const struct jpeg_case *c = &cases[i < CASES ? i : 0];
    *e = (struct suite_entry){
        .section = c->kernels ? &by_kernel : &whole,
        .name = c->name,
        .origin = is_nvjpeg(c) ? SUITE_LIBRARY : SUITE_OURS,
        .work = { CELL_U8, turn, 1 },
        .by.threads = c->processors > 1 ? bench_processors() : c->processors,
        .shapes = shapes,
        .parts = c->kernels ? kernel_names : NULL
    };
    return bed->type && i < CASES;
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

const struct scan_engine_type *bench_engine(void)
{
    const struct scan_engine_type *type = backend_choose_engine();
    struct err ignored;
    unsigned devices;
    return type && type->devices(&devices, &ignored) == 0 ? type : NULL;
}

int bench_photograph(struct image *img, struct suite_shape shape,
                     uint32_t number, struct err *err)
{
    *img = (struct image){ .cell = CELL_U8,
                           .nplanes = 3,
                           .width = shape.width,
                           .height = shape.height };
    if (image_alloc(img, mem_plain, err))
        return -1;
    img->color = COLOR_RGB;
    img->maxval = 255;
    img->orientation = 1;
    for (uint32_t y = 0; y < img->height; y++)
        fill_row(img, y, number * 1000);
    return 0;
}

/* Makes a JPEG file, of 0.42 MB for 2 megapixels. The caller frees it. */
static int make_picture(struct bytes *file, struct suite_shape shape,
                        uint32_t number, struct err *err)
{
    struct warnings warnings = { .count = 0 };
    const struct save_opts opts = { .suffix = "jpg",
                                    .quality = QUALITY,
                                    .warnings = &warnings };
    struct image img;
    if (bench_photograph(&img, shape, number, err))
        return -1;
    const int status = codec_jpeg.encode(file, &img, &opts, err);
    image_free(&img);
    return status;
}

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

static struct bytes data_of(const struct jpeg_bed *bed, size_t i)
{
    return bed->size->source[i % SOURCES].from.scan[0].data;
}

static size_t aligned(size_t size)
{
    return (size + SCAN_ALIGNMENT - 1) / SCAN_ALIGNMENT * SCAN_ALIGNMENT;
}

/* Finds the pictures of a size, or makes them and chooses how many a batch
 * has. */
static int find_pictures(struct jpeg_bed *bed, struct suite_shape shape,
                         struct err *err)
{
    size_t end, all = 0;
    struct jpeg_size *size = bed->sizes;
    while (size->shape.width && (size->shape.width != shape.width ||
                                 size->shape.height != shape.height))
        size++; /* there are as many as of shapes */
    bed->size = size;
    if (size->shape.width)
        return 0;
    size->shape = shape;
    for (uint32_t i = 0; i < SOURCES; i++) {
        struct jpeg_source *s = &size->source[i];
        if (make_picture(&s->file, shape, i, err) ||
            sequential_find(&s->from, s->file, &end, err) ||
            turn_file(&s->made, s->file, err))
            return -1;
        all += aligned(data_of(bed, i).size);
    }
    const size_t count = BATCH / (all / SOURCES) + 1;
    size->count = count < SUITE_BATCH ? (unsigned)count : SUITE_BATCH;
    for (unsigned i = 0; i < size->count; i++)
        size->bytes += aligned(data_of(bed, i).size);
    return 0;
}

/* ---- Running ------------------------------------------------------------- */

static void run_stream(void *context, size_t i)
{
    struct jpeg_bed *bed = context;
    struct jpeg_stream *s = &bed->stream[i];
    s->failed =
        bed->type->run(s->engine, s->job, bed->size->count, &s->err) != 0;
}

static void turn_one(void *context, size_t i)
{
    struct jpeg_bed *bed = context;
    const struct jpeg_source *source = &bed->size->source[i % SOURCES];
    struct bytes made = { 0 };
    struct err err;
    if (turn_file(&made, source->file, &err) ||
        made.size != source->made.size ||
        memcmp(made.data, source->made.data, made.size) != 0)
        atomic_fetch_add(&bed->wrong, 1);
    bytes_free(&made);
}

static int run_once(struct jpeg_bed *bed, struct err *err)
{
    const struct jpeg_case *c = bed->jcase;
    if (is_nvjpeg(c))
        return bed->place.suite->codec_run(bed->codec, err);
    thread_pool_run(bed->pool, c->streams ? run_stream : turn_one, bed,
                    c->streams ? c->streams : bed->files);
    for (unsigned i = 0; i < c->streams; i++)
        if (bed->stream[i].failed)
            return fail(err, "%s", bed->stream[i].err.text);
    return 0;
}

static int jpeg_round(void *context, double *seconds, struct err *err)
{
    struct jpeg_bed *bed = context;
    memset(bed->kernels, 0, sizeof bed->kernels);
    const double begin = now();
    if (run_once(bed, err))
        return -1;
    seconds[0] = now() - begin;
    if (bed->jcase->kernels) {
        seconds[0] = 0;
        for (unsigned k = 0; k < SCAN_KERNELS; k++)
            seconds[0] += seconds[2 + k] = bed->kernels[k];
    }
    return 0;
}

/* What a processor makes ends with the data of the scan and EOI. */
static bool is_right(const struct jpeg_bed *bed, const struct jpeg_stream *s,
                     unsigned i)
{
    const struct bytes made = bed->size->source[i % SOURCES].made;
    const struct scan_job *job = &s->job[i];
    const size_t end = made.size - 2;
    return job->result == SCAN_TURNED && job->out_size <= end &&
           memcmp(made.data + end - job->out_size, s->engine->output + job->out,
                  job->out_size) == 0;
}

static int jpeg_check(void *context, struct suite_result *result,
                      struct err *err)
{
    struct jpeg_bed *bed = context;
    if (is_nvjpeg(bed->jcase)) /* which is not ours to check */
        return 0;
    atomic_store(&bed->wrong, 0);
    if (run_once(bed, err))
        return -1;
    result->cells = bed->files;
    result->wrong = atomic_load(&bed->wrong);
    for (unsigned i = 0; i < bed->jcase->streams * bed->size->count; i++)
        result->wrong += !is_right(bed, &bed->stream[i / bed->size->count],
                                   i % bed->size->count);
    return 0;
}

/* ---- Opening ------------------------------------------------------------- */

static int open_stream(struct jpeg_bed *bed, struct jpeg_stream *s,
                       struct err *err)
{
    const struct scan_engine_opts opts = { .device = bed->place.device,
                                           .input = bed->size->bytes,
                                           .seconds = bed->jcase->kernels
                                                          ? bed->kernels
                                                          : NULL };
    size_t at = 0;
    if (bed->type->open(&s->engine, &opts, err))
        return -1;
    for (unsigned i = 0; i < bed->size->count; i++) {
        const struct jpeg_source *source = &bed->size->source[i % SOURCES];
        const struct bytes data = data_of(bed, i);
        struct sequential turned;
        sequential_turn(&turned, &source->from, turn);
        s->to[i] = turned.scan[0].coding;
        s->job[i] =
            (struct scan_job){ .of = { .from = &source->from.scan[0].coding,
                                       .to = &s->to[i],
                                       .turn = turn },
                               .at = at,
                               .size = data.size };
        memcpy(s->engine->input + at, data.data, data.size);
        at += aligned(data.size);
    }
    return 0;
}

static int open_nvjpeg(struct jpeg_bed *bed, struct suite_result *result,
                       struct err *err)
{
    const struct jpeg_case *c = bed->jcase;
    struct bytes file[SOURCES];
    const struct suite_jpeg task = { .file = file,
                                     .files = SOURCES,
                                     .pictures = bed->size->count,
                                     .shape = bed->size->shape,
                                     .quality = QUALITY,
                                     .device = bed->place.device,
                                     .threads = bench_processors(),
                                     .by = c->by,
                                     .decodes = c->decodes,
                                     .encodes = c->encodes };
    for (unsigned i = 0; i < SOURCES; i++)
        file[i] = bed->size->source[i].file;
    if (bed->place.suite)
        return bed->place.suite->codec_open(&bed->codec, &task,
                                            &result->left_out, err);
    result->left_out = "there is no GPU";
    return 0;
}

static int jpeg_open(void *context, size_t number, struct suite_shape shape,
                     struct suite_result *result, struct err *err)
{
    struct jpeg_bed *bed = context;
    const struct jpeg_case *c = &cases[number];
    const unsigned processors = c->processors > 1 ? bench_processors() : 1;
    bed->jcase = c;
    if (find_pictures(bed, shape, err))
        return -1;
    bed->files = c->streams     ? c->streams * bed->size->count
                 : is_nvjpeg(c) ? bed->size->count
                                : processors * EACH;
    result->files = bed->files;
    result->launches = 1;
    result->bytes = bed->size->bytes / bed->size->count * bed->files;
    bed->pool = thread_pool_open(c->streams ? c->streams : processors);
    if (!bed->pool)
        return fail(err, "no memory for threads");
    if (c->processors > 1 && processors == 1)
        result->left_out = "there is one";
    for (unsigned i = 0; i < c->streams; i++)
        if (open_stream(bed, &bed->stream[i], err))
            return -1;
    return is_nvjpeg(c) ? open_nvjpeg(bed, result, err) : 0;
}

static void jpeg_close(void *context)
{
    struct jpeg_bed *bed = context;
    for (unsigned i = 0; i < STREAMS; i++) {
        bed->type->close(bed->stream[i].engine);
        bed->stream[i].engine = NULL;
    }
    if (bed->codec)
        bed->place.suite->codec_close(bed->codec);
    bed->codec = NULL;
    thread_pool_close(bed->pool);
    bed->pool = NULL;
}

static void *jpeg_begin(const struct suite_place *place, struct err *err)
{
    struct jpeg_bed *bed = calloc(1, sizeof *bed);
    if (!bed) {
        fail(err, "no memory");
        return NULL;
    }
    bed->type = bench_engine();
    bed->place = *place;
    return bed;
}

static void jpeg_end(void *context)
{
    struct jpeg_bed *bed = context;
    for (unsigned i = 0; i < 2 * SOURCES; i++) {
        struct jpeg_source *s = &bed->sizes[i / SOURCES].source[i % SOURCES];
        bytes_free(&s->file);
        bytes_free(&s->made);
        sequential_free(&s->from);
    }
    free(bed);
}

const struct suite_bed_type bench_jpeg_bed = {
    11,        jpeg_begin, jpeg_end,   jpeg_entry,
    jpeg_open, jpeg_round, jpeg_check, jpeg_close,
};
