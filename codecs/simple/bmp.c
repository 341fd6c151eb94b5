/* BMP: the header, as in Microsoft's BITMAPFILEHEADER and BITMAPINFOHEADER, and
 * writing. Whatever a file has, what is written of it has 24 or 32 bits a
 * pixel. */
#include "codecs/simple/bmp.h"

#include <string.h>

#include "codecs/image/interleave.h"
#include "codecs/simple/stb_write.h"

enum {
    AT_SIZE = 2,    /* the size of the file */
    AT_PIXELS = 10, /* where the pixels begin */
    AT_HEADER = 14, /* the second header, which begins with its size */
    AT_WIDTH = 18,
    AT_HEIGHT = 22,
    AT_PLANES = 26,
    AT_BITS = 28,
    AT_COMPRESSION = 30,
    AT_DENSITY = 38,  /* pixels a meter, for x and for y */
    AT_COLORS = 46,   /* entries of the palette; 0: all */
    AT_MASKS = 54,    /* red, green, blue and, in a longer header, alpha */
    CORE_HEADER = 12, /* OS/2: 16 bits a side, nothing from AT_COMPRESSION on */
    INFO_HEADER = 40,
    ALPHA_HEADER = 56, /* the shortest with a mask for alpha */
    V4_HEADER = 108,
    V5_HEADER = 124,
    AT_PROFILE_SIZE = 14 + 116, /* in V5 */
};

static bool probe(const uint8_t *head, size_t size)
{
    return size >= 26 && memcmp(head, "BM", 2) == 0 &&
           read_le32(head + AT_HEADER) >= CORE_HEADER &&
           read_le32(head + AT_HEADER) <= V5_HEADER;
}

/* ---- Reading ------------------------------------------------------------ */

static int read_masks(struct bmp_header *h, struct bytes file, struct err *err)
{
    unsigned masks = h->size < ALPHA_HEADER ? 3 : 4;
    if (file.size < AT_MASKS + 4 * masks || (h->bits != 16 && h->bits != 32))
        return fail(err, "its header is malformed");
    for (unsigned i = 0; i < masks; i++)
        h->mask[i] = read_le32(file.data + AT_MASKS + 4 * i);
    return 0;
}

static int read_info(struct bmp_header *h, struct bytes file, struct err *err)
{
    const uint8_t *p = file.data;
    h->width = (int32_t)read_le32(p + AT_WIDTH);
    h->height = (int32_t)read_le32(p + AT_HEIGHT);
    h->bits = read_le16(p + AT_BITS);
    h->compression = read_le32(p + AT_COMPRESSION);
    h->ncolors = read_le32(p + AT_COLORS);
    h->palette_at = AT_HEADER + (size_t)h->size;
    switch (h->compression) {
    case BMP_PLAIN:
        return 0;
    case BMP_RLE8:
    case BMP_RLE4:
        if (h->bits != (h->compression == BMP_RLE8 ? 8 : 4))
            return fail(err, "its header is malformed");
        return 0;
    case BMP_MASKS:
        return read_masks(h, file, err);
    default:
        return fail(err, "compression %u cannot be read; only 0 to 3 can",
                    h->compression);
    }
}

static void read_core(struct bmp_header *h, struct bytes file)
{
    const uint8_t *p = file.data;
    h->width = (int32_t)read_le16(p + AT_WIDTH);
    h->height = (int32_t)read_le16(p + AT_WIDTH + 2);
    h->bits = read_le16(p + AT_WIDTH + 6);
    h->palette_at = AT_HEADER + CORE_HEADER;
}

/* Colors that the file does not have are black. */
static void read_palette(struct bmp_header *h, struct bytes file)
{
    size_t entry = h->size == CORE_HEADER ? 3 : 4;
    size_t end = h->pixels_at < file.size ? h->pixels_at : file.size;
    size_t n = (size_t)1 << h->bits;
    if (h->ncolors && h->ncolors < n)
        n = h->ncolors;
    for (size_t i = 0; i < n && h->palette_at + (i + 1) * entry <= end; i++)
        memcpy(h->palette[i], file.data + h->palette_at + i * entry, 3);
}

static int read_head(struct bmp_header *h, struct bytes file, struct err *err)
{
    static const uint32_t fives[] = { 0x7c00, 0x3e0, 0x1f };
    memcpy(h->mask, fives, sizeof fives);
    h->size = read_le32(file.data + AT_HEADER);
    h->pixels_at = read_le32(file.data + AT_PIXELS);
    if (h->size == CORE_HEADER)
        read_core(h, file);
    else if (h->size < INFO_HEADER)
        return fail(err, "a header of %u bytes; 12 or 40 and more can be read",
                    h->size);
    else if (file.size < AT_HEADER + (size_t)INFO_HEADER)
        return fail(err, "the file is cut short");
    else if (read_info(h, file, err))
        return -1;
    if (h->pixels_at < h->palette_at || h->width < 0)
        return fail(err, "its header is malformed");
    switch (h->bits) {
    case 1:
    case 4:
    case 8:
        read_palette(h, file);
        return 0;
    case 16:
    case 24:
    case 32:
        return 0;
    default:
        return fail(err, "%u bits a pixel; 1, 4, 8, 16, 24 and 32 can be read",
                    h->bits);
    }
}

static uint32_t height(const struct bmp_header *h)
{
    return h->height < 0 ? -(uint32_t)h->height : (uint32_t)h->height;
}

static bool has_alpha(const struct bmp_header *h)
{
    return h->compression == BMP_MASKS ? h->mask[3] : h->bits == 32;
}

/* By the format the fourth byte of a plain pixel means nothing; to many
 * programs it is alpha. A file that leaves it open is written so again. */
static bool leaves_alpha_open(const struct bmp_header *h)
{
    return h->bits == 32 && h->compression == BMP_PLAIN;
}

/* Notes the density, and warns of what is not kept. */
static int describe(struct reader *reader, struct err *err)
{
    struct image *img = &reader->img;
    const struct bmp_header *h = img->meta->state;
    const uint8_t *p = reader->file.data;
    struct warnings *warnings = reader->opts->warnings;
    (void)err;
    if (h->bits <= 8)
        warn(warnings, "its palette is not kept, only its colors");
    else if (h->bits == 16)
        warn(warnings, "its 16 bits a pixel become %u", 8 * img->nplanes);
    if (h->size == CORE_HEADER)
        return 0;
    uint32_t x = read_le32(p + AT_DENSITY), y = read_le32(p + AT_DENSITY + 4);
    if (x && y && x <= INT32_MAX && y <= INT32_MAX)
        img->meta->density = (struct density){ DENSITY_METER, x, y };
    if (h->size == V5_HEADER && reader->file.size >= AT_HEADER + V5_HEADER &&
        read_le32(p + AT_PROFILE_SIZE))
        warn(warnings, "its color profile is not kept");
    return 0;
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

static int open(struct reader *reader, struct err *err)
{
    struct bmp_header *head = reader->img.meta->state;
    if (read_head(head, reader->file, err) ||
        simple_bgr_shape(&reader->img, (uint32_t)head->width, height(head),
                         has_alpha(head) ? 4 : 3, reader->opts, err))
        return -1;
    return bmp_check_size(&reader->img, head, reader->file, reader->opts, err);
}

static int decode(struct reader *reader, struct err *err)
{
    struct image *img = &reader->img;
    const struct bmp_header *head = img->meta->state;
    if (bmp_read_pixels(img, head, reader->file, reader->opts, err) ||
        describe(reader, err))
        return -1;
    /* Alpha that was left open says nothing where all of it is opaque. */
    if (reader->opts->portable && leaves_alpha_open(head) && is_opaque(img)) {
        img->nplanes = 3;
        img->alpha = false;
    }
    return 0;
}

/* A negative height says that the top row comes first. */
static int retag(struct bytes *out, struct stream_info *info, struct bytes file,
                 enum xform op, const struct load_opts *opts, struct err *err)
{
    struct bmp_header head = { 0 };
    (void)opts;
    if (read_head(&head, file, err))
        return -1;
    if (op != XFORM_NONE && op != XFORM_MIRROR_Y)
        return fail(err, "the header of a BMP can express flipv only; without "
                         "--tag-only the pixels are moved");
    if (op != XFORM_NONE &&
        (head.size < INFO_HEADER || head.height == INT32_MIN ||
         head.compression == BMP_RLE8 || head.compression == BMP_RLE4))
        return fail(err,
                    "this kind of BMP has its rows from the bottom up only; "
                    "without --tag-only the pixels are moved");
    if (!bytes_append(out, file.data, file.size))
        return fail_memory(err, "no memory for the file");
    info->width = (uint32_t)head.width;
    info->height = height(&head);
    info->orientation.value =
        xform_to_exif(head.height < 0 ? XFORM_NONE : XFORM_MIRROR_Y);
    if (op != XFORM_NONE)
        write_le32(out->data + AT_HEIGHT, (uint32_t)-head.height);
    return 0;
}

/* ---- Writing ------------------------------------------------------------ */

static void put_density(uint8_t *p, double value)
{
    write_le32(p,
               value >= 1 && value < INT32_MAX ? (uint32_t)(value + 0.5) : 0);
}

static void put_densities(uint8_t *head, const struct image *img,
                          struct warnings *warnings)
{
    struct density d = img->meta->density;
    double scale = d.unit == DENSITY_INCH    ? 1 / 0.0254
                   : d.unit == DENSITY_METER ? 1
                                             : 0;
    if (d.unit == DENSITY_ASPECT && d.x != d.y)
        warn(warnings,
             "BMP cannot hold, so it is not kept: aspect of the pixels");
    put_density(head + AT_DENSITY, d.x * scale);
    put_density(head + AT_DENSITY + 4, d.y * scale);
}

/* Writes the header of a file that is turned, and returns its size. Masks say
 * that there is alpha, in a header that has room for them, unless the file left
 * that open. */
static size_t put_head(uint8_t *head, const struct image *img, size_t pixels)
{
    size_t size = img->alpha ? V4_HEADER : INFO_HEADER;
    memcpy(head, "BM", 2);
    write_le32(head + AT_SIZE, (uint32_t)(AT_HEADER + size + pixels));
    write_le32(head + AT_PIXELS, (uint32_t)(AT_HEADER + size));
    write_le32(head + AT_HEADER, (uint32_t)size);
    write_le32(head + AT_WIDTH, img->width);
    write_le32(head + AT_HEIGHT, img->height);
    write_le16(head + AT_PLANES, 1);
    write_le16(head + AT_BITS, img->alpha ? 32 : 24);
    if (img->alpha && !leaves_alpha_open(img->meta->state)) {
        write_le32(head + AT_COMPRESSION, BMP_MASKS);
        for (unsigned i = 0; i < 4; i++)
            write_le32(head + AT_MASKS + 4 * i, bmp_byte_masks[i]);
    }
    return AT_HEADER + size;
}

/* Appends the rows, for which `file` has room. */
static void put_rows(struct bytes *file, const struct image *img, size_t row)
{
    struct image view = simple_bgr_view(img);
    size_t used = (size_t)img->width * img->nplanes;
    for (uint32_t y = img->height; y-- > 0;) {
        uint8_t *to = file->data + file->size;
        interleave_join_row(&view, y, to);
        memset(to + used, 0, row - used);
        file->size += row;
    }
}

/* Writes a file that is turned: bit fields, runs and palettes have become
 * bytes. */
static int write_own(struct bytes *file, const struct image *img,
                     struct err *err)
{
    uint8_t head[AT_HEADER + V4_HEADER] = { 0 };
    uint64_t row = ((uint64_t)img->width * img->nplanes + 3) / 4 * 4;
    uint64_t pixels = row * img->height; /* below 2^63 */
    if (pixels > UINT32_MAX - sizeof head)
        return fail(err, "%u x %u pixels are too many; a BMP has up to 4 GiB",
                    img->width, img->height);
    size_t size = put_head(head, img, pixels);
    if (!bytes_append(file, head, size) || !bytes_reserve(file, pixels))
        return fail_memory(err, "no memory for the file");
    put_rows(file, img, row);
    return 0;
}

static int encode(struct bytes *file, const struct image *img,
                  const struct save_opts *opts, struct err *err)
{
    bool own = codec_is_own(&codec_bmp, img);
    if (own ? write_own(file, img, err) : stb_write_bmp(file, img, err))
        return -1;
    /* The density stands at the same place in both headers. */
    if (img->meta && opts->strip == STRIP_NOTHING)
        put_densities(file->data, img, opts->warnings);
    return 0;
}

static int check(struct bytes file, const struct image *img,
                 const struct save_opts *opts, struct err *err)
{
    const uint8_t *p = file.data;
    uint64_t row = ((uint64_t)img->width * img->nplanes + 3) / 4 * 4;
    (void)opts;
    if (file.size < AT_HEADER + INFO_HEADER || !probe(p, file.size) ||
        read_le32(p + AT_WIDTH) != img->width ||
        read_le32(p + AT_HEIGHT) != img->height ||
        read_le16(p + AT_BITS) != 8 * img->nplanes)
        return fail(err, "its header is of another picture");
    if (read_le32(p + AT_SIZE) != file.size ||
        read_le32(p + AT_PIXELS) + row * img->height != file.size)
        return fail(err, "it has %zu bytes", file.size);
    return 0;
}

const struct codec codec_bmp = {
    .name = "bmp",
    .title = "BMP",
    .suffixes = (const char *const[]){ "bmp", "dib", NULL },
    .capabilities = {
        .cells = 1 << CELL_U8,
        .colors = 1 << COLOR_RGB,
        .alpha = true,
        .metadata = HOLDS_DENSITY,
    },
    .state_size = sizeof(struct bmp_header),
    .probe = probe,
    .retag = retag,
    .open = open,
    .decode = decode,
    .describe = describe,
    .encode = encode,
    .check = check,
};
