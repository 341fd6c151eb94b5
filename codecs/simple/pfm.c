/* PFM: floats, from the bottom row up (P. Debevec; netpbm's pfm(5)). The sign
 * of the scale tells the byte order: negative is little-endian. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/image/interleave.h"
#include "codecs/simple/netpbm.h"

static bool probe(const uint8_t *head, size_t size)
{
    return size >= 3 && head[0] == 'P' && (head[1] == 'F' || head[1] == 'f') &&
           netpbm_is_blank(head[2]);
}

static int read_head(struct image *img, struct netpbm_reader *scan,
                     struct err *err)
{
    char word[32], *end;
    img->cell = CELL_F32;
    img->color = scan->at[1] == 'F' ? COLOR_RGB : COLOR_GRAY;
    img->nplanes = scan->at[1] == 'F' ? 3 : 1;
    scan->at += 2;
    if (!netpbm_number(scan, &img->width) ||
        !netpbm_number(scan, &img->height) ||
        !netpbm_word(scan, word, sizeof word))
        return fail(err, "its header has no size");
    double scale = strtod(word, &end);
    if (*end || !isfinite(scale) || scale == 0)
        return fail(err, "its scale is not a number other than 0");
    img->meta->big_endian = scale > 0;
    snprintf(img->meta->kind, sizeof img->meta->kind, "%s", word);
    if (fabs(scale) != 1 && /* a unit, which other formats lack */
        !meta_add(img->meta, "scale", 0, word, strlen(word)))
        return fail_memory(err, "no memory for the decoder");
    if (!netpbm_one_blank(scan))
        return fail(err, "its header has no end");
    return 0;
}

static size_t row_cells(const struct image *img)
{
    return (size_t)img->width * img->nplanes;
}

static int read_rows(struct image *img, struct netpbm_reader *scan,
                     struct err *err)
{
    size_t n = row_cells(img) * sizeof(float);
    uint8_t *row = malloc(n);
    if (!row)
        return fail_memory(err, "no memory for a row");
    for (uint32_t y = img->height; y-- > 0;) {
        netpbm_take(scan, row, n);
        if (img->meta->big_endian != cells_big_endian())
            cells_swap32(row, row_cells(img));
        interleave_split_row(img, y, row);
    }
    free(row);
    return 0;
}

static int open(struct reader *reader, struct err *err)
{
    struct netpbm_reader scan = netpbm_begin(reader);
    struct image *img = &reader->img;
    if (read_head(img, &scan, err) ||
        image_check(img->width, img->height, img->nplanes, img->cell,
                    &reader->opts->limits, err))
        return -1;
    uint64_t need = (uint64_t)row_cells(img) * sizeof(float) * img->height;
    if (netpbm_has(&scan, need, reader->opts, err))
        return -1;
    reader->at = (size_t)(scan.at - reader->file.data);
    return 0;
}

static int decode(struct reader *reader, const struct decode_plan *plan,
                  struct err *err)
{
    struct netpbm_reader scan = netpbm_begin(reader);
    (void)plan;
    if (image_alloc(&reader->img, reader->opts->mem, err) ||
        read_rows(&reader->img, &scan, err))
        return -1;
    return netpbm_end(&scan, reader, err);
}

static int write_rows(struct bytes *file, const struct image *img,
                      bool big_endian, struct err *err)
{
    size_t n = row_cells(img) * sizeof(float);
    if (!bytes_reserve(file, n * img->height))
        return fail_memory(err, "no memory for the file");
    for (uint32_t y = img->height; y-- > 0;) {
        uint8_t *row = file->data + file->size;
        interleave_join_row(img, y, row);
        if (big_endian != cells_big_endian())
            cells_swap32(row, row_cells(img));
        file->size += n;
    }
    return 0;
}

static int encode(struct bytes *file, const struct image *img,
                  const struct save_opts *opts, struct err *err)
{
    bool own = codec_is_own(&codec_pfm, img);
    const char *scale = own ? img->meta->kind : "-1.0";
    char text[96];
    if (!own && opts->strip == STRIP_NOTHING)
        meta_warn_lost(img->meta, codec_pfm.holds.metadata, "PFM",
                       opts->warnings);
    int n = sprintf(text, "P%c\n", img->color == COLOR_RGB ? 'F' : 'f');
    if (!bytes_append(file, text, (size_t)n) ||
        (own && opts->strip == STRIP_NOTHING &&
         !netpbm_put_comments(file, img->meta, own)))
        return fail_memory(err, "no memory for the file");
    n = sprintf(text, "%u %u\n%s\n", img->width, img->height, scale);
    if (!bytes_append(file, text, (size_t)n))
        return fail_memory(err, "no memory for the file");
    return write_rows(file, img, own && img->meta->big_endian, err);
}

static int measure(struct image *is, struct netpbm_reader *scan, uint64_t *need,
                   struct err *err)
{
    if (read_head(is, scan, err))
        return -1;
    *need = (uint64_t)row_cells(is) * sizeof(float) * is->height;
    return 0;
}

static int check(struct bytes file, const struct image *img,
                 const struct save_opts *opts, struct err *err)
{
    (void)opts;
    return netpbm_check(file, img, &codec_pfm, measure, err);
}

static const char *const suffixes[] = { "pfm", NULL };

const struct codec codec_pfm = {
    .name = "pfm",
    .title = "PFM",
    .suffixes = suffixes,
    .holds = {
        .cells = 1 << CELL_F32,
        .colors = 1 << COLOR_GRAY | 1 << COLOR_RGB,
    },
    .probe = probe,
    .open = open,
    .decode = decode,
    .encode = encode,
    .check = check,
};
