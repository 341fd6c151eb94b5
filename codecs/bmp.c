/* BMP through stb_image and stb_image_write. The header is laid out as in
 * Microsoft's BITMAPFILEHEADER and BITMAPINFOHEADER. */
#include <string.h>

#include "codecs/stb.h"

enum {
    AT_PIXELS = 10, /* where the pixels begin */
    AT_HEADER = 14, /* the size of the second header */
    AT_WIDTH = 18,
    AT_HEIGHT = 22, /* negative: the top row comes first */
    AT_PLANES = 26,
    AT_BITS = 28,
    AT_CODING = 30,
    AT_DENSITY = 38, /* pixels a meter, for x and for y */
    AT_COLORS = 46,  /* entries of the palette; 0: all */
    AT_MASKS = 54,   /* red, green, blue and, in a longer header, alpha */
    CORE_HEADER = 12, /* of OS/2: sizes of 16 bits, and nothing from AT_CODING */
    INFO_HEADER = 40,
    ALPHA_HEADER = 56, /* the first with a mask for alpha */
    V4_HEADER = 108,
    V5_HEADER = 124,
    AT_PROFILE_SIZE = 14 + 116, /* of V5 */
    PALETTE = 256,
};

/* In a plain pixel of 32 bits the fourth byte means nothing, says the format;
 * to many programs it is alpha. Its own file leaves that open, as it was. */
static const char plain_alpha[] = "plain";

enum { CODING_NONE, CODING_RLE8, CODING_RLE4, CODING_MASKS };

struct head {
    uint32_t size, coding;
    int32_t width, height;
    unsigned bits, colors;
    size_t palette, pixels; /* where they begin */
    uint32_t mask[4];       /* red, green, blue, alpha, for CODING_MASKS */
};

static bool probe(const uint8_t *head, size_t size)
{
    return size >= 26 && memcmp(head, "BM", 2) == 0 &&
           little32(head + AT_HEADER) >= CORE_HEADER &&
           little32(head + AT_HEADER) <= V5_HEADER;
}

/* ---- Reading ------------------------------------------------------------ */

static int read_info(struct head *h, struct bytes file, struct err *err)
{
    const uint8_t *p = file.data;
    h->width = (int32_t)little32(p + AT_WIDTH);
    h->height = (int32_t)little32(p + AT_HEIGHT);
    h->bits = little16(p + AT_BITS);
    h->coding = little32(p + AT_CODING);
    h->colors = little32(p + AT_COLORS);
    h->palette = AT_HEADER + (size_t)h->size;
    if (h->coding == CODING_RLE8 || h->coding == CODING_RLE4)
        return fail(err, "its pixels are run-length coded; only plain ones can "
                         "be read");
    if (h->coding != CODING_NONE && h->coding != CODING_MASKS)
        return fail(err, "its pixels are coded in way %u; only plain ones can "
                         "be read",
                    h->coding);
    if (h->coding == CODING_NONE)
        return 0;
    unsigned masks = h->size < ALPHA_HEADER ? 3 : 4;
    if (file.size < AT_MASKS + 4 * masks || (h->bits != 16 && h->bits != 32))
        return fail(err, "its header is malformed");
    for (unsigned i = 0; i < masks; i++)
        h->mask[i] = little32(p + AT_MASKS + 4 * i);
    return 0;
}

static void read_core(struct head *h, struct bytes file)
{
    const uint8_t *p = file.data;
    h->width = (int32_t)little16(p + AT_WIDTH);
    h->height = (int32_t)little16(p + AT_WIDTH + 2);
    h->bits = little16(p + AT_WIDTH + 6);
    h->palette = AT_HEADER + CORE_HEADER;
}

static int read_head(struct head *h, struct bytes file, struct err *err)
{
    h->size = little32(file.data + AT_HEADER);
    h->pixels = little32(file.data + AT_PIXELS);
    if (h->size == CORE_HEADER)
        read_core(h, file);
    else if (h->size < INFO_HEADER)
        return fail(err, "a header of %u bytes; 12 or 40 and more can be read",
                    h->size);
    else if (file.size < AT_HEADER + (size_t)INFO_HEADER)
        return fail(err, "the file is cut short");
    else if (read_info(h, file, err))
        return -1;
    if (h->pixels < h->palette)
        return fail(err, "its header is malformed");
    switch (h->bits) {
    case 1:
    case 4:
    case 8:
    case 16:
    case 24:
    case 32:
        return 0;
    default:
        return fail(err, "%u bits a pixel; 1, 4, 8, 16, 24 and 32 can be read",
                    h->bits);
    }
}

static uint32_t rows(const struct head *h)
{
    return h->height < 0 ? -(uint32_t)h->height : (uint32_t)h->height;
}

/* The plain ones of 32 bits have alpha by custom; stb_image makes it opaque if
 * all of it is 0. */
static bool has_alpha(const struct head *h)
{
    return h->coding == CODING_MASKS ? h->mask[3] : h->bits == 32;
}

/* The palette, as the longer headers have it; what it lacks is black. */
static void copy_palette(uint8_t *to, const struct head *h, struct bytes file)
{
    size_t entry = h->size == CORE_HEADER ? 3 : 4;
    size_t end = h->pixels < file.size ? h->pixels : file.size;
    size_t n = (size_t)1 << h->bits;
    if (h->colors && h->colors < n)
        n = h->colors;
    for (size_t i = 0; i < n && h->palette + (i + 1) * entry <= end; i++)
        memcpy(to + 4 * i, file.data + h->palette + i * entry, 3);
}

/* Appends the header that all have here. stb_image knows others, but takes
 * pixels for the palette of some, and refuses a gap behind it. */
static bool put_head(struct bytes *plain, const struct head *h,
                     struct bytes file)
{
    uint8_t head[AT_HEADER + V4_HEADER + 4 * PALETTE] = "BM";
    bool masks = h->coding == CODING_MASKS;
    size_t size = AT_HEADER + (masks ? V4_HEADER : INFO_HEADER);
    put_little32(head + AT_HEADER, masks ? V4_HEADER : INFO_HEADER);
    put_little32(head + AT_WIDTH, (uint32_t)h->width);
    put_little32(head + AT_HEIGHT, (uint32_t)h->height);
    put_little16(head + AT_PLANES, 1);
    put_little16(head + AT_BITS, h->bits);
    put_little32(head + AT_CODING, h->coding);
    for (unsigned i = 0; masks && i < 4; i++)
        put_little32(head + AT_MASKS + 4 * i, h->mask[i]);
    if (h->bits <= 8) {
        copy_palette(head + size, h, file);
        size += 4 * PALETTE;
    }
    put_little32(head + AT_PIXELS, (uint32_t)size);
    return bytes_append(plain, head, size);
}

/* Makes a file for stb_image: a header of ours and all the pixels, which are
 * rows of whole 4 bytes. */
static int make_plain(struct bytes *plain, const struct head *h,
                      struct bytes file, const struct load_opts *opts,
                      struct err *err)
{
    size_t row = ((size_t)h->width * h->bits + 31) / 32 * 4;
    size_t need = row * rows(h), at = h->pixels;
    size_t left = file.size > at ? file.size - at : 0;
    if (left < need && !opts->tolerant)
        return fail(err, "the image data is cut short: %zu bytes of %zu", left,
                    need);
    if (left < need)
        stb_warn_cut(opts);
    else
        left = need;
    if (!put_head(plain, h, file) || !bytes_reserve(plain, need))
        return fail(err, "no memory for the pixels");
    memset(plain->data + plain->size, 0, need);
    if (left)
        memcpy(plain->data + plain->size, file.data + at, left);
    plain->size += need;
    return 0;
}

static void note(struct image *img, const struct head *h, struct bytes file,
                 struct warnings *warnings)
{
    const uint8_t *p = file.data;
    if (h->bits == 32 && h->coding == CODING_NONE)
        strcpy(img->meta->kind, plain_alpha);
    if (h->bits <= 8)
        warn(warnings, "its palette is not kept, only its colors");
    else if (h->bits == 16)
        warn(warnings, "its 16 bits a pixel become %u", 8 * img->nplanes);
    if (h->size == CORE_HEADER)
        return;
    uint32_t x = little32(p + AT_DENSITY), y = little32(p + AT_DENSITY + 4);
    if (x && y && x <= INT32_MAX && y <= INT32_MAX)
        img->meta->density = (struct density){ DENSITY_METER, x, y };
    if (h->size == V5_HEADER && file.size >= AT_HEADER + V5_HEADER &&
        little32(p + AT_PROFILE_SIZE))
        warn(warnings, "its color profile is not kept");
}

static bool is_opaque(const struct image *img)
{
    for (uint32_t y = 0; y < img->height; y++) {
        const uint8_t *row = plane_row(&img->plane[img->nplanes - 1], y);
        for (uint32_t x = 0; x < img->width; x++)
            if (row[x] != 255)
                return false;
    }
    return true;
}

static int decode(struct image *img, struct bytes file,
                  const struct load_opts *opts, struct err *err)
{
    struct head head = { 0 };
    struct bytes plain = { 0 };
    int status = read_head(&head, file, err);
    if (status == 0 && head.width < 0)
        status = fail(err, "its header is malformed");
    if (status == 0)
        status = stb_shape(img, (uint32_t)head.width, rows(&head),
                           has_alpha(&head) ? 4 : 3, CELL_U8, opts, err);
    if (status == 0)
        status = make_plain(&plain, &head, file, opts, err);
    if (status == 0)
        status = stb_read(img, plain, opts, err);
    bytes_free(&plain);
    if (status == 0 && !(img->meta = meta_new(&codec_bmp)))
        status = fail(err, "no memory for the decoder");
    if (status) {
        image_free(img);
        return -1;
    }
    note(img, &head, file, opts->warnings);
    /* To other formats it would be alpha, so it is not where it says nothing. */
    if (opts->neutral && *img->meta->kind && is_opaque(img)) {
        img->nplanes = 3;
        img->alpha = false;
    }
    return 0;
}

/* ---- Writing ------------------------------------------------------------ */

static void put_density(uint8_t *p, double value)
{
    put_little32(p, value >= 1 && value < INT32_MAX ? (uint32_t)(value + 0.5)
                                                    : 0);
}

/* stb_image_write says by masks what is alpha, and leaves the density 0. */
static int encode(struct bytes *file, const struct image *img,
                  const struct save_opts *opts, struct err *err)
{
    const struct meta *meta = img->meta;
    if (!codec_is_own(&codec_bmp, img) && opts->strip == STRIP_NOTHING)
        meta_warn_lost(meta, codec_bmp.holds.metadata, "BMP", opts->warnings);
    if (stb_write(file, img, STB_BMP, opts, err))
        return -1;
    if (codec_is_own(&codec_bmp, img) && img->alpha &&
        strcmp(meta->kind, plain_alpha) == 0) {
        put_little32(file->data + AT_CODING, CODING_NONE);
        memset(file->data + AT_MASKS, 0, 4 * 4);
    }
    if (!meta || opts->strip != STRIP_NOTHING)
        return 0;
    struct density d = density_turn(meta->density, img->turned);
    double scale = d.unit == DENSITY_INCH    ? 1 / 0.0254
                   : d.unit == DENSITY_METER ? 1
                                             : 0;
    if (d.unit == DENSITY_ASPECT && d.x != d.y)
        warn(opts->warnings,
             "BMP cannot hold, so it is not kept: aspect of the pixels");
    put_density(file->data + AT_DENSITY, d.x * scale);
    put_density(file->data + AT_DENSITY + 4, d.y * scale);
    return 0;
}

static const char *const suffixes[] = { "bmp", "dib", NULL };

const struct codec codec_bmp = {
    .name = "bmp",
    .title = "BMP",
    .suffixes = suffixes,
    .holds = {
        .cells = 1 << CELL_U8,
        .colors = 1 << COLOR_RGB,
        .alpha = true,
        .metadata = HOLDS_DENSITY,
    },
    .probe = probe,
    .decode = decode,
    .encode = encode,
};
