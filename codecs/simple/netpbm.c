/* PNM, PAM and PFM: rows of samples behind a header of text. */
#include "codecs/simple/simple.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "codecs/base/memory.h"
#include "codecs/image/interleave.h"
#include "codecs/image/scan_turner.h"

static bool is_text(const struct image *img)
{
    const struct netpbm_state *state = img->meta->state;
    return state->digit >= PNM_BITS && state->digit <= PNM_RAW;
}

/* Returns the bytes that a row takes in a file, unless it is text. */
static size_t row_size(const struct image *img)
{
    const struct netpbm_state *state = img->meta->state;
    if (state->digit == PNM_BITS + PNM_RAW)
        return ((size_t)img->width + 7) / 8;
    return (size_t)img->width * img->nplanes * cell_size(img->cell);
}

/* ---- Reading a row --------------------------------------------------------*/

/* Notes a sample of row y that is above maxval: an error, or tolerant a warning
 * for the first one. */
static int note_clipped(struct netpbm_reader *r, uint32_t y, uint32_t maxval,
                        struct err *err)
{
    if (!r->opts->tolerant)
        return fail(err, "row %u has a sample above the maxval, %u", y, maxval);
    if (!r->clipped)
        warn(r->opts->warnings, "samples above the maxval are taken as %u",
             maxval);
    r->clipped = true;
    return 0;
}

/* Reads row y of bytes to row `at` of img; where some are missing, they are 0.
 */
static int read_samples(struct netpbm_reader *r, const struct image *img,
                        uint32_t at, uint32_t y, bool big_endian,
                        struct err *err)
{
    const size_t samples = (size_t)r->width * img->nplanes,
                 size = samples * cell_size(img->cell),
                 n = netpbm_left(r) < size ? netpbm_left(r) : size;
    int status = 0;
    memcpy(r->row, r->at, n);
    memset(r->row + n, 0, size - n);
    interleave_set_order(img->cell, r->row, samples, big_endian);
    if (img->cell != CELL_F32 && img->maxval != 255 && img->maxval != 65535 &&
        interleave_max(img->cell, r->row, samples) > img->maxval) {
        uint8_t *bytes = r->row;
        uint16_t *words = (uint16_t *)(void *)r->row;
        status = note_clipped(r, y, img->maxval, err);
        for (size_t i = 0; i < samples; i++)
            if (img->cell == CELL_U8 && bytes[i] > img->maxval)
                bytes[i] = (uint8_t)img->maxval;
            else if (img->cell == CELL_U16 && words[i] > img->maxval)
                words[i] = (uint16_t)img->maxval;
    }
    interleave_split_row(img, at, r->row);
    return status;
}

/* Reads row y of text. A sample that is missing or malformed is an error, or
 * tolerant the end of what is read; then what is missing is 0. */
static int read_text(struct netpbm_reader *r, const struct image *img,
                     uint32_t at, uint32_t y, bool bits, struct err *err)
{
    const bool tolerant = r->opts->tolerant;
    for (unsigned i = 0; i < img->nplanes && tolerant; i++)
        memset(plane_row(&img->plane[i], at), 0,
               r->width * cell_size(img->cell));
    for (size_t k = 0; k < (size_t)r->width * img->nplanes; k++) {
        const uint32_t x = (uint32_t)(k / img->nplanes);
        void *row = plane_row(&img->plane[k % img->nplanes], at);
        uint32_t sample = 0;
        const bool read = bits ? netpbm_skip_blanks(r) && r->at < r->end &&
                                     (*r->at == '0' || *r->at == '1')
                               : netpbm_read_number(r, &sample);
        if (read && bits) /* they need no blanks between them */
            sample = *r->at++ == '0';
        if ((!read || sample > img->maxval) && !tolerant)
            return fail(err, "column %u of row %u is not a number up to %u", x,
                        y, img->maxval);
        if (!read) {
            if (!r->cut)
                simple_warn_cut(r->opts);
            r->cut = true;
            r->at = r->end;
            return 0;
        }
        if (sample > img->maxval) {
            note_clipped(r, y, img->maxval, err);
            sample = img->maxval;
        }
        if (img->cell == CELL_U8)
            ((uint8_t *)row)[x] = (uint8_t)sample;
        else
            ((uint16_t *)row)[x] = (uint16_t)sample;
    }
    return 0;
}

/* ---- Reading a file -------------------------------------------------------*/

/* Returns the least bytes that all samples take. A number takes a character at
 * least, and one more parts it from the next, unless it is a bit. */
static uint64_t least_size(const struct image *img)
{
    const struct netpbm_state *state = img->meta->state;
    const uint64_t samples = (uint64_t)img->width * img->nplanes * img->height;
    return !is_text(img)              ? (uint64_t)row_size(img) * img->height
           : state->digit == PNM_BITS ? samples
                                      : 2 * samples - 1;
}

/* Reads all rows; those of floats stand from the bottom row up. */
static int read_rows(struct reader *reader, struct netpbm_reader *r,
                     struct err *err)
{
    struct image *img = &reader->img;
    const struct netpbm_state *state = img->meta->state;
    const struct decode_plan *plan = reader->plan;
    const struct row_sink_opts opts = { .t = plan->turn,
                                        .turner = plan->turner,
                                        .limits = &reader->opts->limits,
                                        .mem = reader->opts->mem };
    const uint8_t *begin = r->at;
    const size_t size = is_text(img) ? 0 : row_size(img), left = netpbm_left(r);
    const bool bits = netpbm_kind(state) == PNM_BITS;
    struct bytes_passed passed = bytes_passed_begin(reader->file);
    struct row_sink rows = { 0 };
    r->width = img->width;
    r->row = memory_alloc(size ? size : 1);
    int status = r->row ? row_sink_open(&rows, img, &opts, err)
                        : fail_memory(err, "no memory for a row");
    for (uint32_t y = 0, at; y < rows.height && status == 0; y++) {
        const size_t i = img->cell == CELL_F32 ? rows.height - 1 - y : y;
        const struct image *to = row_sink_at(&rows, y, &at);
        if (size)
            r->at = begin + (i * size < left ? i * size : left);
        if (!size)
            status = read_text(r, to, at, y, bits, err);
        else if (bits) {
            /* Eight pixels a byte, the first in its high bit; 1 is black, and
             * so are bits that are missing. */
            uint8_t *row = plane_row(&to->plane[0], at);
            const size_t n =
                netpbm_left(r) < size ? 8 * netpbm_left(r) : r->width;
            interleave_unpack(row, n, r->at, 1);
            for (size_t x = 0; x < n; x++)
                row[x] ^= 1;
            memset(row + n, 0, r->width - n);
        } else
            status = read_samples(r, to, at, y, state->big_endian, err);
        bytes_pass(&passed, r->at);
        if (status == 0)
            status = row_sink_done(&rows, y, err);
    }
    if (size)
        r->at = begin + (rows.height * size < left ? rows.height * size : left);
    row_sink_close(&rows);
    memory_free(r->row);
    return status;
}

/* Continues to read a file where the reader stands. */
static struct netpbm_reader begin(const struct reader *reader)
{
    return (struct netpbm_reader){
        .at = reader->file.data + reader->at,
        .end = reader->file.data + reader->file.size,
        .meta = reader->img.meta,
        .opts = reader->opts,
    };
}

static int open(struct reader *reader, struct err *err)
{
    struct netpbm_reader r = begin(reader);
    struct image *img = &reader->img;
    if (netpbm_read_header(img, &r, err))
        return r.starved ? fail_memory(err, "no memory for a comment") : -1;
    if (image_check(img->width, img->height, img->nplanes, img->cell,
                    &reader->opts->limits, err))
        return -1;
    reader->at = (size_t)(r.at - reader->file.data);
    return simple_check_size(reader->file, reader->at, least_size(img),
                             reader->opts, err);
}

/* Comments may stand behind numbers as well as between them. Behind bytes only
 * blanks may follow the picture: anything else may be another picture, which is
 * an error, or tolerant a warning. */
static int decode(struct reader *reader, struct err *err)
{
    const bool text = is_text(&reader->img);
    struct netpbm_reader r = begin(reader);
    r.cut = netpbm_left(&r) < least_size(&reader->img);
    if (read_rows(reader, &r, err))
        return -1;
    if (text && !netpbm_skip_blanks(&r))
        return fail_memory(err, "no memory for the comments");
    while (r.at < r.end && netpbm_is_blank(*r.at))
        r.at++;
    if (r.at < r.end && !reader->opts->tolerant)
        return fail(err,
                    "%zu bytes after the picture; only files of one "
                    "picture can be turned",
                    netpbm_left(&r));
    if (r.at < r.end)
        warn(reader->opts->warnings, "%zu bytes after the picture are not kept",
             netpbm_left(&r));
    return reader->opts->portable ? netpbm_make_portable(reader->img.meta, err)
                                  : 0;
}

/* ---- Writing --------------------------------------------------------------*/

/* How a file is written. Floats stand from the bottom row up. */
struct netpbm_file {
    const struct codec *codec;
    const char *header;
    bool big_endian; /* the order of bytes in a sample */
    bool bits;       /* of which 1 is black */
    bool promote;    /* gray becomes three planes */
};

/* Appends the header and all rows, and flushes them. */
static int write_file(struct bytes *file, const struct image *img,
                      const struct netpbm_file *how,
                      const struct save_opts *opts, struct err *err)
{
    const size_t samples =
                     (size_t)img->width * (how->promote ? 3 : img->nplanes),
                 size = how->bits ? (samples + 7) / 8
                                  : samples * cell_size(img->cell);
    struct row_source source = row_source_open(img, opts->pool);
    int status =
        netpbm_write_header(file, img, how->codec, opts, how->header, err);
    if (status == 0 && !how->promote &&
        scan_turner_has_samples(img, PACKING_PIXELS)) {
        const size_t begin = file->size;
        status = scan_turner_append_samples(file, img, err);
        if (status == 0)
            interleave_set_order(img->cell, file->data + begin,
                                 samples * img->height, how->big_endian);
        return status;
    }
    if (status == 0 && !opts->flush && !bytes_reserve(file, size * img->height))
        status = fail_memory(err, "no memory for the file");
    for (uint32_t i = 0, at; i < img->height && status == 0; i++) {
        uint32_t y = img->cell == CELL_F32 ? img->height - 1 - i : i;
        status = row_source_reach(&source, y, err);
        if (status == 0 && !bytes_reserve(file, size))
            status = fail_memory(err, "no memory for the file");
        if (status)
            break;
        const struct image *held = row_source_at(&source, y, &at);
        uint8_t *row = file->data + file->size;
        if (how->bits) {
            interleave_pack(row, plane_row(&held->plane[0], at), img->width, 1);
            for (size_t k = 0; k < size; k++)
                row[k] = (uint8_t)~row[k];
            row[size - 1] &= (uint8_t)(0xff << (8 * size - img->width));
        } else {
            struct image rgb;
            if (how->promote) { /* the three planes are one, and only read */
                rgb = *held;
                rgb.nplanes = 3;
                rgb.plane[1] = rgb.plane[2] = rgb.plane[0];
                held = &rgb;
            }
            interleave_join_row(held, at, row);
            interleave_set_order(img->cell, row, samples, how->big_endian);
        }
        file->size += size;
        status = flush_file(opts->flush, file, err);
    }
    row_source_close(&source);
    return status;
}

static int encode_pnm(struct bytes *file, const struct image *img,
                      const struct save_opts *opts, struct err *err)
{
    const struct netpbm_state *own =
        codec_is_own(&codec_pnm, img) ? img->meta->state : NULL;
    const bool gray = img->color == COLOR_GRAY, bits = gray && img->maxval == 1;
    char header[64];
    /* The kind is that of the suffix, of the file that it was read from, or
     * what it holds; 0 if it does not fit the suffix. */
    int kind = bits ? PNM_BITS : gray ? PNM_GRAYS : PNM_COLORS;
    if (strcasecmp(opts->suffix, "pbm") == 0)
        kind = bits ? PNM_BITS : 0;
    else if (strcasecmp(opts->suffix, "pgm") == 0)
        kind = gray ? PNM_GRAYS : 0;
    else if (strcasecmp(opts->suffix, "ppm") == 0)
        kind = PNM_COLORS;
    else if (own && gray && netpbm_kind(own) == PNM_GRAYS)
        kind = PNM_GRAYS;
    const struct netpbm_file how = { &codec_pnm, header, .big_endian = true,
                                     .bits = kind == PNM_BITS,
                                     .promote = kind == PNM_COLORS && gray };
    if (!kind)
        return fail(err, "a .%s cannot hold %s of %u bits; .%s can",
                    opts->suffix, image_color_name(img->color), image_bits(img),
                    gray ? "pgm" : "ppm");
    int n = sprintf(header, "P%d\n%u %u\n", kind + PNM_RAW, img->width,
                    img->height);
    if (kind != PNM_BITS)
        sprintf(header + n, "%u\n", img->maxval);
    return write_file(file, img, &how, opts, err);
}

static enum packing packing(enum layout layout)
{
    (void)layout;
    return PACKING_PIXELS;
}

static int encode_pam(struct bytes *file, const struct image *img,
                      const struct save_opts *opts, struct err *err)
{
    const char *type = netpbm_tuple_type(img, codec_is_own(&codec_pam, img));
    char header[256];
    const struct netpbm_file how = { &codec_pam, header, .big_endian = true };
    sprintf(header,
            "P7\nWIDTH %u\nHEIGHT %u\nDEPTH %u\nMAXVAL %u\n%s%s%sENDHDR\n",
            img->width, img->height, img->nplanes, img->maxval,
            *type ? "TUPLTYPE " : "", type, *type ? "\n" : "");
    return write_file(file, img, &how, opts, err);
}

static int encode_pfm(struct bytes *file, const struct image *img,
                      const struct save_opts *opts, struct err *err)
{
    static const struct netpbm_state other = { .scale = "-1.0" };
    const struct netpbm_state *state =
        codec_is_own(&codec_pfm, img) ? img->meta->state : &other;
    char header[96];
    const struct netpbm_file how = { &codec_pfm, header,
                                     .big_endian = state->big_endian };
    sprintf(header, "P%c\n%u %u\n%s\n", img->color == COLOR_RGB ? 'F' : 'f',
            img->width, img->height, state->scale);
    return write_file(file, img, &how, opts, err);
}

/* ---- The formats ----------------------------------------------------------*/

static bool probe_pnm(const uint8_t *head, size_t size)
{
    return size >= 3 && head[0] == 'P' && head[1] >= '1' && head[1] <= '6' &&
           (netpbm_is_blank(head[2]) || head[2] == '#');
}

static bool probe_pam(const uint8_t *head, size_t size)
{
    return size >= 3 && memcmp(head, "P7\n", 3) == 0;
}

static bool probe_pfm(const uint8_t *head, size_t size)
{
    return size >= 3 && head[0] == 'P' && (head[1] == 'F' || head[1] == 'f') &&
           netpbm_is_blank(head[2]);
}

/* The header must be that of img, and announce as many bytes of samples as
 * there are. */
static int check(struct bytes file, const struct image *img,
                 const struct save_opts *opts, struct err *err)
{
    struct image is = { .meta = codec_new_meta(&codec_pnm) };
    struct netpbm_reader r = { .at = file.data, .end = file.data + file.size };
    (void)opts;
    if (!is.meta)
        return fail_memory(err, "no memory to check the file");
    int status =
        probe_pnm(file.data, file.size) || probe_pam(file.data, file.size) ||
                probe_pfm(file.data, file.size)
            ? netpbm_read_header(&is, &r, err)
            : fail(err, "the file does not begin as one of this format");
    if (status == 0 && (is.width != img->width || is.height != img->height ||
                        is.maxval != img->maxval))
        status = fail(err, "its header is of another picture");
    const uint64_t need = status ? 0 : least_size(&is);
    if (status == 0 && netpbm_left(&r) != need)
        status = fail(err, "%zu bytes of samples, where there have to be %llu",
                      netpbm_left(&r), (unsigned long long)need);
    image_free(&is);
    return status;
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
    .state_size = sizeof(struct netpbm_state),
    .probe = probe_pnm,
    .open = open,
    .decode = decode,
    .encode = encode_pnm,
    .packing = packing,
    .check = check,
};

const struct codec codec_pam = {
    .name = "pam",
    .title = "PAM",
    .suffixes = (const char *const[]){ "pam", NULL },
    .stores = true,
    .capabilities = {
        .cells = 1 << CELL_U8 | 1 << CELL_U16,
        .colors = 1 << COLOR_GRAY | 1 << COLOR_RGB | 1 << COLOR_OTHER,
        .alpha = true,
        .any_maxval = true,
        .metadata = HOLDS_COMMENT,
    },
    .state_size = sizeof(struct netpbm_state),
    .probe = probe_pam,
    .open = open,
    .decode = decode,
    .encode = encode_pam,
    .check = check,
};

const struct codec codec_pfm = {
    .name = "pfm",
    .title = "PFM",
    .suffixes = (const char *const[]){ "pfm", NULL },
    .stores = true,
    .capabilities = {
        .cells = 1 << CELL_F32,
        .colors = 1 << COLOR_GRAY | 1 << COLOR_RGB,
    },
    .state_size = sizeof(struct netpbm_state),
    .probe = probe_pfm,
    .open = open,
    .decode = decode,
    .encode = encode_pfm,
    .check = check,
};
