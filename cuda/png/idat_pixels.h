/* Rows of a picture: undoing their filters, turning their pixels, choosing and
 * applying filters (PNG, Third Edition, sections 9 and 12.7).
 *
 * Undoing a filter needs the pixels to the left and above. So a thread has a
 * row, UNDO_CHUNK bytes at a time, and is one such step behind the thread that
 * has the row above; what that one has made it finds in shared memory. All
 * UNDO_THREADS rows are read and written once.
 *
 * Traffic of a picture of n bytes: undo 2 n, turn 2 n, choose and apply 3 n (a
 * row is read with the one above), check 3 n. */
#ifndef CUDA_PNG_IDAT_PIXELS_H
#define CUDA_PNG_IDAT_PIXELS_H

#include "cuda/png/idat_picture.h"

enum {
    UNDO_THREADS = 128,
    UNDO_CHUNK = 24, /* bytes: a multiple of those of each pixel */
    UNDO_LEFT = 8,   /* bytes before them, in which the last pixel is */
    TURN_THREADS = 256,
    FILTER_THREADS = 128,
    FILTER_KINDS = 5, /* none, sub, up, average, Paeth */
    ADLER_THREADS = 256,
    ADLER_MODULUS = 65521,
};

/* Returns what a filter predicts of the bytes to the left (a), above (b), and
 * above that one to the left (c). */
IDAT_FN uint32_t filter_predict(uint32_t kind, int a, int b, int c)
{
    const int pa = b - c, pb = a - c, pc = pa + pb;
    const int da = pa < 0 ? -pa : pa, db = pb < 0 ? -pb : pb,
              dc = pc < 0 ? -pc : pc;
    return (uint32_t)(kind == 0              ? 0
                      : kind == 1            ? a
                      : kind == 2            ? b
                      : kind == 3            ? (a + b) / 2
                      : da <= db && da <= dc ? a
                      : db <= dc             ? b
                                             : c);
}

/* ---- Adler-32 ------------------------------------------------------------ */

struct adler_shared {
    uint32_t sum[2];
};

/* Adds the bytes to both sums, as 16 bits of each: of the bytes, and of these
 * times the number of those from them to the end. `size` is at most
 * IDAT_BAND, so that no thread's sums exceed 2^32: 256 bytes of 255 times
 * 65,536. */
IDAT_FN void adler_add(struct adler_shared *s, const uint8_t *bytes,
                       uint32_t size)
{
    PHASE(t, ADLER_THREADS)
    if (t < 2)
        s->sum[t] = 0;
    PHASE(t, ADLER_THREADS)
    {
        uint32_t a = 0;
        uint64_t b = 0;
        for (uint32_t i = t; i < size; i += ADLER_THREADS) {
            a += bytes[i];
            b += (uint64_t)bytes[i] * (size - i);
        }
        IDAT_ADD(&s->sum[0], a % ADLER_MODULUS);
        IDAT_ADD(&s->sum[1], (uint32_t)(b % ADLER_MODULUS));
    }
}

/* Adds a part of so many bytes to a checksum. */
IDAT_FN uint32_t adler_join(uint32_t adler, const uint32_t sum[2],
                            uint32_t size)
{
    const uint64_t a = adler & 0xffff, b = adler >> 16;
    return (uint32_t)((a + sum[0]) % ADLER_MODULUS |
                      (b + a * size + sum[1]) % ADLER_MODULUS << 16);
}

/* Checks the checksum of what was inflated: ADLER_THREADS threads. */
IDAT_FN void idat_check_adler(const struct idat_params *p, uint32_t file,
                              struct adler_shared *s)
{
    const struct idat_file *f = &p->file[file];
    const uint8_t *rows = p->memory + f->rows;
    const uint8_t *end = p->input + f->in + f->in_size - IDAT_CHECKSUM;
    uint32_t adler = 1;
    for (uint32_t at = 0; at < f->from.size; at += IDAT_BAND) {
        const uint32_t left = f->from.size - at;
        const uint32_t size = idat_least(left, IDAT_BAND);
        adler_add(s, rows + at, size);
        adler = adler_join(adler, s->sum, size);
    }
    PHASE(t, ADLER_THREADS)
    if (t == 0 &&
        adler != ((uint32_t)end[0] << 24 | end[1] << 16 | end[2] << 8 | end[3]))
        p->status[file].refused = 1;
}

/* Sums a band that is to be encoded. */
IDAT_FN void idat_sum_band(const struct idat_params *p, uint32_t band,
                           struct adler_shared *s)
{
    struct idat_band *b = &p->band[band];
    const struct idat_file *f = &p->file[b->file];
    const uint32_t number = band - f->band;
    adler_add(s, p->memory + f->rows + (uint64_t)number * IDAT_BAND,
              idat_band_size(f, number));
    PHASE(t, ADLER_THREADS)
    if (t < 2)
        b->adler[t] = s->sum[t];
}

/* ---- Undoing filters ----------------------------------------------------- */

IDAT_FN uint64_t pixel_load(const uint8_t *at, unsigned bytes)
{
    uint64_t pixel = 0;
    for (unsigned i = 0; i < bytes; i++)
        pixel |= (uint64_t)at[i] << 8 * i;
    return pixel;
}

struct undo_shared {
    /* What each thread has made in this step and in the one before: the bytes
     * to the left of a chunk, and the chunk. */
    uint8_t made[2][UNDO_THREADS][UNDO_LEFT + UNDO_CHUNK];
    uint8_t above[UNDO_LEFT + UNDO_CHUNK]; /* the first of their rows */
    uint32_t bad;
};

/* Undoes the filter of a chunk; `above` has what s->made has, of the row
 * above. */
IDAT_FN void undo_chunk(struct undo_shared *s, const struct idat_file *f,
                        unsigned t, unsigned now, const uint8_t *row,
                        uint32_t at, const uint8_t *above)
{
    const uint32_t left = f->from.row - 1 - at, kind = row[0];
    const uint32_t n = idat_least(left, UNDO_CHUNK);
    uint8_t *made = s->made[now][t];
    const uint8_t *before = s->made[!now][t];
    uint8_t bytes[UNDO_CHUNK];
    for (unsigned i = 0; i < UNDO_CHUNK; i++)
        bytes[i] = i < n ? row[1 + at + i] : 0;
    for (unsigned i = 0; i < UNDO_LEFT; i++)
        made[i] = at ? before[UNDO_CHUNK + i] : 0;
    for (unsigned i = 0; i < UNDO_CHUNK; i++)
        made[UNDO_LEFT + i] =
            (uint8_t)(bytes[i] +
                      filter_predict(kind, made[UNDO_LEFT + i - f->pixel],
                                     above[UNDO_LEFT + i],
                                     above[UNDO_LEFT + i - f->pixel]));
}

/* Undoes the filters of a picture: UNDO_THREADS threads. */
IDAT_FN void idat_undo(const struct idat_params *p, uint32_t file,
                       struct undo_shared *s)
{
    const struct idat_file *f = &p->file[file];
    const uint32_t row = f->from.row, pitch = f->from.pitch;
    const uint32_t chunks = (row - 1 + UNDO_CHUNK - 1) / UNDO_CHUNK;
    const uint8_t *rows = p->memory + f->rows;
    uint8_t *pixels = p->memory + f->pixels;
    PHASE(t, UNDO_THREADS)
    if (t == 0)
        s->bad = 0;
    for (uint32_t y = 0; y < f->from.height; y += UNDO_THREADS) {
        for (uint32_t step = 0; step < chunks + UNDO_THREADS - 1; step++) {
            PHASE(t, UNDO_THREADS)
            {
                const uint32_t at = (step - t) * UNDO_CHUNK;
                const unsigned now = step % 2;
                if (step < t || step - t >= chunks || y + t >= f->from.height)
                    continue;
                const uint8_t *from = rows + (uint64_t)(y + t) * row;
                uint8_t *out = pixels + (uint64_t)(y + t) * pitch + at;
                for (unsigned i = 0; t == 0 && i < sizeof s->above; i++)
                    s->above[i] = y == 0 || at + i < UNDO_LEFT
                                      ? 0
                                      : *(out + i - UNDO_LEFT - pitch);
                if (from[0] >= FILTER_KINDS)
                    IDAT_OR(&s->bad, 1);
                undo_chunk(s, f, t, now, from, at,
                           t ? s->made[!now][t - 1] : s->above);
                /* Rows of pixels have room for the last chunk. */
                for (unsigned i = 0; i < UNDO_CHUNK / IDAT_PITCH; i++)
                    ((uint64_t *)(void *)out)[i] =
                        pixel_load(s->made[now][t] + UNDO_LEFT + i * IDAT_PITCH,
                                   IDAT_PITCH);
            }
        }
    }
    PHASE(t, UNDO_THREADS)
    if (t == 0 && s->bad)
        p->status[file].refused = 1;
}

/* ---- Turning ------------------------------------------------------------- */

struct turn_shared {
    uint64_t pixel[IDAT_TILE][IDAT_TILE + 1];
};

/* Moves a square of the turned picture, which is read and written by rows:
 * TURN_THREADS threads. */
IDAT_FN void idat_move(const struct idat_params *p, uint32_t tile,
                       struct turn_shared *s)
{
    const uint32_t file = idat_file_of(p, IDAT_TILES, tile);
    const struct idat_file *f = &p->file[file];
    const uint32_t width = f->to.width, height = f->to.height;
    const uint32_t across = (width + IDAT_TILE - 1) / IDAT_TILE;
    const uint32_t x0 = (tile - f->before[IDAT_TILES]) % across * IDAT_TILE;
    const uint32_t y0 = (tile - f->before[IDAT_TILES]) / across * IDAT_TILE;
    const uint8_t *from = p->memory + f->pixels;
    uint8_t *to = p->memory + f->turned;
    const bool exchanges = f->turn & XFORM_TRANSPOSE;
    if (p->status[file].refused)
        return;
    PHASE(t, TURN_THREADS)
    for (unsigned i = t; i < IDAT_TILE * IDAT_TILE; i += TURN_THREADS) {
        const unsigned fast = i % IDAT_TILE, slow = i / IDAT_TILE;
        const unsigned dx = exchanges ? slow : fast;
        const unsigned dy = exchanges ? fast : slow;
        if (x0 + dx >= width || y0 + dy >= height)
            continue;
        const uint32_t x =
            f->turn & XFORM_MIRROR_X ? width - 1 - x0 - dx : x0 + dx;
        const uint32_t y =
            f->turn & XFORM_MIRROR_Y ? height - 1 - y0 - dy : y0 + dy;
        const uint64_t at =
            exchanges ? (uint64_t)x * f->from.pitch + (uint64_t)y * f->pixel
                      : (uint64_t)y * f->from.pitch + (uint64_t)x * f->pixel;
        s->pixel[dy][dx] = pixel_load(from + at, f->pixel);
    }
    PHASE(t, TURN_THREADS)
    for (unsigned i = t; i < IDAT_TILE * IDAT_TILE; i += TURN_THREADS) {
        const unsigned dx = i % IDAT_TILE, dy = i / IDAT_TILE;
        if (x0 + dx >= width || y0 + dy >= height)
            continue;
        uint8_t *out = to + (uint64_t)(y0 + dy) * f->to.pitch +
                       (uint64_t)(x0 + dx) * f->pixel;
        for (unsigned k = 0; k < f->pixel; k++)
            out[k] = (uint8_t)(s->pixel[dy][dx] >> 8 * k);
    }
}

/* ---- Filters ------------------------------------------------------------- */

struct filter_shared {
    uint32_t sum[FILTER_KINDS];
    uint32_t kind;
};

/* The filtered byte at x of a row of pixels. */
IDAT_FN uint32_t filter_byte(uint32_t kind, const uint8_t *row,
                             const uint8_t *above, uint32_t x, uint32_t pixel)
{
    const int a = x >= pixel ? row[x - pixel] : 0;
    const int b = above ? above[x] : 0;
    const int c = above && x >= pixel ? above[x - pixel] : 0;
    return (row[x] - filter_predict(kind, a, b, c)) & 0xff;
}

/* The filter of all rows by a choice. */
IDAT_FN uint32_t filter_of_choice(uint32_t choice)
{
    return choice - 1; /* none, sub and up */
}

/* Filters row y to `out`, by a choice: so many threads. */
IDAT_FN void filter_row_of(const struct idat_params *p,
                           const struct idat_file *f, uint32_t y,
                           uint32_t choice, uint8_t *out,
                           struct filter_shared *s, unsigned threads)
{
    const uint8_t *row = p->memory + f->turned + (uint64_t)y * f->to.pitch;
    const uint8_t *above = y ? row - f->to.pitch : NULL;
    const uint32_t size = f->to.row - 1;
    PHASE(t, threads)
    {
        if (t < FILTER_KINDS)
            s->sum[t] = 0;
        if (t == 0)
            s->kind = choice == IDAT_ADAPTIVE ? 0 : filter_of_choice(choice);
    }
    if (choice == IDAT_ADAPTIVE) {
        PHASE(t, threads)
        {
            uint32_t sum[FILTER_KINDS] = { 0, 0, 0, 0, 0 };
            for (uint32_t x = t; x < size; x += threads)
                for (unsigned k = 0; k < FILTER_KINDS; k++) {
                    const uint32_t byte =
                        filter_byte(k, row, above, x, f->pixel);
                    sum[k] += byte < 128 ? byte : 256 - byte;
                }
            for (unsigned k = 0; k < FILTER_KINDS; k++)
                IDAT_ADD(&s->sum[k], sum[k]);
        }
        PHASE(t, threads)
        if (t == 0)
            for (unsigned k = 1; k < FILTER_KINDS; k++)
                if (s->sum[k] < s->sum[s->kind])
                    s->kind = k;
    }
    PHASE(t, threads)
    {
        if (t == 0)
            out[0] = (uint8_t)s->kind;
        for (uint32_t x = t; x < size; x += threads)
            out[1 + x] = (uint8_t)filter_byte(s->kind, row, above, x, f->pixel);
    }
}

/* Filters a row of the batch as is chosen for its picture. */
IDAT_FN void idat_filter(const struct idat_params *p, uint32_t row,
                         struct filter_shared *s)
{
    const uint32_t file = idat_file_of(p, IDAT_ROWS, row);
    const struct idat_file *f = &p->file[file];
    const uint32_t y = row - f->before[IDAT_ROWS];
    if (p->status[file].refused)
        return;
    filter_row_of(p, f, y, p->status[file].filter,
                  p->memory + f->rows + (uint64_t)y * f->to.row, s,
                  FILTER_THREADS);
}

/* Undoes the filter of a row of the batch, and compares: FILTER_THREADS
 * threads. All before it is compared by others, so what the filter refers to is
 * there. */
IDAT_FN void idat_check_row(const struct idat_params *p, uint32_t number)
{
    const uint32_t file = idat_file_of(p, IDAT_ROWS, number);
    const struct idat_file *f = &p->file[file];
    const uint32_t y = number - f->before[IDAT_ROWS];
    const uint8_t *made = p->memory + f->rows + (uint64_t)y * f->to.row;
    const uint8_t *row = p->memory + f->turned + (uint64_t)y * f->to.pitch;
    const uint8_t *above = y ? row - f->to.pitch : NULL;
    PHASE(t, FILTER_THREADS)
    {
        bool wrong = made[0] >= FILTER_KINDS;
        for (uint32_t x = t; x < f->to.row - 1; x += FILTER_THREADS) {
            const int a = x >= f->pixel ? row[x - f->pixel] : 0;
            const int b = above ? above[x] : 0;
            const int c = above && x >= f->pixel ? above[x - f->pixel] : 0;
            const uint32_t byte =
                made[1 + x] + filter_predict(made[0], a, b, c);
            wrong = wrong || (byte & 0xff) != row[x];
        }
        if (wrong)
            IDAT_OR(&p->status[file].refused, 1);
    }
}

#endif
