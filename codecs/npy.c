/* NPY: numpy's array files, as numpy.lib.format describes them.
 *
 * An array H x W is gray, C x H x W is C planes: 1 gray, 2 gray and alpha, 3
 * RGB, 4 RGB and alpha, and any other number without a meaning to us. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/codec.h"
#include "codecs/planes.h"

static const char magic[] = "\x93NUMPY";
enum { MAGIC = 6, DIMENSIONS = 3 };

static bool probe(const uint8_t *head, size_t size)
{
    return size >= 10 && memcmp(head, magic, MAGIC) == 0;
}

/* ---- The header: a Python dictionary of three keys ---------------------- */

struct head {
    const char *at, *end;
    char descr[8];
    bool fortran;
    uint64_t shape[DIMENSIONS];
    unsigned dimensions; /* may be more than there is room for */
    unsigned seen;       /* a bit for each key */
};

static void skip_blanks(struct head *h)
{
    while (h->at < h->end && (*h->at == ' ' || *h->at == '\n' || *h->at == '\t'))
        h->at++;
}

static bool take(struct head *h, char c)
{
    skip_blanks(h);
    if (h->at == h->end || *h->at != c)
        return false;
    h->at++;
    return true;
}

static bool take_string(struct head *h, char *text, size_t room)
{
    size_t n = 0;
    skip_blanks(h);
    if (h->at == h->end || (*h->at != '\'' && *h->at != '"'))
        return false;
    char quote = *h->at++;
    while (h->at < h->end && *h->at != quote) {
        if (n + 1 == room)
            return false;
        text[n++] = *h->at++;
    }
    text[n] = '\0';
    return take(h, quote);
}

static bool take_word(struct head *h, const char *word)
{
    size_t n = strlen(word);
    skip_blanks(h);
    if ((size_t)(h->end - h->at) < n || memcmp(h->at, word, n) != 0)
        return false;
    h->at += n;
    return true;
}

static bool take_number(struct head *h, uint64_t *number)
{
    skip_blanks(h);
    const char *begin = h->at;
    *number = 0;
    while (h->at < h->end && *h->at >= '0' && *h->at <= '9') {
        *number = 10 * *number + (uint64_t)(*h->at++ - '0');
        if (*number > INT64_MAX / 10)
            return false;
    }
    return h->at > begin;
}

/* "(3, 480, 640)"; one element has a comma behind it, and Python 2 may have put
 * an L behind each. */
static bool take_shape(struct head *h)
{
    uint64_t n;
    if (!take(h, '('))
        return false;
    while (!take(h, ')')) {
        if (!take_number(h, &n))
            return false;
        if (h->dimensions < DIMENSIONS)
            h->shape[h->dimensions] = n;
        h->dimensions++;
        if (h->at < h->end && *h->at == 'L')
            h->at++;
        if (!take(h, ',') && (h->at == h->end || *h->at != ')'))
            return false;
    }
    return true;
}

static bool take_pair(struct head *h)
{
    char key[16];
    if (!take_string(h, key, sizeof key) || !take(h, ':'))
        return false;
    if (strcmp(key, "descr") == 0) {
        h->seen |= 1;
        return take_string(h, h->descr, sizeof h->descr);
    }
    if (strcmp(key, "fortran_order") == 0) {
        h->seen |= 2;
        h->fortran = take_word(h, "True");
        return h->fortran || take_word(h, "False");
    }
    h->seen |= 4;
    return strcmp(key, "shape") == 0 && h->dimensions == 0 && take_shape(h);
}

static bool take_dictionary(struct head *h)
{
    if (!take(h, '{'))
        return false;
    while (!take(h, '}')) {
        if (!take_pair(h))
            return false;
        if (!take(h, ',') && (h->at == h->end || *h->at != '}'))
            return false;
    }
    skip_blanks(h);
    return h->seen == 7 && h->at == h->end;
}

/* Finds the header of `file`, whose length has 2 bytes in version 1 and 4 in
 * versions 2 and 3, and gives the bytes behind it. */
static int find_head(struct bytes file, struct head *h, struct bytes *data,
                     struct err *err)
{
    const uint8_t *p = file.data;
    unsigned version = p[MAGIC], wide = version == 1 ? 2 : 4;
    uint64_t length = 0;
    if (version < 1 || version > 3)
        return fail(err, "version %u of NPY is not known", version);
    size_t lead = MAGIC + 2 + wide;
    if (file.size < lead)
        return fail(err, "the file is cut short");
    for (unsigned i = wide; i-- > 0;)
        length = length << 8 | p[MAGIC + 2 + i];
    if (length > file.size - lead)
        return fail(err, "the file is cut short");
    h->at = (const char *)p + lead;
    h->end = h->at + length;
    data->data = file.data + lead + length;
    data->size = file.size - lead - length;
    return take_dictionary(h) ? 0 : fail(err, "its header is malformed");
}

/* ---- The picture --------------------------------------------------------- */

static int shape_cells(struct image *img, const char *descr, struct err *err)
{
    static const struct {
        const char *name;
        enum cell cell;
    } types[] = { { "u1", CELL_U8 }, { "u2", CELL_U16 }, { "f4", CELL_F32 } };
    bool native = strchr("|=", *descr) != NULL;
    bool big = *descr == '>' || (native && cells_big_endian());
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (*descr && strchr("<>=|", *descr) &&
            strcmp(descr + 1, types[i].name) == 0) {
            img->cell = types[i].cell;
            img->maxval = img->cell == CELL_U8    ? 255
                          : img->cell == CELL_U16 ? 65535
                                                  : 0;
            img->meta->big_endian = big;
            return 0;
        }
    return fail(err, "an array of '%s'; u1, u2 and f4 can be read", descr);
}

static int shape_planes(struct image *img, const struct head *h,
                        const struct load_opts *opts, struct err *err)
{
    const uint64_t *n = h->shape;
    bool flat = h->dimensions == 2;
    uint64_t planes = flat ? 1 : n[0];
    if (h->dimensions < 2 || h->dimensions > 3 || planes < 1 ||
        planes > IMAGE_PLANES)
        return fail(err, "an array of %u dimensions, the first of %llu; it must "
                         "be H x W or C x H x W, with up to %d channels",
                    h->dimensions, (unsigned long long)n[0], IMAGE_PLANES);
    if (h->fortran)
        return fail(err, "an array in Fortran order; only C order can be read");
    uint64_t height = n[!flat], width = n[!flat + 1];
    if (image_check(width, height, (unsigned)planes, img->cell, &opts->limits,
                    err))
        return -1;
    img->width = (uint32_t)width;
    img->height = (uint32_t)height;
    img->nplanes = (unsigned)planes;
    img->color = planes > 4 ? COLOR_OTHER : planes > 2 ? COLOR_RGB : COLOR_GRAY;
    img->alpha = planes == 2 || planes == 4;
    img->meta->flat = flat;
    return 0;
}

static void swap_row(const struct image *img, void *row, bool big_endian)
{
    if (big_endian == cells_big_endian())
        return;
    if (img->cell == CELL_U16)
        cells_swap16(row, img->width);
    if (img->cell == CELL_F32)
        cells_swap32(row, img->width);
}

static void read_planes(struct image *img, struct bytes data)
{
    size_t n = img->width * cell_size(img->cell), at = 0;
    for (unsigned i = 0; i < img->nplanes; i++)
        for (uint32_t y = 0; y < img->height; y++) {
            void *row = plane_row(&img->plane[i], y);
            size_t left = data.size - at < n ? data.size - at : n;
            memcpy(row, data.data + at, left);
            memset((uint8_t *)row + left, 0, n - left);
            swap_row(img, row, img->meta->big_endian);
            at += left;
        }
}

static int check_size(const struct image *img, size_t size,
                      const struct load_opts *opts, struct err *err)
{
    uint64_t need = (uint64_t)img->width * cell_size(img->cell) * img->height *
                    img->nplanes;
    if (size == need)
        return 0;
    if (!opts->tolerant)
        return fail(err, "%zu bytes of data, where its shape needs %llu", size,
                    (unsigned long long)need);
    warn(opts->warnings, "%zu bytes of data, where its shape needs %llu", size,
         (unsigned long long)need);
    return 0;
}

static int decode(struct image *img, struct bytes file,
                  const struct load_opts *opts, struct err *err)
{
    struct head head = { 0 };
    struct bytes data = { 0 };
    img->orientation = 1;
    img->meta = meta_new(&codec_npy);
    if (!img->meta)
        return fail(err, "no memory for the decoder");
    if (find_head(file, &head, &data, err) ||
        shape_cells(img, head.descr, err) ||
        shape_planes(img, &head, opts, err) ||
        check_size(img, data.size, opts, err) ||
        (!opts->head_only && image_alloc(img, opts->mem, err))) {
        image_free(img);
        return -1;
    }
    if (!opts->head_only)
        read_planes(img, data);
    return 0;
}

/* Version 1, with blanks so that the data begins at a multiple of 64. */
static int write_head(struct bytes *file, const struct image *img,
                      bool big_endian, bool flat, struct err *err)
{
    static const char *const types[] = { "u1", "u2", "f4" };
    char text[192], shape[64];
    char order = img->cell == CELL_U8 ? '|' : big_endian ? '>' : '<';
    if (flat)
        sprintf(shape, "%u, %u", img->height, img->width);
    else
        sprintf(shape, "%u, %u, %u", img->nplanes, img->height, img->width);
    int n = sprintf(text,
                    "{'descr': '%c%s', 'fortran_order': False, "
                    "'shape': (%s), }",
                    order, types[img->cell], shape);
    while ((MAGIC + 4 + n + 1) % 64)
        text[n++] = ' ';
    text[n++] = '\n';
    uint8_t lead[4] = { 1, 0, n & 255, (uint8_t)(n >> 8) };
    if (!bytes_append(file, magic, MAGIC) || !bytes_append(file, lead, 4) ||
        !bytes_append(file, text, (size_t)n))
        return fail(err, "no memory for the file");
    return 0;
}

static int encode(struct bytes *file, const struct image *img,
                  const struct save_opts *opts, struct err *err)
{
    bool own = codec_is_own(&codec_npy, img);
    bool big_endian = own && img->meta->big_endian;
    bool flat = img->nplanes == 1 && (!own || img->meta->flat);
    size_t n = img->width * cell_size(img->cell);
    if (!own && opts->strip == STRIP_NOTHING)
        meta_warn_lost(img->meta, codec_npy.holds.metadata, "NPY",
                       opts->warnings);
    if (write_head(file, img, big_endian, flat, err))
        return -1;
    if (!bytes_reserve(file, n * img->height * img->nplanes))
        return fail(err, "no memory for the file");
    for (unsigned i = 0; i < img->nplanes; i++)
        for (uint32_t y = 0; y < img->height; y++) {
            uint8_t *row = file->data + file->size;
            memcpy(row, plane_row(&img->plane[i], y), n);
            swap_row(img, row, big_endian);
            file->size += n;
        }
    return 0;
}

static const char *const suffixes[] = { "npy", NULL };

const struct codec codec_npy = {
    .name = "npy",
    .title = "NPY",
    .suffixes = suffixes,
    .holds = {
        .cells = 1 << CELL_U8 | 1 << CELL_U16 | 1 << CELL_F32,
        .colors = 1 << COLOR_GRAY | 1 << COLOR_RGB | 1 << COLOR_OTHER,
        .alpha = true,
    },
    .probe = probe,
    .decode = decode,
    .encode = encode,
};
