/* The order of a batch of PNG pictures: what is copied, launched and decided.
 *
 * All pictures go through all kernels: one that is refused costs no more than
 * another. Sizes are known beforehand but for those of what is made, which are
 * fetched first: then each stream is copied to its place in the output. */
#include "cuda/png/idat_device.h"

#include <string.h>

#include "cuda/png/idat_code.h"
#include "cuda/png/idat_inflate.h"

enum { ALIGNMENT = 256 };

/* What is on the device, in this order, in one block of memory. */
struct idat_layout {
    uint64_t file, band;                  /* which are copied from the host */
    uint64_t status, code, token, input;  /* offsets */
    uint64_t out, out_end, memory, whole; /* `memory`: of the rest */
};

struct idat_batch {
    const struct scan_device *device;
    struct scan_job *jobs;
    size_t n;
    struct idat_file *file; /* of the first `files` jobs */
    struct idat_band *bands;
    struct idat_status *status;
    struct idat_layout at;
    uint32_t files, band, row, tile; /* how many there are */
    size_t input;                    /* bytes */
    uint8_t *base;                   /* on the device */
    struct idat_params params;
};

static uint64_t take(uint64_t *end, uint64_t size)
{
    const uint64_t at = (*end + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    *end = at + size;
    return at;
}

static struct idat_shape shape_of(uint32_t width, uint32_t height,
                                  unsigned pixel)
{
    struct idat_shape shape = { .width = width, .height = height };
    const uint64_t row = (uint64_t)width * pixel;
    /* A step of undoing filters may write behind a row. */
    const uint64_t pitch =
        (row + UNDO_CHUNK + IDAT_PITCH - 1) / IDAT_PITCH * IDAT_PITCH;
    if (pitch * height > IDAT_SIZE_MAX)
        return shape;
    shape.row = (uint32_t)row + 1;
    shape.size = shape.row * height;
    shape.pitch = (uint32_t)pitch;
    return shape;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Describes the picture of a job, but for what it becomes as an array. Returns
 * false if it does not suit. */
static bool describe(struct idat_file *f, const struct scan_job *job)
{
    const struct idat_turn *of = job->of.idat;
    const bool exchanges = xform_transposes(job->of.turn);
    *f = (struct idat_file){ .of = *of,
                             .in = job->at,
                             .in_size = (uint32_t)job->size };
    if (job->size > IDAT_SIZE_MAX)
        return false;
    if (!of->x_step) {
        f->from = shape_of(of->width, of->height, of->pixel);
        f->of.x_step = of->pixel;
        f->of.y_step = f->from.pitch;
        for (uint32_t k = 0; k < of->pixel; k++)
            f->of.byte[k] = k;
        if (!f->from.size || job->size <= IDAT_STREAM_HEAD + IDAT_CHECKSUM)
            return false;
    }
    if (job->of.pixels)
        return true;
    f->of.indexed = f->of.keyed = false;
    f->to = exchanges ? shape_of(of->height, of->width, of->pixel)
                      : shape_of(of->width, of->height, of->pixel);
    return f->to.size;
}

/* Lays out what a picture needs beside its data, behind *end. */
static void lay_out_file(struct idat_file *f, const struct scan_turn *of,
                         uint32_t tile, uint64_t *end)
{
    const struct scan_pixels rows = { .channels = f->of.pixel,
                                      .joined = true,
                                      .cell = CELL_U8,
                                      .width = f->to.width,
                                      .height = f->to.height,
                                      .stride = f->to.pitch };
    const uint64_t strips =
        (uint64_t)IDAT_STRIPS * IDAT_CHOICES * idat_strip_bytes(f);
    const uint64_t behind = 2 * sizeof(uint64_t); /* what idat_load() reads */
    f->rows = take(end, larger(f->from.size, f->to.size) + behind);
    f->pixels = take(
        end, larger((uint64_t)f->from.pitch * f->from.height, strips) + behind);
    f->turned = take(end, (uint64_t)f->to.pitch * f->to.height);
    f->matches = take(end, INFLATE_MATCHES * sizeof(uint64_t));
    f->items = take(end, INFLATE_ITEMS * INFLATE_THREADS * sizeof(uint32_t));
    f->array = of->pixels ? array_of(of->pixels, of->turn, tile, f->out)
                          : array_of(&rows, of->turn, tile, f->turned);
}

/* Returns the bytes that the first pictures need on the device. */
static uint64_t lay_out(struct idat_batch *b, uint32_t files)
{
    uint64_t end = 0;
    b->band = b->row = b->tile = 0;
    for (uint32_t i = 0; i < files; i++) {
        struct idat_file *f = &b->file[i];
        f->band = b->band;
        f->before[IDAT_ROWS] = b->row;
        b->band += idat_bands(f);
        b->row += (f->to.height + IDAT_ROWS_EACH - 1) / IDAT_ROWS_EACH;
    }
    b->at.file = take(&end, files * sizeof(struct idat_file));
    b->at.band = take(&end, b->band * sizeof(struct idat_band));
    b->at.status = take(&end, files * sizeof(struct idat_status));
    b->at.code = take(&end, b->band * sizeof(struct idat_code));
    b->at.token = take(&end, (uint64_t)b->band * IDAT_BAND * sizeof(uint32_t));
    b->at.input = take(&end, b->input + sizeof(uint64_t));
    b->at.memory = take(&end, 0);
    uint64_t memory = 0;
    b->at.out = b->at.memory;
    for (uint32_t i = 0; i < files; i++) {
        struct idat_file *f = &b->file[i];
        const struct scan_pixels *pixels = b->jobs[f->job].of.pixels;
        f->out = take(&memory, pixels ? pixels->size : idat_most_made(f));
    }
    b->at.out_end = memory;
    for (uint32_t i = 0; i < files; i++) {
        struct idat_file *f = &b->file[i];
        f->before[IDAT_TILES] = b->tile;
        lay_out_file(f, &b->jobs[f->job].of, b->tile, &memory);
        b->tile += array_tiles(&f->array);
    }
    return b->at.whole = end + memory;
}

/* Chooses the pictures that suit. Fails if there is no memory for all, so that
 * batches become smaller. */
static int choose(struct idat_batch *b, uint64_t memory, struct err *err)
{
    const struct scan_device *d = b->device;
    size_t bands = 0;
    for (size_t i = 0; i < b->n; i++) {
        struct idat_file f;
        b->jobs[i].result = SCAN_REFUSED;
        if (describe(&f, &b->jobs[i]))
            bands += idat_bands(&f);
    }
    b->file = d->memory(
        d->context, SCAN_TABLES,
        b->n * sizeof *b->file + ALIGNMENT + bands * sizeof *b->bands, err);
    if (!b->file)
        return -1;
    b->bands =
        (struct idat_band *)(void *)((uint8_t *)b->file +
                                     (b->n * sizeof *b->file + ALIGNMENT - 1) /
                                         ALIGNMENT * ALIGNMENT);
    for (size_t i = 0; i < b->n; i++) {
        const size_t end = b->jobs[i].at + b->jobs[i].size;
        if (!describe(&b->file[b->files], &b->jobs[i]))
            continue;
        b->file[b->files++].job = (uint32_t)i;
        b->input = end > b->input ? end : b->input;
    }
    if (b->files > 1 && lay_out(b, b->files) > memory)
        return fail_memory(err, "no memory for so many pictures");
    if (b->files && lay_out(b, b->files) > memory)
        b->files = 0;
    for (uint32_t i = 0; i < b->files; i++)
        for (uint32_t k = 0; k < idat_bands(&b->file[i]); k++)
            b->bands[b->file[i].band + k] = (struct idat_band){ .file = i };
    return 0;
}

static int upload(struct idat_batch *b, const uint8_t *input, struct err *err)
{
    const struct scan_device *d = b->device;
    const struct idat_layout *at = &b->at;
    b->base = d->memory(d->context, SCAN_ON_DEVICE, at->whole, err);
    if (!b->base)
        return -1;
    b->params = (struct idat_params){
        .file = (void *)(b->base + at->file),
        .status = (void *)(b->base + at->status),
        .band = (void *)(b->base + at->band),
        .code = (void *)(b->base + at->code),
        .token = (void *)(b->base + at->token),
        .input = b->base + at->input,
        .memory = b->base + at->memory,
        .files = b->files,
    };
    return d->copy(d->context, b->base + at->file, b->file,
                   b->files * sizeof *b->file, err) ||
                   d->copy(d->context, b->base + at->band, b->bands,
                           b->band * sizeof *b->bands, err) ||
                   d->copy(d->context, b->base + at->input, input, b->input,
                           err) ||
                   d->clear(d->context, b->base + at->status,
                            b->files * sizeof *b->status, err) ||
                   d->clear(d->context, b->base + at->out, at->out_end, err)
               ? -1
               : 0;
}

static int launch_all(struct idat_batch *b, struct err *err)
{
    const struct scan_device *d = b->device;
    const uint32_t blocks[IDAT_KERNELS] = {
        [IDAT_INFLATE] = b->files,
        [IDAT_CHECK_ADLER] = b->files,
        [IDAT_UNDO] = b->files,
        [IDAT_MOVE] = b->tile,
        [IDAT_TRY] = b->files * IDAT_STRIPS * IDAT_CHOICES,
        [IDAT_CHOOSE] = b->files,
        [IDAT_FILTER] = b->row,
        [IDAT_SUM] = b->band,
        [IDAT_MATCHES] = b->band,
        [IDAT_CODES] = b->band,
        [IDAT_PLACE] = b->files,
        [IDAT_EMIT] = b->band,
        [IDAT_CHECK] = b->band,
        [IDAT_CHECK_ROWS] = b->row,
    };
    for (unsigned i = 0; i < IDAT_KERNELS; i++)
        if (d->launch(d->context, i, blocks[i], 0, &b->params, err))
            return -1;
    return 0;
}

/* Fetches what has become of the pictures. */
static int fetch(struct idat_batch *b, const uint8_t **output, struct err *err)
{
    const struct scan_device *d = b->device;
    const size_t size = b->files * sizeof *b->status;
    uint64_t end = 0;
    b->status = d->memory(d->context, SCAN_RESULTS, size, err);
    if (!b->status ||
        d->copy(d->context, b->status, b->base + b->at.status, size, err) ||
        d->wait(d->context, err))
        return -1;
    for (uint32_t i = 0; i < b->files; i++) {
        struct scan_job *job = &b->jobs[b->file[i].job];
        if (b->status[i].refused)
            continue;
        job->result = SCAN_TURNED;
        job->out_size = job->of.pixels ? job->of.pixels->size
                                       : b->status[i].bits / 8 + IDAT_CHECKSUM;
        job->out = job->of.pixels ? array_behind(end) : take(&end, 0);
        end = job->out + job->out_size;
    }
    uint8_t *out = d->memory(d->context, SCAN_OUTPUT, end + !end, err);
    if (!out)
        return -1;
    for (uint32_t i = 0; i < b->files; i++) {
        const struct scan_job *job = &b->jobs[b->file[i].job];
        if (job->result == SCAN_TURNED &&
            d->copy(d->context, out + job->out,
                    b->base + b->at.memory + b->file[i].out, job->out_size,
                    err))
            return -1;
    }
    *output = out;
    return d->wait(d->context, err);
}

int idat_turn_batch(const struct scan_device *device, const uint8_t *input,
                    struct scan_job *jobs, size_t n, uint64_t memory,
                    const uint8_t **output, struct err *err)
{
    struct idat_batch b = { .device = device, .jobs = jobs, .n = n };
    if (choose(&b, memory, err))
        return -1;
    if (!b.files)
        return 0;
    return upload(&b, input, err) || launch_all(&b, err) ||
                   fetch(&b, output, err)
               ? -1
               : 0;
}
