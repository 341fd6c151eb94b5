/* Batches of PNG pictures, and what must become of them. */
#include "tests/support/idat_trials.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "tests/support/must.h"
#include "tests/support/oracle.h"
#include "tests/support/png_file.h"

enum { JOBS = 24, ROOM = 8 << 20 };

static uint32_t seed = 1;

static uint32_t below(uint32_t n)
{
    seed = seed * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)(seed >> 8) * n >> 24);
}

struct picture {
    struct idat_turn of;
    enum xform turn;
    uint8_t *pixels;
    uint8_t *coded;          /* a stream, or an array if of.x_step is set */
    size_t size;             /* of `coded` */
    struct scan_pixels made; /* what it becomes; of no size: a stream */
};

static size_t row_of(const struct picture *p)
{
    return (size_t)p->of.width * p->of.pixel;
}

/* ---- Pictures ------------------------------------------------------------ */

static uint8_t sample(unsigned kind, uint32_t i, uint32_t row, unsigned noise)
{
    const uint32_t x = i % row, y = i / row;
    switch (kind) {
    case 0:
        return (uint8_t)below(256);
    case 1:
        return (uint8_t)(x / 5 + y / 3 + below(noise + 1));
    case 2:
        return (uint8_t)((x / 24 + y / 7) % 3 ? 255 : 17);
    case 3:
        return (uint8_t)("to be or not to be, that is "[(x + 3 * y) % 28]);
    case 4:
        return (uint8_t)((x * 7 ^ y * 13) & 1 ? 200 : below(2) * 50);
    default:
        return 0;
    }
}

static void fill(struct picture *p, uint32_t width, uint32_t height)
{
    static const unsigned pixels[] = { 1, 2, 3, 4, 6, 8 };
    const unsigned kind = below(6), noise = below(12);
    p->of.width = width;
    p->of.height = height;
    p->of.pixel = pixels[below(6)];
    p->turn = (enum xform)below(8);
    p->of.any_size = true;
    p->of.wide = p->of.pixel % 2 == 0 && below(2);
    const size_t size = row_of(p) * height;
    p->pixels = malloc(size);
    must(p->pixels);
    for (size_t i = 0; i < size; i++)
        p->pixels[i] = sample(kind, (uint32_t)i, (uint32_t)row_of(p), noise);
}

/* Deflates the rows with any filters, in any way that zlib has. */
static void encode(struct picture *p)
{
    static const int strategies[] = { Z_DEFAULT_STRATEGY, Z_FILTERED,
                                      Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED };
    const size_t row = row_of(p), all = (row + 1) * p->of.height;
    const unsigned one = below(7);
    owned_memory uint8_t *rows = malloc(all), *zeros = calloc(1, row);
    z_stream z = { .zalloc = NULL };
    must(rows && zeros);
    for (uint32_t y = 0; y < p->of.height; y++) {
        uint8_t *to = rows + y * (row + 1);
        *to = (uint8_t)(one < 5 ? one : below(5));
        plain_filter(*to, false, p->pixels + y * row,
                     y ? p->pixels + (y - 1) * row : zeros, row, p->of.pixel,
                     to + 1);
    }
    must(deflateInit2(&z, (int)below(10), Z_DEFLATED, 15, 2 + (int)below(8),
                      strategies[below(5)]) == Z_OK);
    const size_t room = deflateBound(&z, all) + all / 16 + 4096;
    p->coded = malloc(room);
    must(p->coded);
    z.next_in = rows;
    z.next_out = p->coded;
    z.avail_out = (uInt)room;
    for (size_t left = all; left;) {
        const size_t n = below(3) ? left : 1 + below((uint32_t)left);
        static const int flushes[] = { Z_NO_FLUSH, Z_SYNC_FLUSH, Z_FULL_FLUSH,
                                       Z_PARTIAL_FLUSH, Z_BLOCK };
        z.avail_in = (uInt)n;
        must(deflate(&z, n == left ? Z_FINISH : flushes[below(5)]) >= 0);
        left -= n;
    }
    p->size = z.total_out;
    deflateEnd(&z);
}

/* Makes an array of the pixels, with channels side by side or in planes, of
 * samples with the higher or the lower byte first. */
static void make_array(struct picture *p)
{
    const size_t row = row_of(p), cell = 1u + p->of.wide;
    const bool planes = below(2), low_first = below(2);
    const size_t channel = planes ? cell * p->of.width * p->of.height : cell;
    p->size = row * p->of.height;
    p->coded = malloc(p->size);
    must(p->coded);
    p->of.x_step = (uint32_t)(planes ? cell : p->of.pixel);
    p->of.y_step = p->of.x_step * p->of.width;
    for (unsigned k = 0; k < p->of.pixel; k++) {
        const size_t in_cell = low_first ? cell - 1 - k % cell : k % cell;
        p->of.byte[k] = (uint32_t)(k / cell * channel + in_cell);
        for (size_t i = 0; i < p->size / p->of.pixel; i++)
            p->coded[i * p->of.x_step + p->of.byte[k]] =
                p->pixels[i * p->of.pixel + k];
    }
}

static void free_picture(struct picture *p)
{
    free(p->pixels);
    free(p->coded);
    *p = (struct picture){ .size = 0 };
}

/* ---- What must become of them -------------------------------------------- */

/* Inflates a stream to rows, and undoes their filters. Returns NULL if anything
 * is wrong with it. */
static uint8_t *decode(const uint8_t *coded, size_t size, uint32_t height,
                       size_t row, unsigned pixel)
{
    const size_t all = (row + 1) * height;
    uint8_t *rows = malloc(all + 1), *out = malloc(row * height + 1),
            *zeros = calloc(1, row);
    z_stream z = { .next_in = (uint8_t *)(uintptr_t)coded,
                   .avail_in = (uInt)size };
    must(rows && out && zeros && inflateInit(&z) == Z_OK);
    z.next_out = rows;
    z.avail_out = (uInt)all + 1;
    bool right = inflate(&z, Z_FINISH) == Z_STREAM_END && z.total_out == all &&
                 z.avail_in == 0;
    inflateEnd(&z);
    for (uint32_t y = 0; y < height && right; y++) {
        const uint8_t *from = rows + y * (row + 1);
        right = *from < 5;
        if (right)
            plain_filter(*from, true, from + 1, y ? out + (y - 1) * row : zeros,
                         row, pixel, out + y * row);
    }
    free(rows);
    free(zeros);
    if (right)
        return out;
    free(out);
    return NULL;
}

static bool is_right(const struct picture *p, const uint8_t *pixels,
                     const uint8_t *turned)
{
    const enum xform t = p->turn;
    const uint32_t w = p->of.width, h = p->of.height;
    const size_t n = p->of.pixel, across = oracle[t].xy ? h : w;
    uint32_t sx, sy;
    for (uint32_t y = 0; y < (oracle[t].xy ? w : h); y++)
        for (uint32_t x = 0; x < across; x++) {
            turn_source(t, w, h, x, y, &sx, &sy);
            if (memcmp(turned + (y * across + x) * n,
                       pixels + ((size_t)sy * w + sx) * n, n) != 0)
                return false;
        }
    return true;
}

/* Returns channel c of what a pixel is in an array, as a part of the highest
 * sample. */
static double sample_of(const struct picture *p, const uint8_t *pixel,
                        unsigned c)
{
    const size_t at = (size_t)c << p->of.wide;
    if (p->of.indexed)
        return p->of.palette[*pixel][c] / 255.0;
    if (at >= p->of.pixel)
        return memcmp(pixel, p->of.key, p->of.pixel) != 0;
    return p->of.wide ? (pixel[at] << 8 | pixel[at + 1]) / 65535.0
                      : pixel[at] / 255.0;
}

static bool is_array(const struct picture *p, const uint8_t *pixels,
                     const uint8_t *array)
{
    const struct scan_pixels *made = &p->made;
    const size_t size = cell_size(made->cell);
    uint32_t sx, sy;
    for (size_t i = 0; i < made->size / size; i++) {
        const uint32_t joined = made->joined ? made->channels : 1;
        const size_t pixel = i / joined;
        const uint32_t x = pixel % made->width,
                       y = pixel / made->width % made->height;
        const unsigned c = made->joined
                               ? (unsigned)(i % joined)
                               : (unsigned)(pixel / made->width / made->height);
        turn_source(p->turn, p->of.width, p->of.height, x, y, &sx, &sy);
        const double want = sample_of(
            p, pixels + ((size_t)sy * p->of.width + sx) * p->of.pixel, c);
        const uint8_t byte = (uint8_t)(want * 255 + 0.5);
        const uint16_t two = (uint16_t)(want * 65535 + 0.5);
        const float one = (float)want;
        const void *cell = made->cell == CELL_U8    ? (const void *)&byte
                           : made->cell == CELL_U16 ? (const void *)&two
                                                    : (const void *)&one;
        if (memcmp(array + i * size, cell, size) != 0)
            return false;
    }
    return true;
}

/* Checks what an engine has made of a picture. Returns whether it was turned.
 */
static bool check(const struct picture *p, const struct scan_job *job,
                  const uint8_t *out, unsigned number)
{
    const bool exchanges = xform_transposes(p->turn);
    const uint32_t w = p->of.width, h = p->of.height;
    const unsigned n = p->of.pixel;
    if (job->result == SCAN_REFUSED)
        return false;
    uint8_t *pixels =
        p->of.x_step ? NULL : decode(p->coded, p->size, h, row_of(p), n);
    CHECK(pixels || p->of.x_step, "picture %u is damaged, and was turned",
          number);
    /* Damage may leave a sound stream of other pixels. */
    const uint8_t *from = pixels ? pixels : p->pixels;
    if (p->made.size) {
        CHECK(job->out_size == p->made.size &&
                  is_array(p, from, out + job->out),
              "picture %u of %u x %u, %u bytes, turn %d, to %u channels of %d",
              number, w, h, n, p->turn, p->made.channels, p->made.cell);
        free(pixels);
        return true;
    }
    owned_memory uint8_t *turned =
        decode(out + job->out, job->out_size, exchanges ? w : h,
               (size_t)(exchanges ? h : w) * n, n);
    CHECK(turned, "what picture %u became is no stream", number);
    CHECK(!turned || is_right(p, from, turned),
          "picture %u of %u x %u, %u bytes, turn %d", number, w, h, n, p->turn);
    free(pixels);
    return true;
}

/* Runs a batch, and returns how many pictures were turned. */
static unsigned run(const struct scan_engine_type *type,
                    struct picture *picture, unsigned n)
{
    struct scan_job job[JOBS] = { { .size = 0 } };
    struct scan_engine *engine;
    struct scan_engine_opts opts = { .kind = SCAN_KIND_PNG,
                                     .input = ROOM,
                                     .vram = 4ull << 30 };
    struct err err = { .memory = false };
    size_t at = 0;
    unsigned turned = 0;
    must(type->open(&engine, &opts, &err) == 0);
    for (unsigned i = 0; i < n; i++) {
        must(picture[i].size <= engine->room - at);
        memcpy(engine->input + at, picture[i].coded, picture[i].size);
        job[i] = (struct scan_job){
            .of = { .idat = &picture[i].of,
                    .turn = picture[i].turn,
                    .pixels = picture[i].made.size ? &picture[i].made : NULL },
            .at = at,
            .size = picture[i].size
        };
        at += (picture[i].size + SCAN_ALIGNMENT - 1) / SCAN_ALIGNMENT *
              SCAN_ALIGNMENT;
    }
    const int status = type->run(engine, job, n, &err);
    CHECK(status == 0, "%s", err.text);
    for (unsigned i = 0; i < n && status == 0; i++)
        turned += check(&picture[i], &job[i], engine->output, i);
    type->close(engine);
    return turned;
}

/* ---- Trials -------------------------------------------------------------- */

static void make(struct picture *p, uint32_t most)
{
    const bool narrow = below(8) == 0, flat = below(8) == 0;
    fill(p, narrow ? 1 + below(3) : 1 + below(most),
         flat ? 1 + below(3) : 1 + below(most));
    if (below(4) == 0) {
        /* Has it become an array, with colors of a palette or with a key, that
         * of one of its pixels. */
        static const enum cell cells[] = { CELL_U8, CELL_U16, CELL_F32 };
        const bool exchanges = xform_transposes(p->turn);
        const unsigned samples = p->of.pixel / (1 + p->of.wide);
        p->of.indexed = p->of.pixel == 1 && below(2);
        p->of.keyed = !p->of.indexed && samples % 2 && below(2);
        for (unsigned i = 0; i < sizeof p->of.palette; i++)
            p->of.palette[i / 4][i % 4] = (uint8_t)below(256);
        memcpy(p->of.key,
               p->pixels + p->of.pixel * below(p->of.width * p->of.height),
               p->of.pixel);
        p->made = (struct scan_pixels){
            .channels = p->of.indexed ? 3 + below(2) : samples + p->of.keyed,
            .joined = below(2),
            .cell = cells[below(3)],
            .width = exchanges ? p->of.height : p->of.width,
            .height = exchanges ? p->of.width : p->of.height,
        };
        const unsigned channels = p->made.channels;
        const size_t across = p->made.joined ? channels : 1;
        p->made.stride = across * p->made.width * cell_size(p->made.cell);
        p->made.size = p->made.stride * p->made.height * (channels / across);
    }
}

void idat_try_pictures(const struct scan_engine_type *engine, unsigned batches)
{
    for (unsigned batch = 0; batch < batches; batch++) {
        struct picture picture[JOBS] = { { .size = 0 } };
        seed = 1000 + batch;
        for (unsigned i = 0; i < JOBS; i++) {
            make(&picture[i], batch % 4 == 3 ? 400 : 90);
            if (!picture[i].made.size && below(4) == 0)
                make_array(&picture[i]);
            else
                encode(&picture[i]);
        }
        const unsigned turned = run(engine, picture, JOBS);
        CHECK(turned == JOBS, "batch %u: only %u were turned", batch, turned);
        for (unsigned i = 0; i < JOBS; i++)
            free_picture(&picture[i]);
    }
}

static void damage(struct picture *p)
{
    if (below(8) == 0)
        p->size = below((uint32_t)p->size) + 1;
    if (p->size <= 6)
        return;
    /* The header of the stream is looked at before. */
    for (unsigned n = 1 + below(4); n; n--)
        p->coded[2 + below((uint32_t)p->size - 2)] ^= 1u << below(8);
    if (below(4) == 0)
        for (unsigned n = below(40), at = 2 + below((uint32_t)p->size - 2);
             n && at < p->size; n--)
            p->coded[at++] = (uint8_t)below(256);
}

void idat_try_damage(const struct scan_engine_type *engine, unsigned batches)
{
    unsigned turned = 0;
    for (unsigned batch = 0; batch < batches; batch++) {
        struct picture picture[JOBS] = { { .size = 0 } };
        seed = 5000 + batch;
        for (unsigned i = 0; i < JOBS; i++) {
            make(&picture[i], 100);
            encode(&picture[i]);
            damage(&picture[i]);
        }
        turned += run(engine, picture, JOBS);
        for (unsigned i = 0; i < JOBS; i++)
            free_picture(&picture[i]);
    }
    CHECK(turned < batches * JOBS / 2, "%u were turned", turned);
}

/* Writes bits, the lowest first. */
static void put(struct picture *p, size_t *at, uint32_t bits, unsigned n)
{
    for (; n; n--, bits >>= 1, ++*at)
        p->coded[*at / 8] |= (uint8_t)((bits & 1) << *at % 8);
}

void idat_try_costly(const struct scan_engine_type *engine)
{
    enum { BYTES = 200000 };
    struct picture picture[3] = { { .size = 0 } };
    for (unsigned i = 0; i < 3; i++) {
        struct picture *p = &picture[i];
        size_t at = 16;
        seed = 7;
        fill(p, 300, 300);
        p->coded = calloc(1, BYTES);
        must(p->coded);
        p->size = BYTES;
        p->coded[0] = 0x78;
        p->coded[1] = 0x9c;
        if (i == 0) /* blocks of nothing */
            while (at < BYTES * 8ul - 64)
                put(p, &at, 2, 10);
        if (i == 1) /* matches, each of the one before */
            for (put(p, &at, 3, 3), put(p, &at, 0x0c, 8);
                 at < BYTES * 8ul - 64;)
                put(p, &at, 0x40 | 0, 12);
        if (i == 2) /* a code of 9 bits, so that parts hardly ever agree */
            for (put(p, &at, 3, 3); at < BYTES * 8ul - 64;)
                put(p, &at, 0x13, 9);
    }
    CHECK(run(engine, picture, 3) == 0, "some were turned");
    for (unsigned i = 0; i < 3; i++)
        free_picture(&picture[i]);
}
