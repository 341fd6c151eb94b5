/* Rows of a picture: undoing their filters, turning their pixels, choosing and
 * applying filters (PNG, Third Edition, sections 9 and 12.7).
 *
 * Undoing a filter needs the pixels to the left and above. So a thread has a
 * row, UNDO_CHUNK bytes at a time, and is one such step behind the thread that
 * has the row above; what that one has made it finds in shared memory, and
 * there it leaves what it has loaded for its next step. All UNDO_THREADS rows
 * are read and written once.
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
    UNDO_WORDS = (UNDO_LEFT + UNDO_CHUNK) / 4,
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
        word_add(&s->sum[0], a % ADLER_MODULUS);
        word_add(&s->sum[1], (uint32_t)(b % ADLER_MODULUS));
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
    if (!f->from.size)
        return;
    for (uint32_t at = 0; at < f->from.size; at += IDAT_BAND) {
        const uint32_t left = f->from.size - at;
        const uint32_t size = word_least(left, IDAT_BAND);
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
     * to the left of a chunk, and the chunk; threads side by side. */
    uint32_t made[2][UNDO_WORDS][UNDO_THREADS];
    /* What each loads for its next chunk, so that it is there in time; and the
     * same of the row above the first. */
    uint32_t coded[UNDO_CHUNK / 4][UNDO_THREADS];
    uint32_t above[UNDO_WORDS];
    uint32_t kind[UNDO_THREADS];
    uint32_t bad;
};

/* Loads n bytes of a chunk; the others are 0. */
IDAT_FN void undo_load(const uint8_t *at, uint32_t n,
                       uint32_t word[UNDO_CHUNK / 4])
{
    PHASE_UNROLL
    for (unsigned i = 0; i < UNDO_CHUNK / 8; i++) {
        const uint32_t left = n > 8 * i ? n - 8 * i : 0;
        const uint64_t bytes =
            n == UNDO_CHUNK ? idat_load(at + 8 * i)
                            : pixel_load(at + 8 * i, word_least(left, 8));
        word[2 * i] = (uint32_t)bytes;
        word[2 * i + 1] = (uint32_t)(bytes >> 32);
    }
}

IDAT_FN int undo_byte(const uint32_t *word, unsigned i)
{
    return (int)(word[i / 4] >> 8 * (i % 4) & 0xff);
}

/* Undoes the filter of a chunk, all of which stay in registers: so `pixel` is a
 * constant where this is called. Of `made` and `above`, of the row above, are
 * UNDO_LEFT bytes before the chunk; the others of `made` are 0 at first. */
IDAT_FN void undo_bytes(uint32_t made[UNDO_WORDS],
                        const uint32_t above[UNDO_WORDS],
                        const uint32_t coded[UNDO_CHUNK / 4], uint32_t kind,
                        unsigned pixel)
{
    PHASE_UNROLL
    for (unsigned i = 0; i < UNDO_CHUNK; i++) {
        const unsigned at = UNDO_LEFT + i;
        const uint32_t byte =
            (uint32_t)undo_byte(coded, i) +
            filter_predict(kind, undo_byte(made, at - pixel),
                           undo_byte(above, at), undo_byte(above, at - pixel));
        made[at / 4] |= (byte & 0xff) << 8 * (at % 4);
    }
}

/* Calls a function whose last parameter, the bytes of a pixel, is to be a
 * constant. */
#define BY_PIXEL(pixel, function, ...)                                         \
    do {                                                                       \
        if ((pixel) == 1)                                                      \
            function(__VA_ARGS__, 1);                                          \
        else if ((pixel) == 2)                                                 \
            function(__VA_ARGS__, 2);                                          \
        else if ((pixel) == 3)                                                 \
            function(__VA_ARGS__, 3);                                          \
        else if ((pixel) == 4)                                                 \
            function(__VA_ARGS__, 4);                                          \
        else if ((pixel) == 6)                                                 \
            function(__VA_ARGS__, 6);                                          \
        else                                                                   \
            function(__VA_ARGS__, 8);                                          \
    } while (0)

/* Loads a chunk of row y, from byte `at` on; and of the row above, if that is
 * done: if this is the first of UNDO_THREADS. */
IDAT_FN void undo_fetch(const struct idat_params *p, const struct idat_file *f,
                        uint32_t y, uint32_t at, uint32_t coded[UNDO_CHUNK / 4],
                        uint32_t above[UNDO_WORDS])
{
    const uint8_t *row = p->memory + f->rows + (uint64_t)y * f->from.row;
    const uint8_t *pixels = p->memory + f->pixels;
    const uint32_t left = f->from.row - 1 - at;
    undo_load(row + 1 + at, word_least(left, UNDO_CHUNK), coded);
    if (y % UNDO_THREADS || y == 0)
        return;
    pixels += (uint64_t)(y - 1) * f->from.pitch + at;
    PHASE_UNROLL
    for (unsigned i = 0; i < UNDO_WORDS; i++)
        if (at || i >= UNDO_LEFT / 4)
            above[i] = ((
                const uint32_t *)(const void *)pixels)[(int)i - UNDO_LEFT / 4];
}

/* Undoes the filters of a chunk of row y, from byte `at` on. */
IDAT_FN void undo_step(const struct idat_params *p, const struct idat_file *f,
                       struct undo_shared *s, uint32_t y, uint32_t at)
{
    const unsigned t = y % UNDO_THREADS, now = (at / UNDO_CHUNK + t) % 2;
    enum { LEFT = UNDO_LEFT / 4, CODED = UNDO_CHUNK / 4 };
    uint32_t next[CODED] = { 0 }, next_above[UNDO_WORDS] = { 0 };
    uint32_t coded[CODED], above[UNDO_WORDS], made[UNDO_WORDS];
    if (at == 0) {
        s->kind[t] = p->memory[f->rows + (uint64_t)y * f->from.row];
        if (s->kind[t] >= FILTER_KINDS)
            word_or(&s->bad, 1);
        undo_fetch(p, f, y, at, next, next_above);
    }
    PHASE_UNROLL
    for (unsigned i = 0; i < UNDO_WORDS; i++) {
        made[i] = i < LEFT && at ? s->made[!now][i + CODED][t] : 0;
        above[i] = t    ? s->made[!now][i][t - 1]
                   : at ? s->above[i]
                        : next_above[i];
    }
    PHASE_UNROLL
    for (unsigned i = 0; i < CODED; i++)
        coded[i] = at ? s->coded[i][t] : next[i];
    if (at + UNDO_CHUNK < f->from.row - 1)
        undo_fetch(p, f, y, at + UNDO_CHUNK, next, next_above);
    BY_PIXEL(f->of.pixel, undo_bytes, made, above, coded, s->kind[t]);
    PHASE_UNROLL
    for (unsigned i = 0; i < UNDO_WORDS; i++) {
        s->made[now][i][t] = made[i];
        if (t == 0)
            s->above[i] = next_above[i];
    }
    PHASE_UNROLL
    for (unsigned i = 0; i < CODED; i++)
        s->coded[i][t] = next[i];
    /* Rows of pixels have room for the last chunk. */
    uint64_t *out = (uint64_t *)(void *)(p->memory + f->pixels +
                                         (uint64_t)y * f->from.pitch + at);
    PHASE_UNROLL
    for (unsigned i = 0; i < CODED / 2; i++)
        out[i] = (uint64_t)made[LEFT + 2 * i + 1] << 32 | made[LEFT + 2 * i];
}

/* Undoes the filters of a picture: UNDO_THREADS threads. */
IDAT_FN void idat_undo(const struct idat_params *p, uint32_t file,
                       struct undo_shared *s)
{
    const struct idat_file *f = &p->file[file];
    const uint32_t chunks = (f->from.row - 1 + UNDO_CHUNK - 1) / UNDO_CHUNK;
    PHASE(t, UNDO_THREADS)
    if (t == 0)
        s->bad = 0;
    for (uint32_t y = 0; y < f->from.height; y += UNDO_THREADS)
        for (uint32_t step = 0; step < chunks + UNDO_THREADS - 1; step++)
            PHASE(t, UNDO_THREADS)
    if (step >= t && step - t < chunks && y + t < f->from.height)
        undo_step(p, f, s, y + t, (step - t) * UNDO_CHUNK);
    PHASE(t, UNDO_THREADS)
    if (t == 0 && s->bad)
        p->status[file].refused = 1;
}

/* ---- Turning ------------------------------------------------------------- */

struct move_shared {
    union {
        struct array_plane plane[8]; /* of the bytes of pixels */
        /* Rows of up to 64 pixels, as words: of an odd number of these, so that
         * a column of pixels lies in different banks. */
        uint32_t word[ARRAY_SIDE * (ARRAY_SIDE / 4 * 8 + 1)];
    };
};

/* Moves a square from rows of a PNG to rows of one, four bytes at a time on
 * both sides; each of these is found among the rows in shared memory, where a
 * step across or down the turned square is one of so many bytes. `pixel` is a
 * constant where this is called. */
IDAT_FN void move_rows(const struct idat_params *p, const struct idat_file *f,
                       const struct array_place *at, struct move_shared *s,
                       unsigned pixel)
{
    enum { AT_ONCE = 4 }; /* loads that a thread waits for */
    const unsigned wide = ARRAY_SIDE * pixel / 4, staged = wide + 1;
    const bool transposes = (f->array.turn & XFORM_TRANSPOSE) != 0,
               mirrors_x = (f->array.turn & XFORM_MIRROR_X) != 0,
               mirrors_y = (f->array.turn & XFORM_MIRROR_Y) != 0;
    const uint32_t x0 = mirrors_x ? f->array.width - at->x - at->width : at->x;
    const uint32_t y0 =
        mirrors_y ? f->array.height - at->y - at->height : at->y;
    const uint32_t begin = (transposes ? y0 : x0) * pixel,
                   row = transposes ? x0 : y0;
    const uint32_t rows = transposes ? at->width : at->height;
    const uint32_t words =
        (begin % 4 + (transposes ? at->height : at->width) * pixel + 3) / 4;
    const uint32_t *const from =
        (const uint32_t *)(const void *)(p->memory + f->pixels) + begin / 4;
    const uint32_t pitch = f->from.pitch / 4;
    PHASE(t, ARRAY_THREADS)
    for (unsigned i = t; i < rows * staged; i += AT_ONCE * ARRAY_THREADS) {
        uint32_t word[AT_ONCE];
        PHASE_UNROLL
        for (unsigned n = 0; n < AT_ONCE; n++) {
            const unsigned k = i + n * ARRAY_THREADS;
            word[n] =
                k < rows * staged && k % staged < words
                    ? from[(uint64_t)(row + k / staged) * pitch + k % staged]
                    : 0;
        }
        PHASE_UNROLL
        for (unsigned n = 0; n < AT_ONCE; n++)
            if (i + n * ARRAY_THREADS < rows * staged)
                s->word[i + n * ARRAY_THREADS] = word[n];
    }
    const int step_x = transposes ? 4 * (int)staged : (int)pixel,
              step_y = transposes ? (int)pixel : 4 * (int)staged;
    const int across = mirrors_x ? -step_x : step_x,
              down = mirrors_y ? -step_y : step_y;
    const int first = (int)(begin % 4) +
                      (mirrors_x ? (int)(at->width - 1) * step_x : 0) +
                      (mirrors_y ? (int)(at->height - 1) * step_y : 0);
    const uint8_t *const bytes = (const uint8_t *)s->word;
    uint32_t *const to =
        (uint32_t *)(void *)(p->memory + f->turned +
                             (uint64_t)at->y * f->to.pitch + at->x * pixel);
    PHASE(t, ARRAY_THREADS)
    for (unsigned i = t; i < at->height * wide; i += ARRAY_THREADS) {
        const unsigned y = i / wide, begins = i % wide * 4;
        uint32_t word = 0;
        if (begins >= at->width * pixel)
            continue;
        PHASE_UNROLL
        for (unsigned k = 0; k < 4; k++) {
            const unsigned x = (begins + k) / pixel, c = (begins + k) % pixel;
            if (x < at->width)
                word |=
                    (uint32_t)
                        bytes[first + across * (int)x + down * (int)y + (int)c]
                    << 8 * k;
        }
        to[(uint64_t)y * (f->to.pitch / 4) + begins / 4] = word;
    }
}

/* Loads a pixel to its place in planes: as it is, or as an array has it. */
IDAT_FN void move_load(const struct idat_file *f, const uint8_t *pixel,
                       struct move_shared *s, unsigned place)
{
    bool same = f->of.keyed;
    for (unsigned k = 0; k < f->of.pixel; k++) {
        const uint8_t byte = pixel[f->of.byte[k]];
        s->plane[k].byte[place] = byte;
        same = same && byte == f->of.key[k];
    }
    for (unsigned k = 0; f->of.indexed && k < 4; k++)
        s->plane[k].byte[place] = f->of.palette[*pixel][k];
    for (unsigned k = 0; f->of.keyed && k < 1u + f->of.wide; k++)
        s->plane[f->of.pixel + k].byte[place] = same ? 0 : 255;
}

/* Moves a square of the turned picture: ARRAY_THREADS threads. */
IDAT_FN void idat_move(const struct idat_params *p, uint32_t tile,
                       struct move_shared *s)
{
    const uint32_t file = idat_file_of(p, IDAT_TILES, tile);
    const struct idat_file *f = &p->file[file];
    const struct array_place at = array_find(&f->array, tile);
    const uint8_t *from =
        f->from.size ? p->memory + f->pixels : p->input + f->in;
    if (p->status[file].refused)
        return;
    if (f->from.size && f->to.size) {
        BY_PIXEL(f->of.pixel, move_rows, p, f, &at, s);
        return;
    }
    PHASE(t, ARRAY_THREADS)
    for (unsigned i = t; i < ARRAY_CELLS; i += ARRAY_THREADS) {
        uint32_t x, y;
        unsigned place;
        if (array_source(&at, i, &place, &x, &y))
            move_load(f,
                      from + (uint64_t)y * f->of.y_step +
                          (uint64_t)x * f->of.x_step,
                      s, place);
    }
    PHASE(t, ARRAY_THREADS)
    array_store(p->memory, &at, t, s->plane, f->of.wide && !f->to.size);
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
            s->kind = choice == IDAT_ADAPTIVE ? 0 : choice - 1; /* up to up */
    }
    if (choice == IDAT_ADAPTIVE) {
        PHASE(t, threads)
        {
            uint32_t sum[FILTER_KINDS] = { 0, 0, 0, 0, 0 };
            for (uint32_t x = t; x < size; x += threads)
                for (unsigned k = 0; k < FILTER_KINDS; k++) {
                    const uint32_t byte =
                        filter_byte(k, row, above, x, f->of.pixel);
                    sum[k] += byte < 128 ? byte : 256 - byte;
                }
            for (unsigned k = 0; k < FILTER_KINDS; k++)
                word_add(&s->sum[k], sum[k]);
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
            out[1 + x] =
                (uint8_t)filter_byte(s->kind, row, above, x, f->of.pixel);
    }
}

/* Filters rows of a picture of the batch, as is chosen for it. */
IDAT_FN void idat_filter(const struct idat_params *p, uint32_t rows,
                         struct filter_shared *s)
{
    const uint32_t file = idat_file_of(p, IDAT_ROWS, rows);
    const struct idat_file *f = &p->file[file];
    const uint32_t y0 = (rows - f->before[IDAT_ROWS]) * IDAT_ROWS_EACH;
    const uint32_t end = word_least(y0 + IDAT_ROWS_EACH, f->to.height);
    if (p->status[file].refused)
        return;
    for (uint32_t y = y0; y < end; y++)
        filter_row_of(p, f, y, p->status[file].filter,
                      p->memory + f->rows + (uint64_t)y * f->to.row, s,
                      FILTER_THREADS);
}

/* Checks the filters of rows of a picture: that each row is, its filter undone,
 * what it was made of. All before a byte is compared by others, so what the
 * filter refers to is there. FILTER_THREADS threads. */
IDAT_FN void idat_check_rows(const struct idat_params *p, uint32_t rows,
                             struct phase_nothing *s)
{
    const uint32_t file = idat_file_of(p, IDAT_ROWS, rows);
    const struct idat_file *f = &p->file[file];
    const uint32_t y0 = (rows - f->before[IDAT_ROWS]) * IDAT_ROWS_EACH;
    const uint32_t end = word_least(y0 + IDAT_ROWS_EACH, f->to.height);
    (void)s;
    PHASE(t, FILTER_THREADS)
    for (uint32_t y = y0; y < end; y++) {
        const uint8_t *made = p->memory + f->rows + (uint64_t)y * f->to.row;
        const uint8_t *row = p->memory + f->turned + (uint64_t)y * f->to.pitch;
        const uint8_t *above = y ? row - f->to.pitch : NULL;
        bool right = made[0] < FILTER_KINDS;
        for (uint32_t x = t; x < f->to.row - 1; x += FILTER_THREADS)
            right = right && made[1 + x] == filter_byte(made[0], row, above, x,
                                                        f->of.pixel);
        if (!right)
            word_or(&p->status[file].refused, 1);
    }
}

#endif
