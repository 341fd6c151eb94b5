/* The plan of a batch. */
#include "cuda/jpeg/scan_plan.h"

#include <stdlib.h>
#include <string.h>

enum {
    SETS_TRIED = 8, /* before the tables of a picture are made anew */
    /* Bits that are looked up at first. */
    LOOKUP_LEAST = 8,
    LOOKUP_MOST = 13,
};

/* ---- Tables for decoding ------------------------------------------------ */

struct scan_set {
    const struct entropy_scan *scan;
    uint8_t dc, ac; /* which of its tables have been made */
    struct scan_code dc_code[ENTROPY_TABLES], ac_code[ENTROPY_TABLES];
    uint64_t at; /* among all entries */
    uint32_t size;
    uint32_t value_bits; /* the fewest bits of a coefficient that is not 0 */
};

/* Returns the entry of the code that the 16 bits begin with. */
static uint16_t entry_of(const struct huffman_decoder *decoder, uint32_t bits)
{
    uint32_t entry = (uint32_t)decoder->entry[bits >> (16 - HUFFMAN_LOOKUP)];
    if (entry == 0)
        entry = huffman_decoder_find(decoder, bits);
    if (entry == 0)
        return SCAN_NO_CODE << 9 | 1;
    const unsigned length = entry >> 8 & 31, size = 63 - (entry >> 16 & 63);
    const unsigned step = entry >> 24 == HUFFMAN_END ? SCAN_END : entry >> 24;
    return (uint16_t)(step << 9 | size << 5 | (length + size));
}

/* Chooses how many bits are looked up at first, so that the table is small.
 * Returns how many entries it has then. */
static uint32_t choose_lookup(struct scan_code *code,
                              const struct huffman_decoder *decoder,
                              const struct huffman_spec *spec)
{
    unsigned longest = 16;
    uint32_t least = UINT32_MAX, shift = 0;
    while (longest > 1 && !spec->counts[longest - 1])
        longest--;
    for (unsigned bits = LOOKUP_LEAST; bits <= LOOKUP_MOST; bits++) {
        uint32_t limit = bits < longest ? decoder->limit[bits] : 0x10000;
        uint32_t all = (1u << bits) + 0x10000 - limit;
        if (all < least) {
            least = all;
            shift = 16 - bits;
            code->limit = limit;
        }
    }
    code->lookup = shift << 16;
    return least;
}

/* Appends the table of a specification. Returns false if it is none, or if
 * there is no room for it. *no_memory is true without memory. */
static bool add_table(struct scan_set *set, struct scan_code *code,
                      struct bytes *codes, const struct huffman_spec *spec,
                      bool ac, bool *no_memory)
{
    struct huffman_decoder decoder;
    if (!huffman_decoder_make(&decoder, spec, ac))
        return false;
    const uint32_t all = choose_lookup(code, &decoder, spec);
    const uint32_t shift = code->lookup >> 16, small = 0x10000u >> shift;
    const uint32_t even = (all + 1) / 2 * 2;
    if (set->size + even > SCAN_CODES)
        return false;
    if (!bytes_reserve(codes, even * sizeof(uint16_t))) {
        *no_memory = true;
        return false;
    }
    uint16_t *to = (uint16_t *)(void *)(codes->data + codes->size);
    for (uint32_t i = 0; i < small; i++)
        to[i] = entry_of(&decoder, i << shift);
    for (uint32_t i = small; i < all; i++)
        to[i] = entry_of(&decoder, code->limit + i - small);
    for (uint32_t i = all; i < even; i++)
        to[i] = 0;
    code->lookup |= set->size;
    code->tail = (int32_t)(set->size + small) - (int32_t)code->limit;
    codes->size += even * sizeof(uint16_t);
    set->size += even;
    return true;
}

static uint32_t fewest_value_bits(const struct huffman_spec *spec,
                                  uint32_t fewest)
{
    unsigned n = 0;
    for (unsigned length = 1; length <= 16; length++)
        for (unsigned i = spec->counts[length - 1]; i; i--, n++) {
            unsigned size = spec->symbols[n & 255] & 15;
            if (size && length + size < fewest)
                fewest = length + size;
        }
    return fewest;
}

static bool make_set(struct scan_set *set, struct bytes *codes,
                     const struct entropy_scan *scan, bool *no_memory)
{
    *set = (struct scan_set){ .scan = scan,
                              .at = codes->size / sizeof(uint16_t),
                              .value_bits = 32 };
    for (unsigned c = 0; c < scan->components; c++) {
        unsigned dc = scan->component[c].dc, ac = scan->component[c].ac;
        if (!(set->dc >> dc & 1) && !add_table(set, &set->dc_code[dc], codes,
                                               &scan->dc[dc], false, no_memory))
            return false;
        set->dc |= (uint8_t)(1u << dc);
        if (!(set->ac >> ac & 1) && !add_table(set, &set->ac_code[ac], codes,
                                               &scan->ac[ac], true, no_memory))
            return false;
        set->ac |= (uint8_t)(1u << ac);
        set->value_bits = fewest_value_bits(&scan->ac[ac], set->value_bits);
    }
    return true;
}

/* Whether these are the tables that a scan needs. */
static bool is_set_of(const struct scan_set *set,
                      const struct entropy_scan *scan)
{
    bool same = true;
    for (unsigned c = 0; same && c < scan->components; c++) {
        unsigned dc = scan->component[c].dc, ac = scan->component[c].ac;
        same =
            set->dc >> dc & 1 && set->ac >> ac & 1 &&
            memcmp(&set->scan->dc[dc], &scan->dc[dc], sizeof *scan->dc) == 0 &&
            memcmp(&set->scan->ac[ac], &scan->ac[ac], sizeof *scan->ac) == 0;
    }
    return same;
}

/* Returns the tables of a scan: those of a picture before, if they are the
 * same. NULL if they do not suit, or without memory. */
static const struct scan_set *find_set(struct scan_plan *plan,
                                       const struct entropy_scan *scan,
                                       bool *no_memory)
{
    for (size_t i = plan->sets; i > 0 && plan->sets - i < SETS_TRIED; i--)
        if (is_set_of(&plan->set[i - 1], scan))
            return &plan->set[i - 1];
    struct scan_set *set = &plan->set[plan->sets];
    const size_t size = plan->codes.size;
    if (!make_set(set, &plan->codes, scan, no_memory)) {
        plan->codes.size = size;
        return NULL;
    }
    plan->sets++;
    if (set->size > plan->codes_most)
        plan->codes_most = set->size;
    return set;
}

/* ---- Tables for encoding ------------------------------------------------ */

static void set_symbols(uint32_t *symbols, unsigned n,
                        const struct huffman_spec *spec)
{
    struct huffman_encoder encoder;
    huffman_encoder_make(&encoder, spec);
    for (unsigned i = 0; i < n; i++) {
        const uint64_t code = encoder.code[i];
        const unsigned size = i & 15, all = code & 31;
        symbols[i] = code & HUFFMAN_NONE
                         ? SCAN_NO_SYMBOL
                         : (uint32_t)(code >> 8 >> size) << 8 | (all - size);
    }
}

void scan_plan_symbols(uint32_t *symbols, const struct entropy_scan *scan)
{
    memset(symbols, 0, SCAN_SYMBOLS * sizeof *symbols);
    for (unsigned c = 0; c < scan->components; c++) {
        unsigned dc = scan->component[c].dc, ac = scan->component[c].ac;
        set_symbols(symbols + dc * SCAN_DC_SYMBOLS, SCAN_DC_SYMBOLS,
                    &scan->dc[dc]);
        set_symbols(symbols + ENTROPY_TABLES * SCAN_DC_SYMBOLS + ac * 256, 256,
                    &scan->ac[ac]);
    }
}

static bool have_same_tables(const struct entropy_scan *a,
                             const struct entropy_scan *b)
{
    bool same = a->components == b->components;
    for (unsigned c = 0; same && c < a->components; c++)
        same = a->component[c].dc == b->component[c].dc &&
               a->component[c].ac == b->component[c].ac;
    return same && memcmp(a->dc, b->dc, sizeof a->dc) == 0 &&
           memcmp(a->ac, b->ac, sizeof a->ac) == 0;
}

/* Sets where the symbols of a scan are, among those of all. Returns false
 * without memory. */
static bool find_symbols(struct scan_plan *plan,
                         const struct entropy_scan *scan, uint64_t *at)
{
    const size_t size = SCAN_SYMBOLS * sizeof(uint32_t);
    size_t i = plan->symbol_sets;
    for (; i > 0 && plan->symbol_sets - i < SETS_TRIED; i--)
        if (have_same_tables(plan->symbol_set[i - 1], scan)) {
            *at = (uint64_t)(i - 1) * SCAN_SYMBOLS;
            return true;
        }
    if (!bytes_reserve(&plan->symbols, size))
        return false;
    scan_plan_symbols(
        (uint32_t *)(void *)(plan->symbols.data + plan->symbols.size), scan);
    plan->symbols.size += size;
    plan->symbol_set[plan->symbol_sets] = scan;
    *at = (uint64_t)plan->symbol_sets++ * SCAN_SYMBOLS;
    return true;
}

/* ---- Pictures ----------------------------------------------------------- */

static uint64_t divide_up(uint64_t a, uint64_t b)
{
    return (a + b - 1) / b;
}

/* Whether the sizes of a scan, and of its data, can be counted in 32 bits, and
 * its blocks can have two bits each; and the same of what it becomes. */
static bool has_sizes(const struct scan_job *job, unsigned mcu_blocks)
{
    const struct entropy_scan *from = job->of.from, *to = job->of.to;
    const uint64_t mcus = (uint64_t)from->columns * from->rows;
    if (mcu_blocks == 0 || mcu_blocks > ENTROPY_MCU_BLOCKS || mcus == 0 ||
        job->size == 0 || job->size >= SCAN_BYTES_MAX ||
        job->at % SCAN_ALIGNMENT || mcus > job->size * 4 / mcu_blocks)
        return false;
    if (job->of.pixels)
        return job->of.pixels->channels == from->components;
    const uint64_t to_mcus = (uint64_t)to->columns * to->rows;
    const unsigned to_blocks = entropy_mcu_blocks(to);
    return to_blocks > 0 && to_blocks <= ENTROPY_MCU_BLOCKS &&
           (to_blocks == mcu_blocks || job->of.samples) &&
           to->components == from->components && to_mcus > 0 &&
           to_mcus <= job->size * 4;
}

/* Sets the tables of each block of an MCU. */
static void set_codes(struct scan_picture *pic, const struct entropy_scan *from,
                      const struct scan_set *set)
{
    pic->codes = set->at;
    pic->codes_size = set->size;
    pic->value_bits = set->value_bits;
    for (unsigned c = 0, j = 0; c < from->components; c++) {
        const struct entropy_component *one = &from->component[c];
        for (int i = one->across * one->down; i > 0; i--, j++) {
            struct scan_code *dc = &pic->code[2 * j], *ac = dc + 1;
            *dc = set->dc_code[one->dc];
            *ac = set->ac_code[one->ac];
            dc->lane = ac->lane = 16 * c;
            dc->lookup |= (2 * j + 1) << 24;
            ac->lookup |= 2 * ((j + 1) % pic->mcu_blocks) << 24;
        }
    }
}

static void set_from(struct scan_picture *pic, const struct scan_job *job,
                     const struct scan_set *set)
{
    const struct entropy_scan *from = job->of.from;
    const uint32_t mcus = from->columns * from->rows;
    const uint32_t step =
        from->restart && from->restart < mcus ? from->restart : mcus;
    pic->input = job->at;
    pic->raw_size = (uint32_t)job->size;
    pic->chunks = (uint32_t)divide_up(job->size, SCAN_CHUNK);
    pic->intervals = (uint32_t)divide_up(mcus, step);
    pic->mcu_blocks = entropy_mcu_blocks(from);
    pic->interval_blocks = step * pic->mcu_blocks;
    pic->blocks = mcus * pic->mcu_blocks;
    set_codes(pic, from, set);
    /* Room for as many values as there may be if each takes that many bits, and
     * those of each subsequence begin with a group of their own. */
    const uint64_t most = (uint64_t)pic->raw_size * 8 / pic->value_bits;
    pic->values = (uint32_t)(divide_up(most, SCAN_GROUP) +
                             scan_subsequences(pic->raw_size) + 1) *
                  SCAN_GROUP;
}

static void set_to(struct scan_picture *pic, const struct scan_job *job)
{
    const struct entropy_scan *from = job->of.from, *to = job->of.to;
    const bool transposes = xform_transposes(job->of.turn);
    unsigned first = 0, from_first = 0;
    for (unsigned c = 0; c < to->components; c++) {
        const struct entropy_component *a = &from->component[c];
        const struct entropy_component *b = &to->component[c];
        pic->to[c] = (struct scan_component){
            .columns = transposes ? a->rows : a->columns,
            .rows = transposes ? a->columns : a->rows,
            .across = b->across,
            .down = b->down,
            .dc = b->dc,
            .ac = b->ac,
            .first = (uint8_t)first,
            .turn = (uint8_t)job->of.turn,
            .from_across = a->across,
            .from_down = a->down,
            .from_first = (uint8_t)from_first,
            .from_blocks = (uint8_t)pic->mcu_blocks,
            .from_columns = from->columns,
        };
        from_first += (unsigned)a->across * a->down;
        for (int i = b->across * b->down; i > 0; i--)
            pic->to_component[first++] = (uint8_t)c;
    }
    pic->to_columns = to->columns;
    pic->to_mcus = to->columns * to->rows;
    pic->to_mcu_blocks = entropy_mcu_blocks(to);
    pic->restart = to->restart ? to->restart : pic->to_mcus;
    pic->to_blocks = pic->to_mcus * pic->to_mcu_blocks;
    pic->to_tiles = (uint32_t)divide_up(pic->to_blocks, SCAN_THREADS);
}

static uint32_t markers_of(const struct scan_picture *pic)
{
    return pic->to_mcus ? (pic->to_mcus - 1) / pic->restart : 0;
}

static uint64_t tiles_of(const struct scan_picture *pic)
{
    return divide_up(scan_subsequences(pic->raw_size), SCAN_OWN);
}

/* Returns about how much memory of a device a picture needs. */
static uint64_t memory_of(const struct scan_picture *pic,
                          const struct scan_job *job)
{
    const uint64_t block =
        SAMPLES_VALUES * sizeof(uint16_t) + sizeof(struct entropy_block);
    const uint64_t samples = /* as much as all may go through them */
        (uint64_t)pic->blocks * SAMPLES_CELLS +
        (uint64_t)pic->to_blocks * block +
        ENTROPY_COMPONENTS * (REQUANTIZE_SAMPLES + 1) *
            sizeof(struct samples_component);
    return (job->of.samples ? samples : 0) +
           (job->of.pixels ? job->of.pixels->size : 0) +
           (uint64_t)pic->raw_size * 7 + sizeof *pic +
           tiles_of(pic) * SCAN_OWN * sizeof(struct scan_subsequence) +
           (uint64_t)pic->blocks * sizeof(struct entropy_block) +
           (uint64_t)pic->values * sizeof(uint16_t) +
           (uint64_t)pic->to_blocks * sizeof(uint16_t) +
           (uint64_t)pic->to_tiles * sizeof(struct scan_bits) +
           4 * ((uint64_t)pic->intervals + markers_of(pic)) +
           3 * SCAN_SYMBOLS * sizeof(uint32_t);
}

/* Gives a picture its part of all arrays. */
static void place(struct scan_plan *plan, struct scan_picture *pic)
{
    pic->chunk = plan->chunks;
    pic->tile = plan->tiles;
    pic->to_tile = plan->to_tiles;
    pic->data = plan->data;
    pic->start = plan->starts;
    pic->subsequence = plan->subsequences;
    pic->block = plan->blocks;
    pic->value = plan->values;
    pic->length = plan->lengths;
    pic->marker = plan->markers;
    for (unsigned c = 0; c < ENTROPY_COMPONENTS; c++) {
        pic->to[c].block = pic->block;
        pic->to[c].value = pic->value;
    }
    plan->chunks += pic->chunks;
    plan->tiles += (uint32_t)tiles_of(pic);
    plan->to_tiles += pic->to_tiles;
    plan->data += divide_up(pic->raw_size, 256) * 256 + SCAN_PADDING;
    plan->starts += (uint64_t)pic->intervals + 1;
    plan->subsequences += scan_subsequences(pic->raw_size);
    plan->blocks += pic->blocks;
    plan->values += pic->values;
    plan->lengths += pic->to_blocks;
    plan->markers += markers_of(pic);
    if (pic->input + pic->raw_size > plan->input)
        plan->input = pic->input + pic->raw_size;
}

/* Plans the components of a picture that go through samples: their blocks come
 * from where these are made, in rows. */
static void add_samples(struct scan_plan *plan, struct scan_picture *pic,
                        const struct scan_turn *of)
{
    const struct samples_component *made =
        plan->samples.component + plan->samples.components;
    pic->samples = plan->samples.components;
    samples_plan_add(&plan->samples, of, plan->pictures, pic->block,
                     pic->value);
    for (unsigned c = 0; of->to && c < of->to->components; c++) {
        struct scan_component *to = &pic->to[c];
        if (!of->samples[c].wanted)
            continue;
        to->from_across = to->from_down = to->from_blocks = 1;
        to->from_first = 0;
        to->from_columns = made->to_columns;
        to->made = true;
        to->block = made->to_block;
        to->value = made->to_value;
        if (made->refines) {
            to->turn = XFORM_NONE;
            to->columns = made->to_columns;
            to->rows = made->to_rows;
        }
        made++;
    }
}

/* Plans the array that a picture becomes of its components. */
static void add_pixels(struct scan_plan *plan, struct scan_picture *pic,
                       const struct scan_turn *of)
{
    const struct scan_pixels *pixels = of->pixels;
    struct pixels_picture *to = &pic->pixels;
    to->component = pic->samples;
    to->to_rgb = pixels->to_rgb;
    to->array = array_of(pixels, of->turn, plan->pixel_tiles,
                         array_behind(plan->pixels));
    memcpy(to->upsampling, pixels->upsampling,
           pixels->channels * sizeof *to->upsampling);
    plan->pixel_tiles += array_tiles(&to->array);
    plan->pixels = to->array.begin + pixels->size;
}

/* Lets what is made stand behind all that is decoded. */
static void place_samples(struct scan_plan *plan)
{
    for (uint32_t i = 0; i < plan->samples.components; i++) {
        plan->samples.component[i].to_block += plan->blocks;
        plan->samples.component[i].to_value += plan->values;
    }
    for (uint32_t i = 0; i < plan->pictures; i++)
        for (unsigned c = 0; c < ENTROPY_COMPONENTS; c++) {
            struct scan_component *to = &plan->picture[i].to[c];
            to->block += to->made ? plan->blocks : 0;
            to->value += to->made ? plan->values : 0;
        }
    plan->blocks += plan->samples.blocks;
    plan->values += plan->samples.values;
}

/* Adds the picture of a job if it suits and fits. Returns false without
 * memory. */
static bool add_job(struct scan_plan *plan, struct scan_job *job,
                    uint64_t *memory)
{
    bool no_memory = false;
    struct scan_picture *pic = &plan->picture[plan->pictures];
    const struct scan_set *set = NULL;
    const unsigned mcu_blocks = entropy_mcu_blocks(job->of.from);
    if (has_sizes(job, mcu_blocks))
        set = find_set(plan, job->of.from, &no_memory);
    if (!set)
        return !no_memory;
    memset(pic, 0, sizeof *pic); /* one that did not fit may have been there */
    set_from(pic, job, set);
    if (job->of.to)
        set_to(pic, job);
    const uint64_t needed = memory_of(pic, job);
    if (needed > *memory || plan->to_tiles + pic->to_tiles > INT32_MAX)
        return true;
    *memory -= needed;
    place(plan, pic);
    if (job->of.samples)
        add_samples(plan, pic, &job->of);
    pic->pixels.array.tile = plan->pixel_tiles;
    if (job->of.pixels)
        add_pixels(plan, pic, &job->of);
    if (job->of.optimize)
        plan->status[plan->pictures].flags = SCAN_LACKS;
    plan->job[plan->pictures++] = job;
    return job->of.pixels || find_symbols(plan, job->of.to, &pic->symbols);
}

int scan_plan_make(struct scan_plan *plan, struct scan_job *jobs, size_t n,
                   uint64_t memory, struct err *err)
{
    *plan = (struct scan_plan){
        .picture = calloc(n + 1, sizeof *plan->picture),
        .status = calloc(n + 1, sizeof *plan->status),
        .job = calloc(n + 1, sizeof *plan->job),
        .set = calloc(n + 1, sizeof *plan->set),
        .symbol_set = calloc(n + 1, sizeof *plan->symbol_set),
        .samples.component =
            calloc(n + 1, ENTROPY_COMPONENTS * sizeof *plan->samples.component),
    };
    bool done = plan->picture && plan->status && plan->job && plan->set &&
                plan->symbol_set && plan->samples.component;
    for (size_t i = 0; done && i < n; i++) {
        jobs[i].result = SCAN_REFUSED;
        jobs[i].out = jobs[i].out_size = 0;
        done = add_job(plan, &jobs[i], &memory);
    }
    place_samples(plan);
    return done ? 0 : fail_memory(err, "no memory for the plan of a batch");
}

void scan_plan_free(struct scan_plan *plan)
{
    free(plan->picture);
    free(plan->status);
    free(plan->job);
    free(plan->set);
    free(plan->symbol_set);
    free(plan->samples.component);
    bytes_free(&plan->codes);
    bytes_free(&plan->symbols);
}
