/* Headers of text, and rows of samples. */
#include "codecs/simple/netpbm.h"

#include <string.h>

#include "codecs/base/memory.h"
#include "codecs/image/interleave.h"
#include "codecs/image/row_sink.h"

static const char comment[] = "comment";

/* ---- Reading a header --------------------------------------------------- */

bool netpbm_is_blank(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool read_comment(struct netpbm_reader *r)
{
    const uint8_t *begin = ++r->at;
    while (r->at < r->end && *r->at != '\n' && *r->at != '\r')
        r->at++;
    if (!r->meta ||
        meta_add(r->meta, comment, 0, begin, (size_t)(r->at - begin)))
        return true;
    r->starved = !meta_is_full(r->meta);
    return false;
}

bool netpbm_skip_blanks(struct netpbm_reader *r)
{
    while (r->at < r->end) {
        if (*r->at == '#') {
            if (!read_comment(r))
                return false;
        } else if (netpbm_is_blank(*r->at)) {
            r->at++;
        } else {
            break;
        }
    }
    return true;
}

bool netpbm_read_number(struct netpbm_reader *r, uint32_t *number)
{
    uint64_t n = 0;
    if (!netpbm_skip_blanks(r))
        return false;
    const uint8_t *begin = r->at;
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9') {
        n = 10 * n + *r->at++ - '0';
        if (n > INT32_MAX)
            return false;
    }
    *number = (uint32_t)n;
    return r->at > begin;
}

bool netpbm_read_word(struct netpbm_reader *r, char *word, size_t room)
{
    size_t n = 0;
    if (!netpbm_skip_blanks(r))
        return false;
    while (r->at < r->end && !netpbm_is_blank(*r->at)) {
        if (n + 1 == room || *r->at == '\0')
            return false;
        word[n++] = (char)*r->at++;
    }
    word[n] = '\0';
    return n > 0;
}

bool netpbm_end_header(struct netpbm_reader *r)
{
    if (r->at < r->end && *r->at == '#' && !read_comment(r))
        return false;
    return r->at < r->end && netpbm_is_blank(*r->at++);
}

/* ---- Comments ----------------------------------------------------------- */

static bool is_comment(const struct metadata_block *block)
{
    return strcmp(block->name, comment) == 0;
}

static bool write_comment(struct bytes *file, const char *lead,
                          const uint8_t *data, size_t size)
{
    return bytes_append(file, lead, strlen(lead)) &&
           bytes_append(file, data, size) && bytes_append(file, "\n", 1);
}

/* A comment ends at a newline or a carriage return, so each line of a text is
 * one. */
static bool write_text(struct bytes *file, struct bytes text)
{
    for (size_t at = 0, n; at < text.size; at += n + 1) {
        const uint8_t *line = text.data + at;
        for (n = 0; at + n < text.size && line[n] != '\n'; n++)
            if (line[n] == '\r')
                break;
        if (n > 0 && !write_comment(file, "# ", line, n))
            return false;
    }
    return true;
}

static bool write_blocks(struct bytes *file, const struct meta *meta)
{
    for (size_t i = 0; i < meta->nblocks; i++)
        if (is_comment(&meta->block[i]) &&
            !write_comment(file, "#", meta->block[i].data, meta->block[i].size))
            return false;
    return true;
}

static bool write_comments(struct bytes *file, const struct image *img,
                           const struct codec *codec,
                           const struct save_opts *opts)
{
    if (!img->meta || opts->strip != STRIP_NOTHING)
        return true;
    if (codec_is_own(codec, img))
        return write_blocks(file, img->meta);
    return !(codec->capabilities.metadata & HOLDS_COMMENT) ||
           write_text(file, img->meta->comment);
}

int netpbm_write_header(struct bytes *file, const struct image *img,
                        const struct codec *codec, const struct save_opts *opts,
                        const char *magic, const char *fields, struct err *err)
{
    return bytes_append(file, magic, strlen(magic)) &&
                   bytes_append(file, "\n", 1) &&
                   write_comments(file, img, codec, opts) &&
                   bytes_append(file, fields, strlen(fields))
               ? 0
               : fail_memory(err, "no memory for the file");
}

/* Joins all comments to the one that other formats hold. */
static int make_portable(struct meta *meta, struct err *err)
{
    bool first = true;
    for (size_t i = 0; i < meta->nblocks; i++) {
        struct metadata_block *block = &meta->block[i];
        size_t skip = block->size > 0 && block->data[0] == ' ';
        if (!is_comment(block))
            continue;
        block->portable = true;
        if ((!first && !bytes_append(&meta->comment, "\n", 1)) ||
            !bytes_append(&meta->comment, block->data + skip,
                          block->size - skip))
            return fail_memory(err, "no memory for the comments");
        first = false;
    }
    return meta_comment_utf8(meta, err);
}

/* ---- Samples ------------------------------------------------------------ */

int netpbm_set_maxval(struct image *img, uint32_t maxval, struct err *err)
{
    if (maxval == 0 || maxval > 65535)
        return fail(err, "maxval %u is out of range; expected 1 to 65535",
                    maxval);
    img->maxval = maxval;
    img->cell = maxval > 255 ? CELL_U16 : CELL_U8;
    return 0;
}

static size_t row_cells(const struct image *img)
{
    return (size_t)img->width * img->nplanes;
}

uint64_t netpbm_samples_size(const struct image *img)
{
    return (uint64_t)row_cells(img) * cell_size(img->cell) * img->height;
}

/* Returns whether no sample of a row is above maxval. */
static bool row_fits(const void *row, size_t n, const struct image *img)
{
    return img->maxval == (img->cell == CELL_U8 ? 255 : 65535) ||
           interleave_max(img->cell, row, n) <= img->maxval;
}

static void clip_row(void *row, size_t n, const struct image *img)
{
    for (size_t i = 0; i < n; i++)
        if (img->cell == CELL_U8 && ((uint8_t *)row)[i] > img->maxval)
            ((uint8_t *)row)[i] = (uint8_t)img->maxval;
        else if (img->cell == CELL_U16 && ((uint16_t *)row)[i] > img->maxval)
            ((uint16_t *)row)[i] = (uint16_t)img->maxval;
}

int netpbm_note_clipped(bool *clipped, uint32_t y, const struct image *img,
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

/* Copies row i of `size` bytes; where fewer are left, zeros follow them. */
static void read_row(const struct netpbm_reader *r, uint32_t i, uint8_t *row,
                     size_t size)
{
    size_t from = i * size < netpbm_left(r) ? i * size : netpbm_left(r);
    size_t n = netpbm_left(r) - from < size ? netpbm_left(r) - from : size;
    memcpy(row, r->at + from, n);
    memset(row + n, 0, size - n);
}

int netpbm_open_rows(struct row_sink *rows, struct reader *reader,
                     struct err *err)
{
    const struct load_opts *opts = reader->opts;
    const struct decode_plan *plan = reader->plan;
    if (image_is_stored(&reader->img, &opts->limits))
        return row_sink_open_stored(rows, &reader->img, plan->turn,
                                    plan->turner, opts->limits.scratch, err);
    return row_sink_open(rows, &reader->img, plan->turn, plan->turner,
                         opts->mem, err);
}

int netpbm_read_samples(struct reader *reader, struct netpbm_reader *r,
                        struct err *err)
{
    struct image *img = &reader->img;
    const struct load_opts *opts = reader->opts;
    size_t samples = row_cells(img), n = samples * cell_size(img->cell);
    uint8_t *row = memory_alloc(n);
    struct row_sink rows = { 0 };
    bool floats = img->cell == CELL_F32, clipped = false;
    const struct pfm_state *pfm = img->meta->state;
    uint32_t at;
    struct bytes_passed passed = bytes_passed_begin(reader->file);
    int status = row ? netpbm_open_rows(&rows, reader, err)
                     : fail_memory(err, "no memory for a row");
    for (uint32_t y = 0; status == 0 && y < rows.height; y++) {
        uint32_t i = floats ? rows.height - 1 - y : y;
        read_row(r, i, row, n);
        bytes_pass(&passed, r->at + i * n);
        interleave_set_order(img->cell, row, samples,
                             !floats || pfm->big_endian);
        if (!floats && !row_fits(row, samples, img)) {
            status = netpbm_note_clipped(&clipped, y, img, opts, err);
            clip_row(row, samples, img);
        }
        const struct image *to = row_sink_at(&rows, y, &at);
        interleave_split_row(to, at, row);
        if (status == 0)
            status = row_sink_done(&rows, y, err);
    }
    n *= rows.height;
    r->at += n < netpbm_left(r) ? n : netpbm_left(r);
    row_sink_close(&rows);
    memory_free(row);
    return status;
}

int netpbm_write_rows(struct bytes *file, const struct image *img,
                      const struct netpbm_rows *rows,
                      const struct save_opts *opts, struct err *err)
{
    struct row_source source = row_source_open(img, opts->pool);
    int status = 0;
    if (!opts->flush && !bytes_reserve(file, rows->size * img->height))
        status = fail_memory(err, "no memory for the file");
    for (uint32_t i = 0, at; i < img->height && status == 0; i++) {
        uint32_t y = rows->upwards ? img->height - 1 - i : i;
        status = row_source_reach(&source, y, err);
        if (status == 0 && !bytes_reserve(file, rows->size))
            status = fail_memory(err, "no memory for the file");
        if (status)
            break;
        const struct image *from = row_source_at(&source, y, &at);
        rows->join(from, at, file->data + file->size, rows);
        file->size += rows->size;
        status = flush_file(opts->flush, file, err);
    }
    row_source_close(&source);
    return status;
}

void netpbm_join_samples(const struct image *img, uint32_t y, uint8_t *row,
                         const struct netpbm_rows *rows)
{
    interleave_join_row(img, y, row);
    interleave_set_order(img->cell, row, row_cells(img), rows->big_endian);
}

int netpbm_write_samples(struct bytes *file, const struct image *img,
                         bool big_endian, const struct save_opts *opts,
                         struct err *err)
{
    const struct netpbm_rows rows = {
        .size = row_cells(img) * cell_size(img->cell),
        .upwards = img->cell == CELL_F32,
        .big_endian = big_endian,
        .join = netpbm_join_samples,
    };
    return netpbm_write_rows(file, img, &rows, opts, err);
}

/* ---- The file ----------------------------------------------------------- */

/* Only blanks may follow the picture: anything else may be another picture. */
static int check_end(struct netpbm_reader *r, const struct load_opts *opts,
                     struct err *err)
{
    while (r->at < r->end && netpbm_is_blank(*r->at))
        r->at++;
    if (r->at == r->end)
        return 0;
    if (!opts->tolerant)
        return fail(err,
                    "%zu bytes after the picture; only files of one "
                    "picture can be turned",
                    netpbm_left(r));
    warn(opts->warnings, "%zu bytes after the picture are not kept",
         netpbm_left(r));
    return 0;
}

/* Continues to read a file where the reader stands. */
static struct netpbm_reader begin(const struct reader *reader)
{
    return (struct netpbm_reader){
        .at = reader->file.data + reader->at,
        .end = reader->file.data + reader->file.size,
        .meta = reader->img.meta,
    };
}

static uint64_t samples_size(const struct image *img,
                             const struct netpbm_reader *r)
{
    const struct netpbm_format *format = img->meta->codec->format;
    return format->samples_size ? format->samples_size(img, r)
                                : netpbm_samples_size(img);
}

int netpbm_open(struct reader *reader, struct err *err)
{
    const struct netpbm_format *format = reader->codec->format;
    struct netpbm_reader r = begin(reader);
    struct image *img = &reader->img;
    if (format->read_header(img, &r, err))
        return r.starved ? fail_memory(err, "no memory for a comment") : -1;
    if (image_check(img->width, img->height, img->nplanes, img->cell,
                    &reader->opts->limits, err))
        return -1;
    reader->at = (size_t)(r.at - reader->file.data);
    return simple_check_size(reader->file, reader->at, samples_size(img, NULL),
                             reader->opts, err);
}

int netpbm_decode(struct reader *reader, struct err *err)
{
    const struct netpbm_format *format = reader->codec->format;
    struct netpbm_reader r = begin(reader);
    r.cut = netpbm_left(&r) < samples_size(&reader->img, NULL);
    if (format->read_samples(reader, &r, err) ||
        check_end(&r, reader->opts, err))
        return -1;
    return reader->opts->portable ? make_portable(reader->img.meta, err) : 0;
}

int netpbm_check(struct bytes file, const struct image *img,
                 const struct codec *codec, struct err *err)
{
    const struct netpbm_format *format = codec->format;
    struct image is = { .meta = codec_new_meta(codec) };
    struct netpbm_reader r = { .at = file.data,
                               .end = file.data + file.size,
                               .passed = bytes_passed_begin(file) };
    if (!is.meta)
        return fail_memory(err, "no memory to check the file");
    int status =
        codec->probe(file.data, file.size)
            ? format->read_header(&is, &r, err)
            : fail(err, "the file does not begin as one of this format");
    if (status == 0 && (is.width != img->width || is.height != img->height ||
                        is.maxval != img->maxval))
        status = fail(err, "its header is of another picture");
    uint64_t need = status == 0 ? samples_size(&is, &r) : 0;
    if (status == 0 && netpbm_left(&r) != need)
        status = fail(err, "%zu bytes of samples, where there have to be %llu",
                      netpbm_left(&r), (unsigned long long)need);
    image_free(&is);
    return status;
}
