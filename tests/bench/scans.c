/* Engines that turn coded scans: checked against the coder on the CPU, and
 * timed.
 *
 *     scans [--engine cuda|serial|cpu] [--size WxH] [--pictures N] [--rounds N]
 *           [--engines N] [--turn NAME] [--optimize] [FILE...]
 *
 * The files are turned in one batch; where there are none, pictures that are
 * made here: noise of all scales, as photographs have it, 4:2:0, quality 90.
 * Prints what is refused or differs, and ends with status 1 if anything
 * differs; then how long a picture takes in each kernel, in a batch that waits
 * for itself, and with several engines at a time. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/base/clock.h"
#include "cuda/backend_choose.h"
#include "cuda/jpeg/scan_device.h"
#include "tests/support/jpeg_file.h"
#include "tests/support/must.h"
#include "tests/support/scan_engine_cpu.h"
#include "tests/support/scan_engine_serial.h"
#include "tests/support/scan_jobs.h"
#include "tests/support/test.h"

enum { MADE = 8, ENGINES_MOST = 16, ROUNDS_MOST = 10000 };

struct options {
    const struct scan_engine_type *type;
    const char *engine;
    uint32_t width, height;
    unsigned pictures, rounds, engines;
    enum xform turn;
    bool optimize;
    char **file;
    int files;
};

/* ---- Pictures ----------------------------------------------------------- */

static unsigned hash(uint32_t x, uint32_t y, uint32_t z)
{
    uint32_t h = x * 0x9e3779b1u ^ y * 0x85ebca77u ^ z * 0xc2b2ae3du;
    h = (h ^ h >> 15) * 0x2c1b3c6du;
    h = (h ^ h >> 12) * 0x297a2d39u;
    return (h ^ h >> 15) & 255;
}

/* Smooth noise of one scale, from 0 to 255. */
static int noise_at(uint32_t x, uint32_t y, unsigned scale, uint32_t seed)
{
    const int size = 1 << scale, fx = (int)(x & (uint32_t)(size - 1)),
              fy = (int)(y & (uint32_t)(size - 1));
    const uint32_t cx = x >> scale, cy = y >> scale;
    int top = (int)hash(cx, cy, seed) * (size - fx) +
              (int)hash(cx + 1, cy, seed) * fx;
    int low = (int)hash(cx, cy + 1, seed) * (size - fx) +
              (int)hash(cx + 1, cy + 1, seed) * fx;
    return (top * (size - fy) + low * fy) / (size * size);
}

static void make_row(uint8_t *row, uint32_t y, const struct coding *coding,
                     const void *context)
{
    const uint32_t seed = *(const uint32_t *)context;
    for (uint32_t x = 0; x < coding->width; x++) {
        int light = 0, tint = noise_at(x, y, 6, seed + 50);
        for (unsigned scale = 0; scale < 8; scale++)
            light += (noise_at(x, y, scale, seed + scale) - 128) *
                     (scale < 2 ? 1 : 1 << (scale - 1));
        for (unsigned c = 0; c < 3; c++) {
            int sample = 128 + light / 40 +
                         (c ? (tint - 128) / (int)c / 6 : 0) +
                         ((int)hash(x, y, seed + 99) - 128) / 40;
            *row++ = (uint8_t)(sample < 0 ? 0 : sample > 255 ? 255 : sample);
        }
    }
}

static struct bytes make_picture(const struct options *opts, uint32_t seed)
{
    const struct coding coding = { .width = opts->width,
                                   .height = opts->height,
                                   .space = JCS_YCbCr,
                                   .h = 2,
                                   .v = 2,
                                   .quality = 90,
                                   .standard = true };
    return make_jpeg_of(&coding, make_row, &seed);
}

static struct bytes read_whole(const char *name)
{
    struct bytes file = { 0 };
    FILE *in = fopen(name, "rb");
    uint8_t part[1 << 16];
    size_t n;
    while (in && (n = fread(part, 1, sizeof part, in)) > 0)
        must(bytes_append(&file, part, n));
    if (in)
        fclose(in);
    return file;
}

/* ---- Checks ------------------------------------------------------------- */

static const char *word(enum scan_result result)
{
    return result == SCAN_TURNED ? "turned" : "refused";
}

/* Returns how many jobs differ from what the CPU makes of them; a file that it
 * turns may be refused. */
static unsigned check(struct scan_batch *cpu, struct scan_batch *batch,
                      const char *const *name)
{
    unsigned wrong = 0, refused = 0, turned = 0;
    scan_batch_run(cpu);
    scan_batch_run(batch);
    for (size_t i = 0; i < batch->jobs; i++) {
        const struct scan_job *a = &cpu->job[i], *b = &batch->job[i];
        const bool same = scan_batch_same(cpu, batch, i);
        turned += b->result == SCAN_TURNED;
        refused += b->result != a->result;
        wrong += !same && b->result == SCAN_TURNED;
        if (!same)
            printf("%s, turn %d: %s, %zu bytes; the CPU: %s, %zu\n",
                   name ? name[i] : "made", b->turn, word(b->result),
                   b->out_size, word(a->result), a->out_size);
    }
    printf("%zu scans: %u turned, %u wrong, %u refused that the CPU turns\n",
           batch->jobs, turned, wrong, refused);
    return wrong;
}

static unsigned check_files(const struct options *opts)
{
    struct scan_batch cpu = scan_batch_open(&scan_engine_cpu, 64 << 20);
    struct scan_batch batch = scan_batch_open(opts->type, 64 << 20);
    const char **name = calloc((size_t)opts->files * 32 + 1, sizeof *name);
    unsigned wrong = 0;
    must(name != NULL);
    for (int i = 0; i < opts->files; i++) {
        struct bytes file = read_whole(opts->file[i]);
        for (unsigned t = 0; t < 2u * XFORM_COUNT; t++) {
            size_t before = cpu.jobs;
            if (file.size == 0 ||
                !scan_batch_add(&cpu, file, (enum xform)(t / 2), t % 2))
                continue;
            if (!scan_batch_add(&batch, file, (enum xform)(t / 2), t % 2))
                abort();
            while (before < cpu.jobs)
                name[before++] = opts->file[i];
        }
        bytes_free(&file);
        if (cpu.used > (size_t)24 << 20 || i + 1 == opts->files) {
            wrong += check(&cpu, &batch, name);
            scan_batch_clear(&cpu);
            scan_batch_clear(&batch);
        }
    }
    scan_batch_close(&cpu);
    scan_batch_close(&batch);
    free(name);
    return wrong;
}

/* ---- Times -------------------------------------------------------------- */

static const char *const kernel_names[SCAN_KERNELS] = {
    [SCAN_UNSTUFF_COUNT] = "unstuff, count",
    [SCAN_UNSTUFF_SUM] = "unstuff, sum",
    [SCAN_UNSTUFF] = "unstuff",
    [SCAN_SEEK] = "synchronize",
    [SCAN_JOIN] = "join tiles",
    [SCAN_COUNTS_SUM] = "sum of blocks",
    [SCAN_WRITE] = "decode",
    [SCAN_SAMPLES] = "samples",
    [SCAN_UNITS] = "units",
    [SCAN_CAP] = "cap",
    [SCAN_BLOCKS] = "blocks",
    [SCAN_MEASURE_TILE] = "measure",
    [SCAN_BITS_SUM] = "sum of bits",
    [SCAN_COUNT_TILE] = "count symbols",
    [SCAN_EMIT_TILE] = "encode",
    [SCAN_STUFF_COUNT] = "stuff, count",
    [SCAN_STUFF_SUM] = "stuff, sum",
    [SCAN_STUFF] = "stuff",
};

static void fill(struct scan_batch *batch, const struct options *opts,
                 const struct bytes *made)
{
    for (unsigned i = 0; i < opts->pictures; i++)
        must(scan_batch_add(batch, made[i % MADE], opts->turn, opts->optimize));
}

static size_t room_for(const struct options *opts, const struct bytes *made)
{
    return (made->size * 5 / 4 + 65536) * opts->pictures;
}

static void time_kernels(const struct options *opts, const struct bytes *made)
{
    double seconds[SCAN_KERNELS] = { 0 }, all = 0;
    struct scan_batch batch =
        scan_batch_open_timed(opts->type, room_for(opts, made), seconds);
    fill(&batch, opts, made);
    scan_batch_run(&batch);
    memset(seconds, 0, sizeof seconds);
    for (unsigned r = 0; r < opts->rounds; r++)
        scan_batch_run(&batch);
    for (unsigned i = 0; i < SCAN_KERNELS; i++) {
        double each = seconds[i] * 1e6 / opts->rounds / opts->pictures;
        printf("%-16s %8.2f us a picture\n", kernel_names[i], each);
        all += each;
    }
    printf("%-16s %8.2f us a picture, %.0f a second on the device alone\n",
           "all kernels", all, 1e6 / all);
    scan_batch_close(&batch);
}

struct runner {
    struct scan_batch batch;
    unsigned rounds;
};

static void *run_rounds(void *context)
{
    struct runner *runner = context;
    for (unsigned r = 0; r < runner->rounds; r++)
        scan_batch_run(&runner->batch);
    return NULL;
}

static void time_engines(const struct options *opts, const struct bytes *made,
                         unsigned engines)
{
    struct runner runner[ENGINES_MOST];
    pthread_t thread[ENGINES_MOST];
    for (unsigned i = 0; i < engines; i++) {
        runner[i].batch = scan_batch_open(opts->type, room_for(opts, made));
        runner[i].rounds = opts->rounds;
        fill(&runner[i].batch, opts, made);
        scan_batch_run(&runner[i].batch);
    }
    double begin = clock_seconds(CLOCK_MONOTONIC);
    for (unsigned i = 0; i < engines; i++)
        must(pthread_create(&thread[i], NULL, run_rounds, &runner[i]) == 0);
    for (unsigned i = 0; i < engines; i++)
        pthread_join(thread[i], NULL);
    double all = clock_seconds(CLOCK_MONOTONIC) - begin;
    printf("%u engine%s: %.2f us a picture, %.0f a second\n", engines,
           engines > 1 ? "s" : "",
           all * 1e6 / opts->rounds / opts->pictures / engines,
           opts->rounds * (double)opts->pictures * engines / all);
    for (unsigned i = 0; i < engines; i++)
        scan_batch_close(&runner[i].batch);
}

static unsigned measure(const struct options *opts)
{
    struct bytes made[MADE];
    size_t size = 0;
    unsigned wrong;
    for (uint32_t i = 0; i < MADE; i++) {
        made[i] = make_picture(opts, 1000 * i);
        size += made[i].size;
    }
    struct scan_batch cpu =
        scan_batch_open(&scan_engine_cpu, room_for(opts, made));
    struct scan_batch batch = scan_batch_open(opts->type, room_for(opts, made));
    fill(&cpu, opts, made);
    fill(&batch, opts, made);
    printf("%u pictures of %u x %u, about %zu bytes each\n", opts->pictures,
           opts->width, opts->height, size / MADE);
    wrong = check(&cpu, &batch, NULL);
    scan_batch_close(&cpu);
    scan_batch_close(&batch);
    time_kernels(opts, made);
    for (unsigned engines = 1; engines <= opts->engines; engines++)
        time_engines(opts, made, engines);
    for (unsigned i = 0; i < MADE; i++)
        bytes_free(&made[i]);
    return wrong;
}

/* ---- Options ------------------------------------------------------------ */

static const struct scan_engine_type *find_engine(const char *name)
{
    if (strcmp(name, "cpu") == 0)
        return &scan_engine_cpu;
    if (strcmp(name, "serial") == 0)
        return &scan_engine_serial;
    if (strcmp(name, "cuda") == 0 && backend_choose_engine())
        return backend_choose_engine();
    fprintf(stderr, "scans: this build has no engine '%s'\n", name);
    exit(2);
}

static bool read_option(struct options *opts, const char *name,
                        const char *value)
{
    if (strcmp(name, "--engine") == 0)
        opts->engine = value;
    else if (strcmp(name, "--size") == 0)
        return sscanf(value, "%ux%u", &opts->width, &opts->height) == 2;
    else if (strcmp(name, "--pictures") == 0)
        return sscanf(value, "%u", &opts->pictures) == 1 && opts->pictures;
    else if (strcmp(name, "--rounds") == 0)
        return sscanf(value, "%u", &opts->rounds) == 1 && opts->rounds;
    else if (strcmp(name, "--engines") == 0)
        return sscanf(value, "%u", &opts->engines) == 1 &&
               opts->engines <= ENGINES_MOST;
    else if (strcmp(name, "--turn") == 0)
        return xform_parse(value, &opts->turn);
    else
        return false;
    return true;
}

int main(int argc, char **argv)
{
    struct options opts = { .engine = "cuda",
                            .width = 1920,
                            .height = 1088,
                            .pictures = 76,
                            .rounds = 20,
                            .engines = 3,
                            .turn = XFORM_ROTATE_90 };
    int i = 1;
    for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
        if (strcmp(argv[i], "--optimize") == 0) {
            opts.optimize = true;
            continue;
        }
        if (i + 1 == argc || !read_option(&opts, argv[i], argv[i + 1])) {
            fprintf(stderr, "scans: wrong option '%s'\n", argv[i]);
            return 2;
        }
        i++;
    }
    opts.type = find_engine(opts.engine);
    opts.file = argv + i;
    opts.files = argc - i;
    return (opts.files ? check_files(&opts) : measure(&opts)) ? 1 : 0;
}
