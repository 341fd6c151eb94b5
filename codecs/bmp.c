/* BMP through stb_image and stb_image_write. The header is laid out as in
 * Microsoft's BITMAPFILEHEADER and BITMAPINFOHEADER. */
#include <string.h>

#include "codecs/stb.h"

enum {
    AT_PIXELS = 10, /* where the pixels begin */
    AT_HEADER = 14, /* the size of the second header */
    AT_WIDTH = 18,
    AT_HEIGHT = 22, /* negative: the top row comes first */
    AT_BITS = 28,
    AT_CODING = 30,
    AT_DENSITY = 38, /* pixels a meter, for x and for y */
    CORE_HEADER = 12, /* of OS/2: shorter, and without most of these */
    INFO_HEADER = 40,
    V5_HEADER = 124,
    AT_PROFILE_SIZE = 14 + 116, /* of V5 */
};

static bool probe(const uint8_t *head, size_t size)
{
    return size >= 26 && memcmp(head, "BM", 2) == 0 &&
           little32(head + AT_HEADER) >= CORE_HEADER &&
           little32(head + AT_HEADER) <= V5_HEADER;
}

/* Pixels that are not packed have a size that is known: rows of whole 4 bytes. */
static int check_size(const uint8_t *p, size_t size,
                      const struct load_opts *opts, struct err *err)
{
    if (size < 54 || little32(p + AT_HEADER) < INFO_HEADER)
        return 0;
    uint32_t w = little32(p + AT_WIDTH), h = little32(p + AT_HEIGHT);
    uint64_t rows = h > INT32_MAX ? -(uint64_t)(int64_t)(int32_t)h : h;
    uint64_t row = ((uint64_t)w * little16(p + AT_BITS) + 31) / 32 * 4;
    uint64_t need;
    if (__builtin_mul_overflow(row, rows, &need) ||
        __builtin_add_overflow(need, little32(p + AT_PIXELS), &need))
        return fail(err, "its header is malformed");
    if (size >= need || opts->tolerant)
        return 0;
    return fail(err, "the image data is cut short: %zu bytes of %llu", size,
                (unsigned long long)need);
}

static void note(struct image *img, const uint8_t *p, size_t size,
                 struct warnings *warnings)
{
    struct density *density = &img->meta->density;
    if (size < 54 || little32(p + AT_HEADER) < INFO_HEADER)
        return;
    uint32_t x = little32(p + AT_DENSITY), y = little32(p + AT_DENSITY + 4);
    if (x && y && x <= INT32_MAX && y <= INT32_MAX)
        *density = (struct density){ DENSITY_METER, x, y };
    if (little16(p + AT_BITS) <= 8)
        warn(warnings, "its palette is not kept, only its colors");
    else if (little16(p + AT_BITS) == 16)
        warn(warnings, "its 16 bits a pixel become 24");
    if (little32(p + AT_HEADER) == V5_HEADER && size >= 14 + V5_HEADER &&
        little32(p + AT_PROFILE_SIZE))
        warn(warnings, "its color profile is not kept");
}

static int decode(struct image *img, struct bytes file,
                  const struct load_opts *opts, struct err *err)
{
    if (check_size(file.data, file.size, opts, err))
        return -1;
    img->meta = meta_new(&codec_bmp);
    if (!img->meta)
        return fail(err, "no memory for the decoder");
    if (stb_read(img, file, false, opts, err)) {
        image_free(img);
        return -1;
    }
    note(img, file.data, file.size, opts->warnings);
    return 0;
}

static void put_density(uint8_t *p, double value)
{
    uint32_t n = value >= 1 && value < INT32_MAX ? (uint32_t)(value + 0.5) : 0;
    for (int i = 0; i < 4; i++, n >>= 8)
        p[i] = n & 255;
}

/* stb_image_write leaves the density 0. */
static int encode(struct bytes *file, const struct image *img,
                  const struct save_opts *opts, struct err *err)
{
    const struct meta *meta = img->meta;
    if (!codec_is_own(&codec_bmp, img) && opts->strip == STRIP_NOTHING)
        meta_warn_lost(meta, codec_bmp.holds.metadata, "BMP", opts->warnings);
    if (stb_write(file, img, STB_BMP, err))
        return -1;
    if (!meta || opts->strip != STRIP_NOTHING || file->size < 54)
        return 0;
    struct density d = density_turn(meta->density, img->turned);
    double scale = d.unit == DENSITY_INCH    ? 1 / 0.0254
                   : d.unit == DENSITY_METER ? 1
                                             : 0;
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
