/* PNM: netpbm's pbm(5), pgm(5) and ppm(5), as numbers or as bytes. */
#include "codecs/simple/pnm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "codecs/image/interleave.h"

/* The digit behind the P. Those from 4 on are the same as bytes. */
enum { BITS = 1, GRAYS = 2, COLORS = 3, RAW = 3 };

/* ---- Samples ----------------------------------------------------------- */

int netpbm_set_maxval(struct image *img, uint32_t maxval, struct err *err)
{
    if (maxval == 0 || maxval > 65535)
        return fail(err, "a maxval of %u; it goes from 1 to 65535", maxval);
    img->maxval = maxval;
    img->cell = maxval > 255 ? CELL_U16 : CELL_U8;
    return 0;
}

/* Whether no sample of a row is above maxval. */
static bool row_fits(const void *row, size_t n, const struct image *img)
{
    return img->maxval == (img->cell == CELL_U8 ? 255 : 65535) ||
           cells_max(img->cell, row, n) <= img->maxval;
}

static void clip_row(void *row, size_t n, const struct image *img)
{
    for (size_t i = 0; i < n; i++)
        if (img->cell == CELL_U8 && ((uint8_t *)row)[i] > img->maxval)
            ((uint8_t *)row)[i] = (uint8_t)img->maxval;
        else if (img->cell == CELL_U16 && ((uint16_t *)row)[i] > img->maxval)
            ((uint16_t *)row)[i] = (uint16_t)img->maxval;
}

/* A sample above the maxval is an error; tolerant, the first one of a picture
 * is a warning. */
static int note_clipped(bool *clipped, uint32_t y, const struct image *img,
                        const struct load_opts *opts, struct err *err)
{
    if (!opts->tolerant)
        return fail(err, "row %u has a sample above the maxval, %u", y,
                    img->maxval);
    if (!*clipped)
        warn(opts->warnings, "samples above the maxval are taken as %u",
             img->maxval);
    *clipped = true;
    return 0;
}

static size_t row_bytes(const struct image *img)
{
    return (size_t)img->width * img->nplanes * cell_size(img->cell);
}

uint64_t netpbm_samples_size(const struct image *img)
{
    return (uint64_t)row_bytes(img) * img->height;
}

int netpbm_read_samples(struct reader *reader, struct netpbm_reader *scan,
                        const struct decode_plan *plan, struct err *err)
{
    struct image *img = &reader->img;
    const struct load_opts *opts = reader->opts;
    size_t n = row_bytes(img), samples = (size_t)img->width * img->nplanes;
    uint8_t *row = malloc(n);
    struct row_sink rows = { 0 };
    bool clipped = false;
    uint32_t at;
    int status = row ? row_sink_open(&rows, img, plan->turn, plan->turner,
                                     opts->mem, err)
                     : fail_memory(err, "no memory for a row");
    for (uint32_t y = 0; status == 0 && y < rows.height; y++) {
        netpbm_take(scan, row, n);
        if (img->cell == CELL_U16 && !cells_big_endian())
            cells_swap16(row, samples);
        if (!row_fits(row, samples, img)) {
            status = note_clipped(&clipped, y, img, opts, err);
            clip_row(row, samples, img);
        }
        const struct image *to = row_sink_at(&rows, y, &at);
        interleave_split_row(to, at, row);
        if (status == 0)
            status = row_sink_done(&rows, y, err);
    }
    row_sink_close(&rows);
    free(row);
    return status;
}

int netpbm_write_samples(struct bytes *file, const struct image *img,
                         struct err *err)
{
    size_t n = row_bytes(img);
    if (!bytes_reserve(file, n * img->height))
        return fail_memory(err, "no memory for the file");
    for (uint32_t y = 0; y < img->height; y++) {
        uint8_t *row = file->data + file->size;
        interleave_join_row(img, y, row);
        if (img->cell == CELL_U16 && !cells_big_endian())
            cells_swap16(row, (size_t)img->width * img->nplanes);
        file->size += n;
    }
    return 0;
}

/* ---- Bits: eight pixels a byte, the first in its high bit; 1 is black ---- */

static size_t bits_row(const struct image *img)
{
    return ((size_t)img->width + 7) / 8;
}

/* As far as there are any. */
static void bits_read(struct image *img, struct netpbm_reader *scan)
{
    /* Whole bytes: a row of a plane has room for what is past its end. */
    for (uint32_t y = 0; y < img->height; y++) {
        uint8_t *row = plane_row(&img->plane[0], y);
        for (size_t i = 0; i < bits_row(img); i++) {
            if (scan->at == scan->end)
                return;
            unsigned byte = *scan->at++;
            for (unsigned bit = 0; bit < 8; bit++)
                row[8 * i + bit] = !(byte << bit & 128);
        }
    }
}

static int bits_write(struct bytes *file, const struct image *img,
                      struct err *err)
{
    size_t n = bits_row(img);
    if (!bytes_reserve(file, n * img->height))
        return fail_memory(err, "no memory for the file");
    for (uint32_t y = 0; y < img->height; y++) {
        const uint8_t *row = plane_row(&img->plane[0], y);
        uint8_t *to = file->data + file->size;
        for (size_t i = 0; i < n; i++) {
            size_t left = img->width - 8 * i, bits = left < 8 ? left : 8;
            unsigned byte = 0;
            for (size_t bit = 0; bit < bits; bit++)
                byte |= row[8 * i + bit] ? 0 : 128u >> bit;
            to[i] = (uint8_t)byte;
        }
        file->size += n;
    }
    return 0;
}

/* ---- Numbers ------------------------------------------------------------ */

/* A sample as text. Bits need no blanks between them. */
static bool text_sample(struct netpbm_reader *scan, bool bits, uint32_t *sample)
{
    if (!bits)
        return netpbm_number(scan, sample);
    if (!netpbm_blanks(scan) || scan->at == scan->end ||
        (*scan->at != '0' && *scan->at != '1'))
        return false;
    *sample = *scan->at++ == '0';
    return true;
}

/* There is no number where one must be. Tolerant, nothing from there on is
 * read. */
static int text_cut(struct netpbm_reader *scan, const struct image *img,
                    uint32_t x, uint32_t y, const struct load_opts *opts,
                    struct err *err)
{
    if (!opts->tolerant)
        return fail(err, "column %u of row %u is not a number up to %u", x, y,
                    img->maxval);
    warn(opts->warnings, "cut short, read as far as it goes");
    scan->at = scan->end;
    return 0;
}

static int text_read(struct image *img, struct netpbm_reader *scan, bool bits,
                     const struct load_opts *opts, struct err *err)
{
    bool clipped = false;
    for (uint32_t y = 0; y < img->height; y++)
        for (uint32_t x = 0; x < img->width; x++)
            for (unsigned i = 0; i < img->nplanes; i++) {
                void *row = plane_row(&img->plane[i], y);
                uint32_t sample = 0;
                if (!text_sample(scan, bits, &sample) ||
                    (sample > img->maxval && !opts->tolerant))
                    return text_cut(scan, img, x, y, opts, err);
                if (sample > img->maxval) {
                    note_clipped(&clipped, y, img, opts, err);
                    sample = img->maxval;
                }
                if (img->cell == CELL_U8)
                    ((uint8_t *)row)[x] = (uint8_t)sample;
                else
                    ((uint16_t *)row)[x] = (uint16_t)sample;
            }
    return 0;
}

/* Lines end before the 70 characters that pgm(5) allows, and with the row. */
static int text_write(struct bytes *file, const struct image *img, bool bits,
                      struct err *err)
{
    for (uint32_t y = 0; y < img->height; y++) {
        int column = 0;
        for (uint32_t x = 0; x < img->width; x++)
            for (unsigned i = 0; i < img->nplanes; i++) {
                const void *row = plane_row(&img->plane[i], y);
                uint32_t v = img->cell == CELL_U8 ? ((const uint8_t *)row)[x]
                                                  : ((const uint16_t *)row)[x];
                char text[16];
                int n = sprintf(text, "%s%u",
                                column == 0   ? ""
                                : column > 62 ? "\n"
                                              : " ",
                                bits ? !v : v);
                column = *text == '\n' ? n - 1 : column + n;
                if (!bytes_append(file, text, (size_t)n))
                    return fail_memory(err, "no memory for the file");
            }
        if (!bytes_append(file, "\n", 1))
            return fail_memory(err, "no memory for the file");
    }
    return 0;
}

/* ---- The file ----------------------------------------------------------- */

static bool probe(const uint8_t *head, size_t size)
{
    return size >= 3 && head[0] == 'P' && head[1] >= '1' && head[1] <= '6' &&
           (netpbm_is_blank(head[2]) || head[2] == '#');
}

static int read_head(struct image *img, struct netpbm_reader *scan, int digit,
                     const struct load_opts *opts, struct err *err)
{
    int kind = digit > RAW ? digit - RAW : digit;
    uint32_t maxval = 1;
    scan->at += 2;
    if (!netpbm_number(scan, &img->width) ||
        !netpbm_number(scan, &img->height) ||
        (kind != BITS && !netpbm_number(scan, &maxval)))
        return fail(err, "its header has no size");
    if (netpbm_set_maxval(img, maxval, err))
        return -1;
    img->color = kind == COLORS ? COLOR_RGB : COLOR_GRAY;
    img->nplanes = kind == COLORS ? 3 : 1;
    if (!netpbm_one_blank(scan))
        return fail(err, "its header has no end");
    return image_check(img->width, img->height, img->nplanes, img->cell,
                       &opts->limits, err);
}

/* Whether there is enough to read, before memory is taken for it. Of text only
 * the least is known, a character a sample; where it ends is seen by reading.
 */
static int check_size(const struct image *img, const struct netpbm_reader *scan,
                      int digit, const struct load_opts *opts, struct err *err)
{
    uint64_t samples = (uint64_t)img->width * img->nplanes * img->height;
    if (digit <= RAW)
        return opts->tolerant ? 0 : netpbm_has(scan, samples, opts, err);
    return netpbm_has(scan,
                      digit == BITS + RAW
                          ? (uint64_t)bits_row(img) * img->height
                          : netpbm_samples_size(img),
                      opts, err);
}

static int open(struct reader *reader, struct err *err)
{
    struct netpbm_reader scan = netpbm_begin(reader);
    struct image *img = &reader->img;
    int digit = scan.at[1] - '0';
    memcpy(img->meta->kind, scan.at, 2);
    img->meta->ascii = digit <= RAW;
    if (read_head(img, &scan, digit, reader->opts, err) ||
        check_size(img, &scan, digit, reader->opts, err))
        return -1;
    reader->at = (size_t)(scan.at - reader->file.data);
    return 0;
}

static int decode(struct reader *reader, const struct decode_plan *plan,
                  struct err *err)
{
    struct netpbm_reader scan = netpbm_begin(reader);
    struct image *img = &reader->img;
    const struct load_opts *opts = reader->opts;
    int digit = img->meta->kind[1] - '0', status = 0;
    if (digit <= BITS + RAW && image_alloc(img, opts->mem, err))
        return -1;
    if (digit <= BITS + RAW && opts->tolerant)
        memset(img->cells, 0, img->size);
    if (digit <= RAW)
        status = text_read(img, &scan, digit == BITS, opts, err);
    else if (digit == BITS + RAW)
        bits_read(img, &scan);
    else
        status = netpbm_read_samples(reader, &scan, plan, err);
    /* Comments may stand behind numbers as well as between them. */
    if (status == 0 && digit <= RAW && !netpbm_blanks(&scan))
        status = fail_memory(err, "no memory for the comments");
    return status ? -1 : netpbm_end(&scan, reader, err);
}

/* Which kind a picture is written as: its suffix says, or its own kind, or what
 * it holds. 0: the suffix names one that cannot hold it. */
static int choose_kind(const struct image *img, const char *suffix, bool own)
{
    bool gray = img->color == COLOR_GRAY, bits = gray && img->maxval == 1;
    if (strcasecmp(suffix, "pbm") == 0)
        return bits ? BITS : 0;
    if (strcasecmp(suffix, "pgm") == 0)
        return gray ? GRAYS : 0;
    if (strcasecmp(suffix, "ppm") == 0)
        return COLORS;
    if (own && gray && strpbrk(img->meta->kind, "25"))
        return GRAYS;
    return bits ? BITS : gray ? GRAYS : COLORS;
}

/* Gray as three equal planes: they may be one and the same, being read only. */
static struct image promoted(const struct image *img)
{
    struct image rgb = *img;
    rgb.color = COLOR_RGB;
    rgb.nplanes = 3;
    rgb.plane[1] = rgb.plane[2] = rgb.plane[0];
    return rgb;
}

static int write_head(struct bytes *file, const struct image *img, int digit,
                      const struct meta *comments, bool own, struct err *err)
{
    char text[64];
    bool bits = digit == BITS || digit == BITS + RAW;
    int n = sprintf(text, "P%d\n", digit);
    bool good = bytes_append(file, text, (size_t)n) &&
                (!comments || netpbm_put_comments(file, comments, own));
    n = sprintf(text, "%u %u\n", img->width, img->height);
    if (!bits)
        n += sprintf(text + n, "%u\n", img->maxval);
    if (!good || !bytes_append(file, text, (size_t)n))
        return fail_memory(err, "no memory for the file");
    return 0;
}

static int encode(struct bytes *file, const struct image *img,
                  const struct save_opts *opts, struct err *err)
{
    bool own = codec_is_own(&codec_pnm, img);
    int kind = choose_kind(img, opts->suffix, own);
    struct image as =
        kind == COLORS && img->color == COLOR_GRAY ? promoted(img) : *img;
    bool ascii = own && img->meta->ascii;
    const struct meta *comments =
        opts->strip == STRIP_NOTHING ? img->meta : NULL;
    if (!kind)
        return fail(err, "a .%s cannot hold %s of %u bits; .%s can",
                    opts->suffix, color_name(img->color), image_bits(img),
                    img->color == COLOR_GRAY ? "pgm" : "ppm");
    if (!own && opts->strip == STRIP_NOTHING)
        meta_warn_lost(img->meta, codec_pnm.holds.metadata, "PNM",
                       opts->warnings);
    if (write_head(file, &as, ascii ? kind : kind + RAW, comments, own, err))
        return -1;
    if (ascii)
        return text_write(file, &as, kind == BITS, err);
    return kind == BITS ? bits_write(file, &as, err)
                        : netpbm_write_samples(file, &as, err);
}

/* Numbers in decimal are counted. */
static uint64_t text_size(const struct netpbm_reader *scan, uint64_t samples)
{
    bool within = false;
    for (const uint8_t *at = scan->at; at < scan->end; at++) {
        bool blank = netpbm_is_blank(*at);
        samples -= !blank && !within;
        within = !blank;
    }
    return samples == 0 && !within ? netpbm_left(scan) : UINT64_MAX;
}

static int measure(struct image *is, struct netpbm_reader *scan, uint64_t *need,
                   struct err *err)
{
    const struct load_opts any = { .limits = { .pixels = UINT64_MAX,
                                               .bytes = UINT64_MAX } };
    int digit = scan->at[1] - '0';
    if (read_head(is, scan, digit, &any, err))
        return -1;
    if (digit <= RAW)
        *need = text_size(scan, (uint64_t)is->width * is->nplanes * is->height);
    else
        *need = digit == BITS + RAW ? (uint64_t)bits_row(is) * is->height
                                    : netpbm_samples_size(is);
    return 0;
}

static int check(struct bytes file, const struct image *img,
                 const struct save_opts *opts, struct err *err)
{
    (void)opts;
    return netpbm_check(file, img, &codec_pnm, measure, err);
}

static const char *const suffixes[] = { "pnm", "pbm", "pgm", "ppm", NULL };

const struct codec codec_pnm = {
    .name = "pnm",
    .title = "PNM",
    .suffixes = suffixes,
    .kinds = true,
    .holds = {
        .cells = 1 << CELL_U8 | 1 << CELL_U16,
        .colors = 1 << COLOR_GRAY | 1 << COLOR_RGB,
        .any_maxval = true,
        .metadata = HOLDS_COMMENT,
    },
    .probe = probe,
    .open = open,
    .decode = decode,
    .encode = encode,
    .check = check,
};
