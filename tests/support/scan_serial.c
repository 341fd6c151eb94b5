/* The kernels of cuda/jpeg/ in plain loops. */
#include "tests/support/scan_serial.h"

#include <pthread.h>
#include <string.h>

#include "cuda/jpeg/scan_device.h"
#include "cuda/jpeg/scan_encode.h"
#include "cuda/jpeg/scan_pixels.h"
#include "cuda/jpeg/scan_stuff.h"
#include "cuda/jpeg/scan_tile.h"

/* ---- Kernels ------------------------------------------------------------ */

static void unstuff_count_chunk(const struct scan_params *p, uint32_t chunk)
{
    struct scan_bytes sum = { 0, 0 };
    for (unsigned i = 0; i < SCAN_THREADS; i++) {
        struct unstuff_bytes b = unstuff_read(p, chunk, i);
        sum = unstuff_add(sum, unstuff_count(&b));
    }
    p->chunk[chunk] = sum;
}

static void unstuff_sum(const struct scan_params *p, uint32_t picture)
{
    const struct scan_picture *pic = &p->picture[picture];
    struct scan_bytes before = { 0, 0 };
    for (uint32_t i = 0; i < pic->chunks; i++) {
        struct scan_bytes one = p->chunk[pic->chunk + i];
        p->chunk[pic->chunk + i] = before;
        before = unstuff_add(before, one);
    }
    for (unsigned i = 0; i < SCAN_THREADS; i++)
        unstuff_end(p, picture, before, i);
}

static void unstuff_chunk(const struct scan_params *p, uint32_t chunk)
{
    uint8_t shared[SCAN_CHUNK];
    struct scan_bytes before = { 0, 0 };
    for (unsigned i = 0; i < SCAN_THREADS; i++) {
        struct unstuff_bytes b = unstuff_read(p, chunk, i);
        unstuff_place(p, chunk, &b, before, shared);
        before = unstuff_add(before, unstuff_count(&b));
    }
    for (unsigned i = 0; i < SCAN_THREADS; i++)
        unstuff_store(p, chunk, before.bytes, shared, i);
}

static struct scan_tile tile_shared;
static uint16_t tile_codes[SCAN_CODES];

static struct scan_text stage(const struct scan_params *p, uint32_t tile)
{
    memset(&tile_shared, 0xa5, sizeof tile_shared);
    memset(tile_codes, 0xa5, sizeof tile_codes);
    for (unsigned i = 0; i < SCAN_TILE; i++)
        scan_stage(p, tile, i, &tile_shared, tile_codes);
    return scan_staged(p, tile, &tile_shared, tile_codes);
}

static void seek_tile(const struct scan_params *p, uint32_t tile)
{
    struct scan_seeker seeker[SCAN_TILE];
    uint64_t entry[SCAN_TILE];
    struct scan_text text = stage(p, tile);
    for (unsigned i = 0; i < SCAN_TILE; i++)
        seeker[i] = scan_guess(p, tile, i, &text, &tile_shared);
    for (unsigned round = 0; round < SCAN_ROUNDS; round++) {
        for (unsigned i = 0; i < SCAN_TILE; i++)
            scan_compare(&seeker[i], i, &tile_shared);
        const unsigned n = tile_shared.corrections;
        for (unsigned i = 0; i < n; i++)
            entry[i] = scan_corrected(&tile_shared, i);
        tile_shared.corrections = 0;
        for (unsigned i = 0; i < n; i++)
            scan_find(p, tile, &text, tile_shared.corrected[i], entry[i],
                      &tile_shared);
        if (n == 0)
            break;
    }
}

static void counts_sum(const struct scan_params *p, uint32_t picture)
{
    const struct scan_picture *pic = &p->picture[picture];
    struct scan_counts before = { 0, 0, false };
    const uint32_t all = scan_subsequences(p->status[picture].size);
    for (uint32_t i = 0; i < all; i++) {
        struct scan_counts one = scan_counts_get(p, picture, i);
        p->subsequence[pic->subsequence + i].counts = before;
        before = scan_counts_add(before, one);
    }
}

static void write_tile(const struct scan_params *p, uint32_t tile)
{
    struct scan_text text = stage(p, tile);
    for (unsigned i = 0; i < SCAN_TILE; i++)
        scan_write(p, tile, i, &text);
}

static struct scan_coder coder;

static void load_coder(const struct scan_params *p, uint32_t tile, bool made)
{
    for (unsigned i = 0; i < SCAN_THREADS; i++)
        scan_load_coder(p, tile, i, made, &coder);
}

static void measure_tile(const struct scan_params *p, uint32_t tile)
{
    struct scan_bits sum = { 0, 0, false };
    load_coder(p, tile, p->again);
    for (unsigned i = 0; i < SCAN_THREADS; i++)
        sum = scan_bits_add(sum, scan_measure(p, tile, i, &coder));
    p->to_tile[tile] = sum;
}

static void bits_sum(const struct scan_params *p, uint32_t picture)
{
    const struct scan_picture *pic = &p->picture[picture];
    struct scan_bits before = { 0, 0, false };
    for (uint32_t i = 0; i < pic->to_tiles; i++) {
        struct scan_bits one = p->to_tile[pic->to_tile + i];
        p->to_tile[pic->to_tile + i] = before;
        before = scan_bits_add(before, one);
    }
    for (unsigned i = 0; i < SCAN_THREADS; i++)
        scan_bits_finish(p, picture, before, i);
}

static void count_tile(const struct scan_params *p, uint32_t tile)
{
    const size_t picture = p->to_tile_picture[tile];
    load_coder(p, tile, false);
    for (unsigned i = 0; i < SCAN_THREADS; i++)
        scan_count_block(p, tile, i, &coder,
                         p->histogram + picture * SCAN_SYMBOLS);
}

static void emit_tile(const struct scan_params *p, uint32_t tile)
{
    const uint32_t picture = p->to_tile_picture[tile];
    struct scan_bits before = p->to_tile[tile];
    load_coder(p, tile, p->status[picture].flags & SCAN_LACKS);
    for (unsigned i = 0; i < SCAN_THREADS; i++) {
        scan_emit(p, tile, i, before, &coder);
        before = scan_bits_add(before, scan_measured(p, tile, i));
    }
}

static void find_markers(const struct scan_params *p, uint32_t chunk,
                         struct stuff_chunk *shared)
{
    for (unsigned i = 0; i < SCAN_THREADS; i++)
        stuff_clear(i, shared);
    for (unsigned i = 0; i < SCAN_THREADS; i++)
        stuff_find_markers(p, chunk, i, shared);
}

static void stuff_count_chunk(const struct scan_params *p, uint32_t chunk)
{
    struct stuff_chunk shared;
    uint32_t sum = 0;
    find_markers(p, chunk, &shared);
    for (unsigned i = 0; i < SCAN_THREADS; i++) {
        struct stuff_bytes b = stuff_read(p, chunk, i, &shared);
        sum += stuff_count(&b);
    }
    p->to_chunk[chunk] = sum;
}

static void stuff_sum(const struct scan_params *p, uint32_t picture)
{
    const struct scan_output *to = &p->to[picture];
    uint32_t before = 0;
    for (uint32_t i = 0; i < to->chunks; i++) {
        uint32_t one = p->to_chunk[to->chunk + i];
        p->to_chunk[to->chunk + i] = before;
        before += one;
    }
    for (unsigned i = 0; i < SCAN_THREADS; i++)
        stuff_end(p, picture, before, i);
}

static void stuff_chunk(const struct scan_params *p, uint32_t chunk)
{
    struct stuff_chunk shared;
    uint32_t before = 0;
    find_markers(p, chunk, &shared);
    for (unsigned i = 0; i < SCAN_THREADS; i++) {
        struct stuff_bytes b = stuff_read(p, chunk, i, &shared);
        stuff_place(&b, before, &shared);
        before += stuff_count(&b);
    }
    for (unsigned i = 0; i < SCAN_THREADS; i++)
        stuff_store(p, chunk, before, &shared, i);
}

static void join_tiles(const struct scan_params *p, uint32_t block)
{
    for (uint32_t i = 0; i < SCAN_JOIN_THREADS; i++)
        if (block * SCAN_JOIN_THREADS + i < p->tiles)
            scan_join(p, block * SCAN_JOIN_THREADS + i);
}

/* ---- Components that go through samples --------------------------------- */

/* Each of these does what a block of a kernel does; its shared memory begins as
 * garbage. Two return whether no picture is to be refused. */
static struct samples_shared shared;
static struct samples_place at[SAMPLES_THREADS];

/* Calls a function of each thread, as between two barriers. */
#define EACH(thread)                                                           \
    for (unsigned thread = 0; thread < SAMPLES_THREADS; thread++)

static void forget(void)
{
    memset(&shared, 0xa5, sizeof shared);
}

static bool samples_serial_decode(const struct samples_params *p, uint32_t tile)
{
    bool agree = true;
    forget();
    EACH(i)
    {
        at[i] = samples_find_from(p, tile, i);
        samples_load(p, &at[i], &shared);
    }
    EACH(i) samples_inverse_column(&at[i], &shared);
    EACH(i)
    {
        agree = samples_store(p, &at[i], &shared) && agree;
        agree = samples_agree(&at[i], &shared) && agree;
    }
    return agree;
}

static void samples_serial_units(const struct samples_params *p, uint32_t tile)
{
    forget();
    EACH(i)
    {
        at[i] = samples_find_unit(p, tile, i);
        samples_forward_row(p, &at[i], &shared);
    }
    EACH(i) samples_store_units(p, &at[i], &shared);
}

static void samples_serial_cap(const struct samples_params *p,
                               uint32_t component)
{
    const struct samples_component *c = &p->component[component];
    struct samples_search search = samples_search_begin(c);
    while (!search.done) {
        uint64_t error = 0;
        EACH(i) error += samples_error(p, c, search.cap, i, SAMPLES_THREADS);
        samples_search_next(&search, c, error);
    }
    p->cap[component] = search.cap;
}

static bool samples_serial_blocks(const struct samples_params *p, uint32_t tile)
{
    forget();
    EACH(i)
    {
        at[i] = samples_find_to(p, tile, i);
        samples_forward_row(p, &at[i], &shared);
    }
    EACH(i) samples_round(p, &at[i], &shared);
    EACH(i) samples_mark(&at[i], &shared);
    bool fits = true;
    EACH(i) fits = samples_put(p, &at[i], &shared) && fits;
    return fits;
}

static void samples_serial_pixels(const struct pixels_params *p,
                                  const struct samples_params *samples,
                                  uint32_t tile)
{
    static struct pixels_shared pixels;
    const struct pixels_picture *of = &p->picture[p->tile_picture[tile]];
    const struct array_place place = array_find(&of->array, tile);
    memset(&pixels, 0xa5, sizeof pixels);
    for (unsigned i = 0; i < ARRAY_THREADS; i++)
        pixels_load(samples, of, &place, i, &pixels);
    for (unsigned i = 0; i < ARRAY_THREADS; i++)
        array_store(p->out, &place, i, pixels.plane, false);
}

/* Whether the picture of a component is not refused. */
static bool component_is_in(const struct scan_params *p, uint32_t component)
{
    return !scan_is_out(p, p->samples.component[component].picture);
}

static void samples_tile(const struct scan_params *p, uint32_t tile)
{
    const uint32_t component = p->samples.tile_component[tile];
    if (component_is_in(p, component) &&
        !samples_serial_decode(&p->samples, tile))
        scan_refuse(p, p->samples.component[component].picture);
}

static void unit_tile(const struct scan_params *p, uint32_t tile)
{
    if (component_is_in(p, p->samples.unit_tile_component[tile]))
        samples_serial_units(&p->samples, tile);
}

static void cap(const struct scan_params *p, uint32_t component)
{
    if (component_is_in(p, component))
        samples_serial_cap(&p->samples, component);
}

static void made_tile(const struct scan_params *p, uint32_t tile)
{
    const uint32_t component = p->samples.to_tile_component[tile];
    if (component_is_in(p, component) &&
        !samples_serial_blocks(&p->samples, tile))
        scan_refuse(p, p->samples.component[component].picture);
}

static void pixels_tile(const struct scan_params *p, uint32_t tile)
{
    const uint32_t picture =
        p->pixels.picture[p->pixels.tile_picture[tile]].picture;
    if (!scan_is_out(p, picture))
        samples_serial_pixels(&p->pixels, &p->samples, tile);
}

/* ---- Launches ----------------------------------------------------------- */

static bool is_in(const struct scan_params *p, uint32_t picture)
{
    return !scan_is_out(p, picture);
}

static bool is_coded(const struct scan_params *p, uint32_t picture)
{
    return !scan_is_not_coded(p, picture);
}

/* What a block of each kernel does, for pictures of which `wants` says so; and
 * where the picture of a block stands: NULL, it has the same number. */
static const struct {
    void (*run)(const struct scan_params *p, uint32_t block);
    bool (*wants)(const struct scan_params *p, uint32_t picture);
    size_t picture; /* offset in struct scan_params; 0: the same number */
} kernels[SCAN_KERNELS] = {
#define CHUNK   offsetof(struct scan_params, chunk_picture)
#define TILE    offsetof(struct scan_params, tile_picture)
#define TO_TILE offsetof(struct scan_params, to_tile_picture)
#define STUFFED offsetof(struct scan_params, to_chunk_picture)
    [SCAN_UNSTUFF_COUNT] = { unstuff_count_chunk, is_in, CHUNK },
    [SCAN_UNSTUFF_SUM] = { unstuff_sum, is_in, 0 },
    [SCAN_UNSTUFF] = { unstuff_chunk, is_in, CHUNK },
    [SCAN_SEEK] = { seek_tile, is_in, TILE },
    [SCAN_JOIN] = { join_tiles, NULL, 0 },
    [SCAN_COUNTS_SUM] = { counts_sum, is_in, 0 },
    [SCAN_WRITE] = { write_tile, is_in, TILE },
    [SCAN_SAMPLES] = { samples_tile, NULL, 0 },
    [SCAN_UNITS] = { unit_tile, NULL, 0 },
    [SCAN_CAP] = { cap, NULL, 0 },
    [SCAN_BLOCKS] = { made_tile, NULL, 0 },
    [SCAN_PIXELS] = { pixels_tile, NULL, 0 },
    [SCAN_MEASURE_TILE] = { measure_tile, is_coded, TO_TILE },
    [SCAN_BITS_SUM] = { bits_sum, is_coded, 0 },
    [SCAN_COUNT_TILE] = { count_tile, is_coded, TO_TILE },
    [SCAN_EMIT_TILE] = { emit_tile, is_in, TO_TILE },
    [SCAN_STUFF_COUNT] = { stuff_count_chunk, is_in, STUFFED },
    [SCAN_STUFF_SUM] = { stuff_sum, is_in, 0 },
    [SCAN_STUFF] = { stuff_chunk, is_in, STUFFED },
};

/* All launches have the same shared memory. */
static pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER;

void scan_serial_launch(unsigned kernel, uint32_t blocks, const void *params)
{
    const struct scan_params *p = params;
    pthread_mutex_lock(&shared_lock);
    for (uint32_t i = 0; i < blocks; i++) {
        uint32_t picture = i;
        if (kernels[kernel].picture) {
            const uint32_t *pictures;
            memcpy(&pictures, (const char *)p + kernels[kernel].picture,
                   sizeof pictures);
            picture = pictures[i];
        }
        if (!kernels[kernel].wants || kernels[kernel].wants(p, picture))
            kernels[kernel].run(p, i);
    }
    pthread_mutex_unlock(&shared_lock);
}
