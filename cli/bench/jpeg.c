/* The section "jpeg" of bench: coded JPEG scans that a device turns in batches
 * (cuda/jpeg/scan_engine.h), kernel by kernel, and with several batches at a
 * time; beside NVIDIA's codec, and the processors. All that the device makes is
 * compared with what a processor makes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench/bench.h"
#include "cli/bench/jpeg_batch.h"
#include "cli/bench/jpeg_picture.h"
#include "codecs/base/clock.h"
#include "codecs/base/thread_pool.h"
#include "cuda/backend_choose.h"
#include "cuda/jpeg/scan_device.h"

enum {
    JPEG_ROUNDS = 11,
    STREAMS = 3, /* batches at a time, at most */
    EACH = 32,   /* pictures of a processor */
    ROWS = SCAN_KERNELS + STREAMS + SUITE_JPEG_DECODERS + 8,
};

const char bench_jpeg_section[] = "jpeg";
static const enum xform turn = XFORM_ROTATE_90;
static const struct suite_shape shapes[] = { { 1632, 1216 }, { 4000, 3008 } };
static const char source_kernels[] =
    "Coded JPEG scans, kernel by kernel; bars: of all kernels";
static const char source_whole[] =
    "Coded JPEG scans, copies included; bars: of the fastest";

static const char *const kernel_names[SCAN_KERNELS] = {
    [SCAN_UNSTUFF_COUNT] = "count stuffing",
    [SCAN_UNSTUFF_SUM] = "sum of stuffing",
    [SCAN_UNSTUFF] = "remove stuffing",
    [SCAN_SEEK] = "synchronize",
    [SCAN_JOIN] = "join tiles",
    [SCAN_COUNTS_SUM] = "sum of blocks",
    [SCAN_WRITE] = "decode",
    [SCAN_SAMPLES] = "inverse DCT",
    [SCAN_UNITS] = "sampled DCT",
    [SCAN_CAP] = "choose steps",
    [SCAN_BLOCKS] = "forward DCT",
    [SCAN_PIXELS] = "pixels",
    [SCAN_MEASURE_TILE] = "measure",
    [SCAN_BITS_SUM] = "sum of bits",
    [SCAN_COUNT_TILE] = "count symbols",
    [SCAN_EMIT_TILE] = "encode",
    [SCAN_STUFF_COUNT] = "count 0xff",
    [SCAN_STUFF_SUM] = "sum of 0xff",
    [SCAN_STUFF] = "stuff",
};

struct jpeg_bench {
    struct bench *bench;
    const struct scan_engine_type *type;
    const struct kernel_suite *suite; /* NULL: there is none */
    int device;
    struct suite_shape shape;
    struct jpeg_pictures pictures;
    unsigned rounds;
    uint64_t checked, wrong;
    struct bench_row row[ROWS];
    unsigned rows;
};

/* ---- Rows ---------------------------------------------------------------- */

/* Adds a row that takes so many seconds for so many pictures. */
static struct bench_row *add_row(struct jpeg_bench *b, const char *source,
                                 const char *name, enum suite_origin origin,
                                 double seconds, unsigned pictures)
{
    struct bench_row *row = &b->row[b->rows++];
    *row = (struct bench_row){
        .entry = { .section = bench_jpeg_section,
                   .source = source,
                   .name = name,
                   .origin = origin,
                   .turn = turn,
                   .nplanes = 1,
                   .npictures = 1 },
        .shape = b->shape,
        .result = { .bytes = b->pictures.bytes / b->pictures.count * pictures,
                    .median = seconds,
                    .min = seconds,
                    .max = seconds,
                    .rounds = b->rounds,
                    .launches = 1 },
        .pictures = pictures,
    };
    return row;
}

static int open_stream(const struct jpeg_bench *b, struct jpeg_stream *stream,
                       double *seconds, struct err *err)
{
    return jpeg_stream_open(stream, &b->pictures, b->type, b->device, seconds,
                            err);
}

static void check(struct jpeg_bench *b, const struct jpeg_stream *stream)
{
    b->wrong += jpeg_stream_wrong(stream);
    b->checked += b->pictures.count;
}

static void add_kernel(struct jpeg_bench *b, const char *name, double seconds,
                       double share)
{
    struct bench_row *row = add_row(b, source_kernels, name, SUITE_OURS,
                                    seconds, b->pictures.count);
    row->share = share;
    row->part = true;
}

/* Adds rows of the kernels that ran, of so many seconds each. */
static void add_kernels(struct jpeg_bench *b, const double *seconds)
{
    double all = 0;
    for (unsigned i = 0; i < SCAN_KERNELS; i++)
        all += seconds[i];
    for (unsigned i = 0; i < SCAN_KERNELS; i++)
        if (seconds[i] > 0)
            add_kernel(b, kernel_names[i], seconds[i], seconds[i] / all);
    if (all > 0)
        add_kernel(b, "all kernels", all, 1);
}

static int time_kernels(struct jpeg_bench *b, struct err *err)
{
    double seconds[SCAN_KERNELS] = { 0 };
    struct jpeg_stream stream;
    int status = open_stream(b, &stream, seconds, err);
    if (status == 0) {
        stream.rounds = 1; /* in the first one memory is taken */
        jpeg_stream_run(&stream);
        memset(seconds, 0, sizeof seconds);
        stream.rounds = b->rounds;
        jpeg_stream_run(&stream);
        if (stream.failed)
            status = fail(err, "%s", stream.err.text);
        else
            check(b, &stream);
    }
    jpeg_stream_close(&stream);
    for (unsigned i = 0; i < SCAN_KERNELS; i++)
        seconds[i] /= b->rounds;
    if (status == 0)
        add_kernels(b, seconds);
    return status;
}

struct jpeg_streams {
    struct jpeg_stream stream[STREAMS];
};

static void run_stream(void *context, size_t i)
{
    struct jpeg_streams *all = context;
    jpeg_stream_run(&all->stream[i]);
}

static int run_streams(struct jpeg_streams *all, struct thread_pool *pool,
                       unsigned n, unsigned rounds, struct err *err)
{
    for (unsigned i = 0; i < n; i++)
        all->stream[i].rounds = rounds;
    thread_pool_run(pool, run_stream, all, n);
    for (unsigned i = 0; i < n; i++)
        if (all->stream[i].failed)
            return fail(err, "%s", all->stream[i].err.text);
    return 0;
}

/* Times so many batches at a time. */
static int time_streams(struct jpeg_bench *b, struct jpeg_streams *all,
                        unsigned n, struct err *err)
{
    static const char *const names[STREAMS] = { "1 stream", "2 streams",
                                                "3 streams" };
    struct thread_pool *pool = thread_pool_open(n);
    if (!pool)
        return fail(err, "no memory for threads");
    int status = run_streams(all, pool, n, 1, err);
    const double begin = now();
    if (status == 0)
        status = run_streams(all, pool, n, b->rounds, err);
    const double seconds = (now() - begin) / b->rounds;
    thread_pool_close(pool);
    for (unsigned i = 0; status == 0 && i < n; i++)
        check(b, &all->stream[i]);
    if (status == 0)
        add_row(b, source_whole, names[n - 1], SUITE_OURS, seconds,
                n * b->pictures.count)
            ->entry.npictures = b->pictures.count;
    return status;
}

static int time_device(struct jpeg_bench *b, struct err *err)
{
    struct jpeg_streams all = { 0 };
    int status = 0;
    for (unsigned i = 0; status == 0 && i < STREAMS; i++) {
        status = open_stream(b, &all.stream[i], NULL, err);
        if (status == 0)
            status = time_streams(b, &all, i + 1, err);
    }
    for (unsigned i = 0; i < STREAMS; i++)
        jpeg_stream_close(&all.stream[i]);
    return status;
}

/* ---- Beside it ----------------------------------------------------------- */

static void turn_one(void *context, size_t i)
{
    const struct jpeg_pictures *pictures = context;
    struct bytes made = { 0 };
    struct err err;
    if (jpeg_turn(&made, jpeg_pictures_get(pictures, i)->file, pictures->turn,
                  &err))
        abort(); /* it has been turned before */
    bytes_free(&made);
}

static int time_processors(struct jpeg_bench *b, unsigned threads,
                           const char *name, struct err *err)
{
    struct thread_pool *pool = thread_pool_open(threads);
    const unsigned pictures = threads * EACH;
    if (!pool)
        return fail(err, "no memory for threads");
    thread_pool_run(pool, turn_one, &b->pictures, threads);
    const double begin = now();
    thread_pool_run(pool, turn_one, &b->pictures, pictures);
    struct bench_row *row =
        add_row(b, source_whole, name, SUITE_OURS, now() - begin, pictures);
    row->threads = threads;
    row->result.rounds = 1;
    thread_pool_close(pool);
    return 0;
}

static int time_nvjpeg(struct jpeg_bench *b, struct err *err)
{
    static const char *const names[SUITE_JPEG_DECODERS] = {
        "nvJPEG, decode", "nvJPEG, decode by kernels",
        "nvJPEG, decode by circuits"
    };
    struct bytes file[JPEG_SOURCES];
    struct suite_jpeg_times times;
    const struct suite_jpeg task = { .file = file,
                                     .files = JPEG_SOURCES,
                                     .pictures = b->pictures.count,
                                     .shape = b->shape,
                                     .quality = JPEG_PICTURE_QUALITY,
                                     .device = b->device,
                                     .threads = bench_processors(),
                                     .rounds = b->rounds };
    for (unsigned i = 0; i < JPEG_SOURCES; i++)
        file[i] = b->pictures.source[i].file;
    if (!b->suite)
        return 0;
    if (b->suite->jpeg(&task, &times, err))
        return -1;
    double least = 0;
    for (unsigned i = 0; i < SUITE_JPEG_DECODERS; i++) {
        const double seconds = times.decode[i];
        if (seconds > 0)
            add_row(b, source_whole, names[i], SUITE_LIBRARY, seconds,
                    b->pictures.count);
        if (seconds > 0 && (least == 0 || seconds < least))
            least = seconds;
    }
    if (times.encode > 0)
        add_row(b, source_whole, "nvJPEG, encode", SUITE_LIBRARY, times.encode,
                b->pictures.count);
    const bool both = least > 0 && times.encode > 0;
    struct bench_row *row =
        add_row(b, source_whole, "nvJPEG, decode and encode", SUITE_LIBRARY,
                both ? least + times.encode : 0, b->pictures.count);
    if (!both)
        snprintf(row->result.left_out, sizeof row->result.left_out, "%s",
                 times.left_out[0] ? times.left_out
                                   : "it does not decode and encode here");
    return 0;
}

/* ---- All ----------------------------------------------------------------- */

static double rate_of(const struct bench_row *row)
{
    return row->result.median > 0 ? row->pictures / row->result.median : 0;
}

/* Shows the rows of one size: what was wrong stands in the first one. */
static int show_rows(struct jpeg_bench *b, struct err *err)
{
    double most = 0;
    for (unsigned i = 0; i < b->rows; i++)
        if (b->row[i].entry.source == source_whole &&
            rate_of(&b->row[i]) > most)
            most = rate_of(&b->row[i]);
    for (unsigned i = 0; i < b->rows; i++) {
        struct bench_row *row = &b->row[i];
        if (row->entry.source == source_whole)
            row->share = rate_of(row) / most;
        row->result.cells = i == 0 ? b->checked : 0;
        row->result.wrong = i == 0 ? b->wrong : 0;
        if (bench_add(b->bench, row, err))
            return -1;
    }
    return 0;
}

static int run_size(struct jpeg_bench *b, struct err *err)
{
    const unsigned processors = bench_processors();
    b->rows = 0;
    b->checked = b->wrong = 0;
    int status = jpeg_pictures_make(&b->pictures, b->shape, turn, err) ||
                         time_kernels(b, err) || time_device(b, err) ||
                         time_nvjpeg(b, err) ||
                         time_processors(b, 1, "one processor", err) ||
                         (processors > 1 &&
                          time_processors(b, processors, "all processors", err))
                     ? -1
                     : 0;
    jpeg_pictures_free(&b->pictures);
    return status ? -1 : show_rows(b, err);
}

int bench_jpeg(struct bench *bench, const struct kernel_suite *suite,
               struct err *err)
{
    const struct bench_opts *o = &bench->opts;
    const struct suite_entry entry = { .section = bench_jpeg_section,
                                       .source = source_whole,
                                       .name = "JPEG" };
    const struct scan_engine_type *type = backend_choose_engine();
    struct err ignored;
    unsigned devices;
    if (!type || o->cpu || o->profile || !bench_wants(bench, &entry) ||
        type->devices(&devices, &ignored))
        return 0;
    struct jpeg_bench *b = calloc(1, sizeof *b);
    int status = b ? 0 : fail(err, "no memory");
    const size_t sizes = o->size.width ? 1 : sizeof shapes / sizeof *shapes;
    for (size_t i = 0; status == 0 && i < sizes; i++) {
        *b =
            (struct jpeg_bench){ .bench = bench,
                                 .type = type,
                                 .suite = suite,
                                 .device = o->devices.number[0],
                                 .shape = bench_shape(bench, &entry, shapes[i]),
                                 .rounds = o->rounds ? (unsigned)o->rounds
                                                     : JPEG_ROUNDS };
        status = run_size(b, err);
    }
    free(b);
    return status;
}
