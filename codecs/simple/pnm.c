/* PNM: netpbm's pbm(5), pgm(5) and ppm(5), as numbers or as bytes. */
#include "codecs/simple/netpbm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "codecs/image/interleave.h"
#include "codecs/image/row_sink.h"
#include "codecs/image/row_source.h"

/* The digit behind the P. Those from 4 on are the same as bytes. */
enum { BITS = 1, GRAYS = 2, COLORS = 3, RAW = 3 };

/* ---- Bits: eight pixels a byte, the first in its high bit; 1 is black ---- */

static size_t bits_row(const struct image *img)
{
    return ((size_t)img->width + 7) / 8;
}

/* Copies row y into the picture; where bits are missing, they are black. */
static void bits_split(const struct image *img, uint32_t y,
                       struct netpbm_reader *r, uint32_t width)
{
    uint8_t *row = plane_row(&img->plane[0], y);
    size_t left = netpbm_left(r), size = ((size_t)width + 7) / 8;
    size_t n = left < size ? 8 * left : width;
    interleave_unpack(row, n, r->at, 1);
    for (size_t x = 0; x < n; x++)
        row[x] ^= 1;
    memset(row + n, 0, width - n);
    r->at += left < size ? left : size;
}

static int bits_read(struct reader *reader, struct netpbm_reader *r,
                     struct err *err)
{
    const uint32_t width = reader->img.width;
    struct bytes_passed passed = bytes_passed_begin(reader->file);
    struct row_sink rows = { 0 };
    int status = netpbm_open_rows(&rows, reader, err);
    for (uint32_t y = 0, at; y < rows.height && status == 0; y++) {
        const struct image *to = row_sink_at(&rows, y, &at);
        bits_split(to, at, r, width);
        bytes_pass(&passed, r->at);
        status = row_sink_done(&rows, y, err);
    }
    row_sink_close(&rows);
    return status;
}

static void bits_join(const struct image *img, uint32_t y, uint8_t *row,
                      const struct netpbm_rows *rows)
{
    size_t n = rows->size;
    interleave_pack(row, plane_row(&img->plane[0], y), img->width, 1);
    for (size_t i = 0; i < n; i++)
        row[i] = (uint8_t)~row[i];
    row[n - 1] &= (uint8_t)(0xff << (8 * n - img->width));
}

/* ---- Numbers ------------------------------------------------------------ */

/* Reads a sample of text. Bits need no blanks between them. */
static bool text_sample(struct netpbm_reader *r, bool bits, uint32_t *sample)
{
    if (!bits)
        return netpbm_read_number(r, sample);
    if (!netpbm_skip_blanks(r) || r->at == r->end ||
        (*r->at != '0' && *r->at != '1'))
        return false;
    *sample = *r->at++ == '0';
    return true;
}

/* Handles a sample that is missing or malformed: an error, or tolerant the end
 * of what is read. */
static int text_cut(struct netpbm_reader *r, const struct image *img,
                    uint32_t x, uint32_t y, const struct load_opts *opts,
                    struct err *err)
{
    if (!opts->tolerant)
        return fail(err, "column %u of row %u is not a number up to %u", x, y,
                    img->maxval);
    if (!r->cut)
        simple_warn_cut(opts);
    r->cut = true;
    r->at = r->end;
    return 0;
}

/* Reads row y of the file to row `at` of img; samples that are missing are 0.
 */
static int text_read_row(const struct image *img, uint32_t at, uint32_t y,
                         uint32_t width, struct netpbm_reader *r, bool bits,
                         bool *clipped, const struct load_opts *opts,
                         struct err *err)
{
    for (unsigned i = 0; i < img->nplanes && opts->tolerant; i++)
        memset(plane_row(&img->plane[i], at), 0, width * cell_size(img->cell));
    for (uint32_t x = 0; x < width; x++)
        for (unsigned i = 0; i < img->nplanes; i++) {
            void *row = plane_row(&img->plane[i], at);
            uint32_t sample = 0;
            if (!text_sample(r, bits, &sample) ||
                (sample > img->maxval && !opts->tolerant))
                return text_cut(r, img, x, y, opts, err);
            if (sample > img->maxval) {
                netpbm_note_clipped(clipped, y, img, opts, err);
                sample = img->maxval;
            }
            if (img->cell == CELL_U8)
                ((uint8_t *)row)[x] = (uint8_t)sample;
            else
                ((uint16_t *)row)[x] = (uint16_t)sample;
        }
    return 0;
}

static int text_read(struct reader *reader, struct netpbm_reader *r, bool bits,
                     struct err *err)
{
    const struct load_opts *opts = reader->opts;
    const uint32_t width = reader->img.width;
    struct bytes_passed passed = bytes_passed_begin(reader->file);
    struct row_sink rows = { 0 };
    bool clipped = false;
    int status = netpbm_open_rows(&rows, reader, err);
    for (uint32_t y = 0, at; y < rows.height && status == 0; y++) {
        const struct image *to = row_sink_at(&rows, y, &at);
        status = text_read_row(to, at, y, width, r, bits, &clipped, opts, err);
        bytes_pass(&passed, r->at);
        if (status == 0)
            status = row_sink_done(&rows, y, err);
    }
    row_sink_close(&rows);
    if (status)
        return -1;
    /* Comments may stand behind numbers as well as between them. */
    return netpbm_skip_blanks(r)
               ? 0
               : fail_memory(err, "no memory for the comments");
}

/* The most characters of a sample, with what stands before it. */
enum { NUMBER = 6 };

/* Writes a number without a blank, and returns its characters. */
static size_t put_number(uint8_t *to, unsigned v)
{
    size_t n = 1;
    for (unsigned i = 10; i <= v; i *= 10)
        n++;
    for (size_t i = n; i-- > 0; v /= 10)
        to[i] = (uint8_t)('0' + v % 10);
    return n;
}

/* Lines end before the 70 characters that pgm(5) allows, and with the row. */
static int text_write_row(struct bytes *file, const struct image *img,
                          uint32_t y, bool bits, struct err *err)
{
    size_t column = 0;
    for (uint32_t x = 0; x < img->width; x++) {
        if (!bytes_reserve(file, img->nplanes * NUMBER + 1))
            return fail_memory(err, "no memory for the file");
        for (unsigned i = 0; i < img->nplanes; i++) {
            const void *row = plane_row(&img->plane[i], y);
            unsigned v = img->cell == CELL_U8 ? ((const uint8_t *)row)[x]
                                              : ((const uint16_t *)row)[x];
            const bool ends = column > 62;
            uint8_t *to = file->data + file->size;
            *to = ends ? '\n' : ' ';
            size_t n = put_number(to + (column > 0), bits ? !v : v);
            file->size += n + (column > 0);
            column = ends ? n : column + n + (column > 0);
        }
    }
    file->data[file->size++] = '\n';
    return 0;
}

/* Returns the bytes of so many numbers; UINT64_MAX if they are not all there,
 * or more. */
static uint64_t text_size(const struct netpbm_reader *r, uint64_t samples)
{
    bool within = false;
    struct bytes_passed passed = r->passed;
    for (const uint8_t *at = r->at; at < r->end; at++) {
        if (at == r->end - 1 || *at == '\n')
            bytes_pass(&passed, at);
        bool blank = netpbm_is_blank(*at);
        samples -= !blank && !within;
        within = !blank;
    }
    return samples == 0 && !within ? netpbm_left(r) : UINT64_MAX;
}

/* ---- The file ----------------------------------------------------------- */

static bool probe(const uint8_t *head, size_t size)
{
    return size >= 3 && head[0] == 'P' && head[1] >= '1' && head[1] <= '6' &&
           (netpbm_is_blank(head[2]) || head[2] == '#');
}

/* BITS, GRAYS or COLORS. */
static int kind_of(const struct pnm_state *state)
{
    return state->digit > RAW ? state->digit - RAW : state->digit;
}

static int read_header(struct image *img, struct netpbm_reader *r,
                       struct err *err)
{
    struct pnm_state *state = img->meta->state;
    uint32_t maxval = 1;
    state->digit = r->at[1] - '0';
    int kind = kind_of(state);
    r->at += 2;
    if (!netpbm_read_number(r, &img->width) ||
        !netpbm_read_number(r, &img->height) ||
        (kind != BITS && !netpbm_read_number(r, &maxval)))
        return fail(err, "its header has no size");
    if (netpbm_set_maxval(img, maxval, err))
        return -1;
    img->color = kind == COLORS ? COLOR_RGB : COLOR_GRAY;
    img->nplanes = kind == COLORS ? 3 : 1;
    return netpbm_end_header(r) ? 0 : fail(err, "its header has no end");
}

/* A number takes a character at least, and one more parts it from the next,
 * unless it is a bit. */
static uint64_t samples_size(const struct image *img,
                             const struct netpbm_reader *r)
{
    const struct pnm_state *state = img->meta->state;
    uint64_t samples = (uint64_t)img->width * img->nplanes * img->height;
    if (state->digit <= RAW)
        return r                      ? text_size(r, samples)
               : state->digit == BITS ? samples
                                      : 2 * samples - 1;
    return state->digit == BITS + RAW ? (uint64_t)bits_row(img) * img->height
                                      : netpbm_samples_size(img);
}

static int read_samples(struct reader *reader, struct netpbm_reader *r,
                        struct err *err)
{
    const struct pnm_state *state = reader->img.meta->state;
    if (state->digit > BITS + RAW)
        return netpbm_read_samples(reader, r, err);
    return state->digit == BITS + RAW
               ? bits_read(reader, r, err)
               : text_read(reader, r, state->digit == BITS, err);
}

static const struct netpbm_format pnm = {
    .read_header = read_header,
    .samples_size = samples_size,
    .read_samples = read_samples,
};

/* The kind that a picture is written as: that of the suffix, of the file that
 * it was read from (NULL: another format), or what it holds. Returns 0 if it
 * does not fit the suffix. */
static int choose_kind(const struct image *img, const char *suffix,
                       const struct pnm_state *own)
{
    bool gray = img->color == COLOR_GRAY, bits = gray && img->maxval == 1;
    if (strcasecmp(suffix, "pbm") == 0)
        return bits ? BITS : 0;
    if (strcasecmp(suffix, "pgm") == 0)
        return gray ? GRAYS : 0;
    if (strcasecmp(suffix, "ppm") == 0)
        return COLORS;
    if (own && gray && kind_of(own) == GRAYS)
        return GRAYS;
    return bits ? BITS : gray ? GRAYS : COLORS;
}

/* Returns gray as three planes, which are one and the same: they are only read.
 */
static struct image promoted(const struct image *img)
{
    struct image rgb = *img;
    rgb.color = COLOR_RGB;
    rgb.nplanes = 3;
    rgb.made.bytes = NULL;
    rgb.plane[1] = rgb.plane[2] = rgb.plane[0];
    return rgb;
}

static enum packing packing(enum layout layout)
{
    (void)layout;
    return PACKING_PIXELS;
}

static void join_promoted(const struct image *img, uint32_t y, uint8_t *row,
                          const struct netpbm_rows *rows)
{
    const struct image rgb = promoted(img);
    netpbm_join_samples(&rgb, y, row, rows);
}

/* Writes rows as numbers. */
static int text_write(struct bytes *file, const struct image *img, int kind,
                      const struct save_opts *opts, struct err *err)
{
    const bool promote = kind == COLORS && img->nplanes == 1;
    struct row_source source = row_source_open(img, opts->pool);
    int status = 0;
    for (uint32_t y = 0, at; y < img->height && status == 0; y++) {
        status = row_source_reach(&source, y, err);
        if (status)
            break;
        const struct image *held = row_source_at(&source, y, &at);
        const struct image from = promote ? promoted(held) : *held;
        status = text_write_row(file, &from, at, kind == BITS, err);
        if (status == 0)
            status = flush_file(opts->flush, file, err);
    }
    row_source_close(&source);
    return status;
}

/* Writes rows as bytes. */
static int rows_write(struct bytes *file, const struct image *img, int kind,
                      const struct save_opts *opts, struct err *err)
{
    const bool promote = kind == COLORS && img->nplanes == 1;
    const struct netpbm_rows bits = { .size = bits_row(img),
                                      .join = bits_join };
    const struct netpbm_rows rgb = { .size = (size_t)img->width * 3 *
                                             cell_size(img->cell),
                                     .big_endian = true,
                                     .join = join_promoted };
    if (kind != BITS && !promote)
        return netpbm_write_samples(file, img, true, opts, err);
    return netpbm_write_rows(file, img, promote ? &rgb : &bits, opts, err);
}

static int encode(struct bytes *file, const struct image *img,
                  const struct save_opts *opts, struct err *err)
{
    const struct pnm_state *own =
        codec_is_own(&codec_pnm, img) ? img->meta->state : NULL;
    int kind = choose_kind(img, opts->suffix, own);
    bool ascii = own && own->digit <= RAW;
    char magic[] = { 'P', (char)('0' + kind + (ascii ? 0 : RAW)), '\0' };
    struct image as =
        kind == COLORS && img->color == COLOR_GRAY ? promoted(img) : *img;
    char fields[64];
    if (!kind)
        return fail(err, "a .%s cannot hold %s of %u bits; .%s can",
                    opts->suffix, image_color_name(img->color), image_bits(img),
                    img->color == COLOR_GRAY ? "pgm" : "ppm");
    int n = sprintf(fields, "%u %u\n", img->width, img->height);
    if (kind != BITS)
        sprintf(fields + n, "%u\n", img->maxval);
    if (netpbm_write_header(file, &as, &codec_pnm, opts, magic, fields, err))
        return -1;
    if (image_is_made(&as, PACKING_PIXELS))
        return image_append_made(file, &as, err);
    return ascii ? text_write(file, img, kind, opts, err)
                 : rows_write(file, img, kind, opts, err);
}

static int check(struct bytes file, const struct image *img,
                 const struct save_opts *opts, struct err *err)
{
    (void)opts;
    return netpbm_check(file, img, &codec_pnm, err);
}

const struct codec codec_pnm = {
    .name = "pnm",
    .title = "PNM",
    .suffixes = (const char *const[]){ "pnm", "pbm", "pgm", "ppm", NULL },
    .kinds = true,
    .stores = true,
    .capabilities = {
        .cells = 1 << CELL_U8 | 1 << CELL_U16,
        .colors = 1 << COLOR_GRAY | 1 << COLOR_RGB,
        .any_maxval = true,
        .metadata = HOLDS_COMMENT,
    },
    .state_size = sizeof(struct pnm_state),
    .probe = probe,
    .format = &pnm,
    .open = netpbm_open,
    .decode = netpbm_decode,
    .encode = encode,
    .packing = packing,
    .check = check,
};
