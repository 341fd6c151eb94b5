/* The order of a batch.
 *
 * The host waits for the device three times: for the flags and sizes of all
 * pictures, with which it lays out the turned scans; for the size of what comes
 * out; and for that. Where tables have to be made it waits twice more, and
 * where all pictures become samples only once. */
#include "cuda/jpeg/scan_device.h"

#include <stdlib.h>
#include <string.h>

#include "codecs/jpeg/entropy/huffman_table.h"
#include "cuda/jpeg/scan_plan.h"

/* A batch on its way. */
struct turning {
    const struct scan_device *device;
    struct scan_plan plan;
    struct scan_params params;
    struct scan_status *status; /* in SCAN_RESULTS */
    uint64_t *end;              /* of the output, behind them */
    struct scan_status *status_there;
    uint32_t *cap;             /* of components that go through samples */
    struct entropy_scan *made; /* turned scans with the tables that were made */
    struct err *err;
};

/* Memory that is given out piece by piece. {0} counts how much is needed. */
struct arena {
    uint8_t *memory;
    size_t used;
};

static void *take(struct arena *arena, uint64_t count, size_t size)
{
    size_t at = arena->used;
    arena->used += (size_t)(count * size + 255) / 256 * 256;
    return arena->memory ? arena->memory + at : NULL;
}

static void *get_memory(struct turning *t, enum scan_memory which, size_t size)
{
    return t->device->memory(t->device->context, which, size + 256, t->err);
}

static int put(struct turning *t, void *to, const void *from, size_t size)
{
    return t->device->copy(t->device->context, to, from, size, t->err);
}

static int clear(struct turning *t, void *memory, size_t size)
{
    return t->device->clear(t->device->context, memory, size, t->err);
}

static int launch(struct turning *t, enum scan_kernel kernel, uint32_t blocks)
{
    const bool decodes = kernel == SCAN_SEEK || kernel == SCAN_WRITE;
    const uint32_t codes = decodes ? SCAN_CODES - t->plan.codes_most : 0;
    return t->device->launch(t->device->context, kernel, blocks,
                             codes * sizeof(uint16_t), &t->params, t->err);
}

/* Has what became of the pictures so far fetched. */
static int ask_status(struct turning *t)
{
    const struct scan_device *d = t->device;
    t->end = (uint64_t *)(t->status + t->plan.pictures);
    return d->copy(d->context, t->status, t->status_there,
                   t->plan.pictures * sizeof *t->status + sizeof *t->end,
                   t->err);
}

/* Waits for it. */
static int get_status(struct turning *t)
{
    return ask_status(t) || t->device->wait(t->device->context, t->err) ? -1
                                                                        : 0;
}

/* ---- Up to the sizes ---------------------------------------------------- */

/* What goes to the device at first, in this order, here and there. */
struct tables {
    struct scan_status *status; /* and a cursor */
    struct scan_picture *picture;
    uint16_t *codes;
    uint32_t *symbols;
    struct samples_component *component;
};

static struct tables take_tables(struct arena *arena,
                                 const struct scan_plan *plan)
{
    struct tables all = { 0 };
    all.status = take(arena, (uint64_t)plan->pictures + 1, sizeof *all.status);
    all.picture = take(arena, plan->pictures, sizeof *all.picture);
    all.codes = take(arena, plan->codes.size, 1);
    all.symbols = take(arena, plan->symbols.size, 1);
    all.component =
        take(arena, plan->samples.components, sizeof *all.component);
    return all;
}

static void fill_tables(struct tables all, const struct scan_plan *plan)
{
    const uint32_t n = plan->pictures;
    memcpy(all.status, plan->status, n * sizeof *plan->status);
    memset(all.status + n, 0, sizeof *all.status);
    memcpy(all.picture, plan->picture, n * sizeof *plan->picture);
    memcpy(all.codes, plan->codes.data, plan->codes.size);
    if (plan->symbols.size)
        memcpy(all.symbols, plan->symbols.data, plan->symbols.size);
    memcpy(all.component, plan->samples.component,
           plan->samples.components * sizeof *all.component);
}

/* Sets where everything is on the device, up to the sizes. */
static void lay_out(struct turning *t, struct arena *arena, uint8_t **input)
{
    const struct scan_plan *plan = &t->plan;
    struct scan_params *p = &t->params;
    struct tables all = take_tables(arena, plan);
    t->status_there = p->status = all.status;
    if (all.status) /* else only the sizes count */
        p->cursor = (uint64_t *)(all.status + plan->pictures);
    p->picture = all.picture;
    p->codes = all.codes;
    p->symbols = all.symbols;
    p->input = *input = take(arena, plan->input + SCAN_VECTOR, 1);
    p->chunk = take(arena, plan->chunks, sizeof *p->chunk);
    p->data = take(arena, plan->data, 1);
    p->start = take(arena, plan->starts, sizeof *p->start);
    p->subsequence = take(arena, plan->subsequences, sizeof *p->subsequence);
    p->block = take(arena, plan->blocks, sizeof *p->block);
    p->value = take(arena, plan->values, sizeof *p->value);
    p->length = take(arena, plan->lengths, sizeof *p->length);
    p->to_tile = take(arena, plan->to_tiles, sizeof *p->to_tile);
    p->marker = take(arena, plan->markers, sizeof *p->marker);
    p->samples = (struct samples_params){
        .component = all.component,
        .components = plan->samples.components,
        .block = p->block,
        .value = p->value,
    };
    p->samples.cap =
        take(arena, plan->samples.components, sizeof *p->samples.cap);
    p->samples.samples = take(arena, plan->samples.samples, 1);
    p->samples.unit = take(arena, plan->samples.units, sizeof *p->samples.unit);
    p->pixels = take(arena, plan->pixels, 1);
    p->pictures = plan->pictures;
    p->tiles = plan->tiles;
}

static int upload(struct turning *t, const uint8_t *input)
{
    struct arena sizes = { NULL, 0 }, here = { NULL, 0 }, there = { NULL, 0 };
    uint8_t *to;
    const size_t results = ((size_t)t->plan.pictures + 1) * sizeof *t->status;
    (void)take_tables(&sizes, &t->plan);
    const size_t tables = sizes.used;
    sizes.used = 0;
    lay_out(t, &sizes, &to);
    here.memory = get_memory(t, SCAN_TABLES, tables);
    there.memory = get_memory(t, SCAN_ON_DEVICE, sizes.used);
    t->status = get_memory(t, SCAN_RESULTS, results);
    if (!here.memory || !there.memory || !t->status)
        return -1;
    fill_tables(take_tables(&here, &t->plan), &t->plan);
    lay_out(t, &there, &to);
    return put(t, there.memory, here.memory, tables) ||
                   put(t, to, input, t->plan.input)
               ? -1
               : 0;
}

/* Makes the blocks of components that go through samples, and has the caps of
 * their steps fetched. */
static int make_blocks(struct turning *t)
{
    const struct scan_device *d = t->device;
    const struct samples_plan *plan = &t->plan.samples;
    const uint32_t components = plan->components;
    if (plan->to_tiles == 0)
        return 0;
    t->cap = get_memory(t, SCAN_CAPS, components * sizeof *t->cap);
    return !t->cap || launch(t, SCAN_UNITS, plan->unit_tiles) ||
                   launch(t, SCAN_CAP, components) ||
                   launch(t, SCAN_BLOCKS, plan->to_tiles) ||
                   d->copy(d->context, t->cap, t->params.samples.cap,
                           components * sizeof *t->cap, t->err)
               ? -1
               : 0;
}

static int measure(struct turning *t)
{
    return launch(t, SCAN_MEASURE_TILE, t->plan.to_tiles) ||
                   launch(t, SCAN_BITS_SUM, t->plan.pictures) || get_status(t)
               ? -1
               : 0;
}

static int decode(struct turning *t)
{
    const struct scan_plan *plan = &t->plan;
    const uint32_t joins =
        (plan->tiles + SCAN_JOIN_THREADS - 1) / SCAN_JOIN_THREADS;
    if (launch(t, SCAN_UNSTUFF_COUNT, plan->chunks) ||
        launch(t, SCAN_UNSTUFF_SUM, plan->pictures) ||
        launch(t, SCAN_UNSTUFF, plan->chunks) ||
        launch(t, SCAN_SEEK, plan->tiles))
        return -1;
    for (unsigned i = 0; i < SCAN_JOIN_ROUNDS; i++)
        if (launch(t, SCAN_JOIN, joins))
            return -1;
    return launch(t, SCAN_COUNTS_SUM, plan->pictures) ||
                   launch(t, SCAN_WRITE, plan->tiles)
               ? -1
               : 0;
}

/* ---- Tables that are made ----------------------------------------------- */

static bool has_flag(const struct turning *t, uint32_t i, uint32_t flag)
{
    return (t->status[i].flags & (flag | SCAN_OUT)) == flag;
}

static bool any_has_flag(const struct turning *t, uint32_t flag)
{
    bool any = false;
    for (uint32_t i = 0; i < t->plan.pictures; i++)
        any = any || has_flag(t, i, flag);
    return any;
}

static bool make_table(struct huffman_spec *spec, const uint32_t *count,
                       unsigned n)
{
    uint64_t counts[256] = { 0 };
    for (unsigned i = 0; i < n; i++)
        counts[i] = count[i];
    return huffman_spec_make(spec, counts);
}

/* Makes the shortest tables of a scan, each once. Returns false if they cannot
 * have all codes. */
static bool make_tables(struct entropy_scan *made, const uint32_t *counts)
{
    const uint32_t *ac_counts = counts + ENTROPY_TABLES * SCAN_DC_SYMBOLS;
    unsigned dc_made = 0, ac_made = 0;
    bool good = true;
    for (unsigned c = 0; good && c < made->components; c++) {
        unsigned dc = made->component[c].dc, ac = made->component[c].ac;
        if (!(dc_made >> dc & 1))
            good = make_table(&made->dc[dc], counts + dc * SCAN_DC_SYMBOLS,
                              SCAN_DC_SYMBOLS);
        if (good && !(ac_made >> ac & 1))
            good = make_table(&made->ac[ac], ac_counts + ac * 256, 256);
        dc_made |= 1u << dc;
        ac_made |= 1u << ac;
    }
    return good;
}

/* Returns how many bits symbols that occur so often take. */
static uint64_t count_bits(const struct entropy_scan *scan,
                           const uint32_t *counts)
{
    uint32_t symbol[SCAN_SYMBOLS];
    uint64_t bits = 0;
    scan_plan_symbols(symbol, scan);
    for (unsigned i = 0; i < SCAN_SYMBOLS; i++) {
        const bool ac = i >= ENTROPY_TABLES * SCAN_DC_SYMBOLS;
        const unsigned size = ac ? (i - ENTROPY_TABLES * SCAN_DC_SYMBOLS) & 15
                                 : i % SCAN_DC_SYMBOLS;
        bits += (uint64_t)counts[i] * ((symbol[i] & 31) + size);
    }
    return bits;
}

/* Gives the tables of a scan all codes. Returns whether they suit then. */
static bool complete(struct entropy_scan *made, const uint32_t *counts)
{
    huffman_complete(made);
    return count_bits(made, counts) <= made->most;
}

/* Makes tables for those pictures that lack codes, and replaces the counts by
 * their symbols. */
static void make_all_tables(struct turning *t, uint32_t *counts)
{
    for (uint32_t i = 0; i < t->plan.pictures; i++, counts += SCAN_SYMBOLS) {
        const struct scan_job *job = t->plan.job[i];
        if (!has_flag(t, i, SCAN_LACKS))
            continue;
        t->made[i] = *job->of.to;
        if ((job->of.optimize || !complete(&t->made[i], counts)) &&
            !make_tables(&t->made[i], counts))
            t->status[i].flags |= SCAN_OUT;
        scan_plan_symbols(counts, &t->made[i]);
    }
}

static int put_status(struct turning *t)
{
    return put(t, t->status_there, t->status,
               t->plan.pictures * sizeof *t->status);
}

/* Counts the symbols of pictures whose tables lack codes, and measures these
 * pictures with tables that have them. */
static int measure_again(struct turning *t)
{
    const struct scan_device *d = t->device;
    const uint64_t n = (uint64_t)t->plan.pictures * SCAN_SYMBOLS;
    const size_t size = (size_t)n * sizeof(uint32_t);
    uint32_t *here = get_memory(t, SCAN_SECOND, size);
    uint32_t *there = get_memory(t, SCAN_MAKING, size);
    if (!here || !there)
        return -1;
    t->made = calloc(t->plan.pictures, sizeof *t->made);
    if (!t->made)
        return fail_memory(t->err, "no memory for Huffman tables");
    t->params.again = 1;
    t->params.made = t->params.histogram = there;
    if (clear(t, there, size) || launch(t, SCAN_COUNT_TILE, t->plan.to_tiles) ||
        d->copy(d->context, here, there, size, t->err) ||
        d->wait(d->context, t->err))
        return -1;
    make_all_tables(t, here);
    return put(t, there, here, size) || put_status(t) || measure(t) ? -1 : 0;
}

/* ---- From the sizes on -------------------------------------------------- */

/* Lays out the turned scans: to[i] is where picture i is. Returns how many
 * chunks they have. */
static uint32_t set_outputs(struct turning *t, struct scan_output *to,
                            uint64_t *words)
{
    uint32_t chunks = 0;
    *words = 0;
    for (uint32_t i = 0; i < t->plan.pictures; i++) {
        if (has_flag(t, i, SCAN_LACKS_STILL))
            t->status[i].flags |= SCAN_OUT;
        const bool out = t->status[i].flags & SCAN_OUT;
        const uint32_t size = out ? 0 : (t->status[i].to_bits + 7) / 8;
        to[i] = (struct scan_output){
            .word = *words,
            .chunk = chunks,
            .chunks = (size + SCAN_CHUNK - 1) / SCAN_CHUNK,
            .size = size,
        };
        chunks += to[i].chunks;
        *words += ((uint64_t)size + SCAN_VECTOR - 1) / SCAN_VECTOR *
                  (SCAN_VECTOR / 4);
    }
    return chunks;
}

/* Takes what is needed on the device from the sizes on; first comes what the
 * host knows. */
static void lay_out_later(struct turning *t, struct arena *arena,
                          uint32_t chunks, uint64_t words)
{
    const uint32_t n = t->plan.pictures;
    struct scan_params *p = &t->params;
    p->to = take(arena, n, sizeof *p->to);
    p->joined = take(arena, words, sizeof *p->joined);
    p->to_chunk = take(arena, chunks, sizeof *p->to_chunk);
    /* Each byte may be stuffed, and each picture begins aligned. */
    p->output =
        take(arena, 2 * words * sizeof *p->joined + (uint64_t)n * 16, 1);
}

static int encode(struct turning *t)
{
    const size_t size = t->plan.pictures * sizeof(struct scan_output);
    struct scan_output *to = get_memory(t, SCAN_SECOND, size);
    struct arena sizes = { NULL, 0 }, there = { NULL, 0 };
    uint64_t words;
    if (!to)
        return -1;
    const uint32_t chunks = set_outputs(t, to, &words);
    lay_out_later(t, &sizes, chunks, words);
    there.memory = get_memory(t, SCAN_LATER, sizes.used);
    if (!there.memory)
        return -1;
    lay_out_later(t, &there, chunks, words);
    return put(t, there.memory, to, size) || put_status(t) ||
                   clear(t, t->params.joined, words * sizeof(uint32_t)) ||
                   launch(t, SCAN_EMIT_TILE, t->plan.to_tiles) ||
                   launch(t, SCAN_STUFF_COUNT, chunks) ||
                   launch(t, SCAN_STUFF_SUM, t->plan.pictures) ||
                   launch(t, SCAN_STUFF, chunks) || get_status(t)
               ? -1
               : 0;
}

/* ---- What comes out ----------------------------------------------------- */

/* Gives the components of a job their caps. */
static void set_caps(const struct turning *t, uint32_t picture,
                     struct scan_job *job)
{
    const struct samples_plan *plan = &t->plan.samples;
    const struct samples_params caps = { .cap = t->cap };
    uint32_t i = t->plan.picture[picture].samples;
    for (unsigned c = 0; job->of.samples && c < job->of.to->components; c++)
        if (job->of.samples[c].wanted)
            job->of.samples[c].cap = samples_cap(&caps, &plan->component[i++]);
}

/* Sets what became of the jobs, whose arrays begin at `begin`. */
static void set_jobs(const struct turning *t, size_t begin)
{
    for (uint32_t i = 0; i < t->plan.pictures; i++) {
        struct scan_job *job = t->plan.job[i];
        if (t->status[i].flags & SCAN_OUT)
            continue;
        job->result = SCAN_TURNED;
        if (job->of.pixels) {
            job->out = begin + (size_t)t->plan.picture[i].pixels.array.begin;
            job->out_size = job->of.pixels->size;
            continue;
        }
        if (has_flag(t, i, SCAN_LACKS))
            *job->of.to = t->made[i];
        set_caps(t, i, job);
        job->out = (size_t)t->status[i].out;
        job->out_size = t->status[i].out_size;
    }
}

/* Fetches so many bytes of scans, and behind them all samples. */
static int fetch(struct turning *t, size_t scans, const uint8_t **output)
{
    const struct scan_device *d = t->device;
    const size_t pixels = (size_t)t->plan.pixels;
    const size_t begin =
        (scans + IMAGE_STRIDE - 1) / IMAGE_STRIDE * IMAGE_STRIDE;
    uint8_t *to = get_memory(t, pixels ? SCAN_OUTPUT_SAMPLES : SCAN_OUTPUT,
                             begin + pixels);
    *output = to;
    if (!to ||
        (scans && d->copy(d->context, to, t->params.output, scans, t->err)) ||
        (pixels &&
         d->copy(d->context, to + begin, t->params.pixels, pixels, t->err)) ||
        d->wait(d->context, t->err))
        return -1;
    set_jobs(t, begin);
    return 0;
}

static int turn_all(struct turning *t, const uint8_t *input,
                    const uint8_t **output)
{
    const bool scans = t->plan.to_tiles;
    if (upload(t, input) || decode(t) ||
        launch(t, SCAN_SAMPLES, t->plan.samples.tiles) ||
        launch(t, SCAN_PIXELS, t->plan.pixel_tiles) ||
        (scans ? make_blocks(t) || measure(t) : ask_status(t)))
        return -1;
    if (scans && any_has_flag(t, SCAN_LACKS) && measure_again(t))
        return -1;
    if (scans && encode(t))
        return -1;
    return fetch(t, scans ? (size_t)*t->end : 0, output);
}

int scan_turn(const struct scan_device *device, const uint8_t *input,
              struct scan_job *jobs, size_t n, uint64_t memory,
              const uint8_t **output, struct err *err)
{
    struct turning t = { .device = device, .err = err };
    int status = scan_plan_make(&t.plan, jobs, n, memory, err);
    if (status == 0 && t.plan.pictures)
        status = turn_all(&t, input, output);
    free(t.made);
    scan_plan_free(&t.plan);
    return status;
}
