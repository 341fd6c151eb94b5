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
    struct idat_turn turn;
    uint8_t *pixels;
    uint8_t *coded;
    size_t size; /* of `coded` */
};

static size_t row_of(const struct picture *p)
{
    return (size_t)p->turn.width * p->turn.pixel;
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
    p->turn.width = width;
    p->turn.height = height;
    p->turn.pixel = pixels[below(6)];
    p->turn.turn = (enum xform)below(8);
    p->turn.any_size = true;
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
    const size_t row = row_of(p), all = (row + 1) * p->turn.height;
    const unsigned one = below(7);
    owned_memory uint8_t *rows = malloc(all), *zeros = calloc(1, row);
    z_stream z = { .zalloc = NULL };
    must(rows && zeros);
    for (uint32_t y = 0; y < p->turn.height; y++) {
        uint8_t *to = rows + y * (row + 1);
        *to = (uint8_t)(one < 5 ? one : below(5));
        plain_filter(*to, false, p->pixels + y * row,
                     y ? p->pixels + (y - 1) * row : zeros, row, p->turn.pixel,
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
    const enum xform t = p->turn.turn;
    const uint32_t w = p->turn.width, h = p->turn.height;
    const size_t n = p->turn.pixel, across = oracle[t].xy ? h : w;
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

/* Checks what an engine has made of a stream. Returns whether it was turned. */
static bool check(const struct picture *p, const struct scan_job *job,
                  const uint8_t *out, unsigned number)
{
    const bool exchanges = xform_transposes(p->turn.turn);
    const uint32_t w = p->turn.width, h = p->turn.height;
    const unsigned n = p->turn.pixel;
    uint8_t *pixels = decode(p->coded, p->size, h, row_of(p), n);
    if (job->result == SCAN_REFUSED) {
        free(pixels);
        return false;
    }
    CHECK(pixels, "picture %u is damaged, and was turned", number);
    uint8_t *turned = decode(out + job->out, job->out_size, exchanges ? w : h,
                             (size_t)(exchanges ? h : w) * n, n);
    CHECK(turned, "what picture %u became is no stream", number);
    CHECK(!pixels || !turned || is_right(p, pixels, turned),
          "picture %u of %u x %u, %u bytes, turn %d", number, w, h, n,
          p->turn.turn);
    free(pixels);
    free(turned);
    return true;
}

/* Runs a batch, and returns how many pictures were turned. */
static unsigned run(const struct scan_engine_type *type,
                    struct picture *picture, unsigned n)
{
    struct scan_job job[JOBS] = { { .size = 0 } };
    struct scan_engine *engine;
    struct scan_engine_opts opts = { .input = ROOM, .vram = 4ull << 30 };
    struct err err = { .memory = false };
    size_t room, at = 0;
    unsigned turned = 0;
    must(type->open(&engine, &opts, &err) == 0);
    uint8_t *input = type->input(engine, &room);
    for (unsigned i = 0; i < n; i++) {
        must(picture[i].size <= room - at);
        memcpy(input + at, picture[i].coded, picture[i].size);
        job[i] = (struct scan_job){ .idat = &picture[i].turn,
                                    .at = at,
                                    .size = picture[i].size };
        at += (picture[i].size + SCAN_ALIGNMENT - 1) / SCAN_ALIGNMENT *
              SCAN_ALIGNMENT;
    }
    const int status = type->run(engine, job, n, &err);
    CHECK(status == 0, "%s", err.text);
    for (unsigned i = 0; i < n && status == 0; i++)
        turned += check(&picture[i], &job[i], type->output(engine), i);
    type->close(engine);
    return turned;
}

/* ---- Trials -------------------------------------------------------------- */

static void make(struct picture *p, uint32_t most)
{
    const bool narrow = below(8) == 0, flat = below(8) == 0;
    fill(p, narrow ? 1 + below(3) : 1 + below(most),
         flat ? 1 + below(3) : 1 + below(most));
    encode(p);
}

void idat_try_pictures(const struct scan_engine_type *engine, unsigned batches)
{
    for (unsigned batch = 0; batch < batches; batch++) {
        struct picture picture[JOBS] = { { .size = 0 } };
        seed = 1000 + batch;
        for (unsigned i = 0; i < JOBS; i++)
            make(&picture[i], batch % 4 == 3 ? 400 : 90);
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
