/* BMP: the header, as in Microsoft's BITMAPFILEHEADER and BITMAPINFOHEADER, and
 * pixels: whole bytes, bit fields, indices into a palette, and runs of these.
 * Whatever a file has, what is written of it has 24 or 32 bits a pixel. */
#include "codecs/simple/simple.h"

#include <string.h>

#include "codecs/image/interleave.h"

enum bmp_compression { BMP_PLAIN, BMP_RLE8, BMP_RLE4, BMP_MASKS };

/* The state of the codec: the header of the file that was read. */
struct bmp_header {
    uint32_t size;         /* of the header itself */
    uint32_t compression;  /* one of enum bmp_compression */
    int32_t width, height; /* a negative height: the top row comes first */
    unsigned bits;         /* of a pixel: 1, 4, 8, 16, 24 or 32 */
    unsigned ncolors;      /* of the palette; 0: as many as there may be */
    size_t palette_at, pixels_at;
    uint32_t mask[4];        /* red, green, blue, alpha; 0: there is no alpha */
    uint8_t palette[256][3]; /* blue, green, red */
};

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

static int read_head(struct bmp_header *h, struct bytes file, struct err *err)
{
    static const uint32_t fives[] = { 0x7c00, 0x3e0, 0x1f };
    const uint8_t *p = file.data;
    memcpy(h->mask, fives, sizeof fives);
    h->size = read_le32(p + AT_HEADER);
    h->pixels_at = read_le32(p + AT_PIXELS);
    h->palette_at = AT_HEADER + (size_t)h->size;
    if (h->size == CORE_HEADER) {
        h->width = (int32_t)read_le16(p + AT_WIDTH);
        h->height = (int32_t)read_le16(p + AT_WIDTH + 2);
        h->bits = read_le16(p + AT_WIDTH + 6);
    } else if (h->size < INFO_HEADER) {
        return fail(err, "a header of %u bytes; 12 or 40 and more can be read",
                    h->size);
    } else if (file.size < AT_HEADER + (size_t)INFO_HEADER) {
        return fail(err, "the file is cut short");
    } else {
        h->width = (int32_t)read_le32(p + AT_WIDTH);
        h->height = (int32_t)read_le32(p + AT_HEIGHT);
        h->bits = read_le16(p + AT_BITS);
        h->compression = read_le32(p + AT_COMPRESSION);
        h->ncolors = read_le32(p + AT_COLORS);
    }
    const unsigned masks = h->size < ALPHA_HEADER ? 3 : 4;
    if (h->compression > BMP_MASKS)
        return fail(err, "compression %u cannot be read; only 0 to 3 can",
                    h->compression);
    if ((h->compression == BMP_RLE8 && h->bits != 8) ||
        (h->compression == BMP_RLE4 && h->bits != 4) ||
        (h->compression == BMP_MASKS && (file.size < AT_MASKS + 4 * masks ||
                                         (h->bits != 16 && h->bits != 32))) ||
        h->pixels_at < h->palette_at || h->width < 0)
        return fail(err, "its header is malformed");
    for (unsigned i = 0; i < masks && h->compression == BMP_MASKS; i++)
        h->mask[i] = read_le32(p + AT_MASKS + 4 * i);
    if (h->bits == 16 || h->bits == 24 || h->bits == 32)
        return 0;
    if (h->bits != 1 && h->bits != 4 && h->bits != 8)
        return fail(err, "%u bits a pixel; 1, 4, 8, 16, 24 and 32 can be read",
                    h->bits);
    /* Colors of the palette that the file does not have are black. */
    const size_t entry = h->size == CORE_HEADER ? 3 : 4, most = 1u << h->bits,
                 end = h->pixels_at < file.size ? h->pixels_at : file.size,
                 n = h->ncolors && h->ncolors < most ? h->ncolors : most;
    for (size_t i = 0; i < n && h->palette_at + (i + 1) * entry <= end; i++)
        memcpy(h->palette[i], p + h->palette_at + i * entry, 3);
    return 0;
}

static uint32_t height(const struct bmp_header *h)
{
    return h->height < 0 ? -(uint32_t)h->height : (uint32_t)h->height;
}

/* By the format the fourth byte of a plain pixel means nothing; to many
 * programs it is alpha. A file that leaves it open is written so again. */
static bool leaves_alpha_open(const struct bmp_header *h)
{
    return h->bits == 32 && h->compression == BMP_PLAIN;
}

static bool is_packed(const struct bmp_header *h)
{
    return h->compression == BMP_RLE8 || h->compression == BMP_RLE4;
}

/* The row of the picture that is row `i` of the file. */
static uint32_t row_of(const struct bmp_header *h, const struct image *img,
                       uint32_t i)
{
    return h->height < 0 ? i : img->height - 1 - i;
}

/* The bytes of a row, which are padded to 4. */
static size_t row_size(const struct image *img, unsigned bits)
{
    return ((size_t)img->width * bits + 31) / 32 * 4;
}

/* ---- Bit fields -----------------------------------------------------------*/

/* The masks of pixels whose 4 bytes are blue, green, red and alpha. */
static const uint32_t byte_masks[4] = { 0xff0000, 0xff00, 0xff, 0xff000000 };

struct bit_field {
    unsigned shift;
    uint32_t top;      /* its largest value */
    uint8_t wide[256]; /* its values as bytes */
};

/* ---- Indices: they are read into the first plane, and become colors there --
 */

static void color_indices(struct image *img, const struct bmp_header *h)
{
    for (uint32_t y = 0; y < img->height; y++) {
        uint8_t *red = plane_row(&img->plane[0], y);
        uint8_t *green = plane_row(&img->plane[1], y);
        uint8_t *blue = plane_row(&img->plane[2], y);
        for (uint32_t x = 0; x < img->width; x++) {
            const uint8_t *color = h->palette[red[x]];
            red[x] = color[2];
            green[x] = color[1];
            blue[x] = color[0];
        }
    }
}

/* ---- Runs -----------------------------------------------------------------
 *
 * A run is two bytes: a count and the byte that is repeated, whose two indices
 * of 4 bits alternate; or 0 and a command. */

enum { END_OF_ROW, END, MOVE }; /* above: so many indices follow as they are */

/* Rows are counted as in the file; *row becomes the one in which the runs end.
 */
static enum runs_end read_runs(struct image *img, const struct bmp_header *h,
                               struct bytes runs, uint32_t *row)
{
    const uint8_t *at = runs.data, *end = at + runs.size;
    const unsigned cycle = 8 / h->bits; /* indices in a byte */
    uint32_t x = 0;
    for (*row = 0; *row < img->height;) {
        /* The command END may be missing where the picture is complete. */
        if (end - at < 2)
            return *row + 1 == img->height && x == img->width ? RUNS_WHOLE
                                                              : RUNS_CUT;
        const unsigned count = at[0], what = at[1], n = count ? count : what;
        at += count ? 1 : 2;
        if (!count && what == END)
            return RUNS_WHOLE;
        if (!count && what == END_OF_ROW) {
            ++*row;
            x = 0;
            continue;
        }
        if (!count && what == MOVE) {
            if (end - at < 2)
                return RUNS_CUT;
            if (at[0] > img->width - x || at[1] > img->height - *row)
                return RUNS_WRONG;
            x += at[0];
            *row += at[1];
            at += 2;
            continue;
        }
        /* Literal ones fill whole pairs of bytes. */
        const size_t bytes = count ? 1 : (n * h->bits + 15) / 16 * 2;
        if ((size_t)(end - at) < bytes)
            return RUNS_CUT;
        if (n > img->width - x)
            return RUNS_WRONG;
        uint8_t *to =
            (uint8_t *)plane_row(&img->plane[0], row_of(h, img, *row)) + x;
        for (unsigned i = 0; i < n; i++) {
            const unsigned k = count ? i % cycle : i;
            to[i] = h->bits == 8 ? at[k] : (at[k / 2] >> (k % 2 ? 0 : 4)) & 15;
        }
        x += n;
        at += bytes;
    }
    return RUNS_WHOLE;
}

/* ---- Pixels ---------------------------------------------------------------*/

/* Returns whether the alpha of all pixels is this. */
static bool all_alpha(const struct image *img, uint8_t value)
{
    const struct plane *plane = &img->plane[img->nplanes - 1];
    bool all = true;
    for (uint32_t y = 0; y < img->height && all; y++) {
        const uint8_t *row = plane_row(plane, y);
        all = row[0] == value && memcmp(row, row + 1, img->width - 1) == 0;
    }
    return all;
}

static int read_rows(struct image *img, const struct bmp_header *h,
                     const uint8_t *row, struct err *err)
{
    struct image view = simple_bgr_view(img);
    struct bit_field fields[4];
    const bool indices = h->bits <= 8,
               bytes = h->compression == BMP_MASKS
                           ? h->bits == 32 && memcmp(h->mask, byte_masks,
                                                     sizeof h->mask) == 0
                           : h->bits >= 24;
    for (unsigned c = 0; !indices && !bytes && c < img->nplanes; c++) {
        struct bit_field *f = &fields[c];
        const uint32_t mask = h->mask[c];
        f->shift = mask ? (unsigned)__builtin_ctz(mask) : 0;
        f->top = mask >> f->shift;
        if (f->top == 0 || f->top > 255 || (f->top & (f->top + 1)))
            return fail(err, "a mask of %08x; one must be 1 to 8 bits in a row",
                        mask);
        /* Bits are repeated until they fill a byte: all ones become 255. */
        const int bits = __builtin_popcount(f->top);
        for (uint32_t i = 0; i <= f->top; i++) {
            uint32_t all = 0;
            int at = 8 - bits;
            for (; at > 0; at -= bits)
                all |= i << at;
            f->wide[i] = (uint8_t)(all | i >> -at);
        }
    }
    for (uint32_t i = 0; i < img->height; i++, row += row_size(img, h->bits)) {
        uint32_t y = row_of(h, img, i);
        if (indices)
            interleave_unpack(plane_row(&img->plane[0], y), img->width, row,
                              h->bits);
        else if (bytes)
            interleave_split_row(&view, y, row);
        else {
            for (unsigned c = 0; c < img->nplanes; c++) {
                const struct bit_field *f = &fields[c];
                uint8_t *to = plane_row(&img->plane[c], y);
                for (size_t x = 0; x < img->width; x++) {
                    uint32_t pixel = h->bits == 16 ? read_le16(row + 2 * x)
                                                   : read_le32(row + 4 * x);
                    to[x] = f->wide[pixel >> f->shift & f->top];
                }
            }
        }
    }
    if (indices)
        color_indices(img, h);
    /* The fourth byte of a plain pixel is alpha only by custom: where all of
     * them are 0, the picture is opaque. */
    if (leaves_alpha_open(h) && all_alpha(img, 0))
        for (uint32_t y = 0; y < img->height; y++)
            memset(plane_row(&img->plane[3], y), 255, img->width);
    return 0;
}

/* ---- The codec ------------------------------------------------------------*/

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

/* Whether runs are complete is known only when they are read. */
static int open(struct reader *reader, struct err *err)
{
    struct image *img = &reader->img;
    struct bmp_header *h = img->meta->state;
    if (read_head(h, reader->file, err) ||
        simple_bgr_shape(
            img, (uint32_t)h->width, height(h),
            (h->compression == BMP_MASKS ? h->mask[3] : h->bits == 32) ? 4 : 3,
            reader->opts, err))
        return -1;
    return simple_check_size(
        reader->file, h->pixels_at,
        is_packed(h) ? 0 : row_size(img, h->bits) * img->height, reader->opts,
        err);
}

static int decode(struct reader *reader, struct err *err)
{
    struct image *img = &reader->img;
    const struct bmp_header *h = img->meta->state;
    struct bytes rows;
    int status;
    if (image_alloc(img, reader->opts->mem, err) ||
        simple_bgr_rows(&rows, reader->file, h->pixels_at,
                        is_packed(h) ? 0 : row_size(img, h->bits) * img->height,
                        err))
        return -1;
    if (is_packed(h)) {
        /* Pixels that no run covers have index 0. */
        uint32_t row;
        for (uint32_t y = 0; y < img->height; y++)
            memset(plane_row(&img->plane[0], y), 0, img->width);
        const enum runs_end end = read_runs(img, h, rows, &row);
        status = simple_check_runs(end, row, reader->opts, err);
        color_indices(img, h);
    } else {
        status = read_rows(img, h, rows.data, err);
    }
    bytes_free(&rows);
    if (status || describe(reader, err))
        return -1;
    /* Alpha that was left open says nothing where all of it is opaque. */
    if (reader->opts->portable && leaves_alpha_open(h) && all_alpha(img, 255)) {
        img->nplanes = 3;
        img->alpha = false;
    }
    return 0;
}

/* ---- Writing ------------------------------------------------------------ */

static int encode(struct bytes *file, const struct image *img,
                  const struct save_opts *opts, struct err *err)
{
    uint8_t head[AT_HEADER + V4_HEADER] = { 0 };
    const size_t row = row_size(img, 8 * img->nplanes),
                 used = (size_t)img->width * img->nplanes;
    const uint64_t pixels = (uint64_t)row * img->height; /* below 2^63 */
    const struct image view = simple_bgr_view(img);
    if (pixels > UINT32_MAX - sizeof head)
        return fail(err, "%u x %u pixels are too many; a BMP has up to 4 GiB",
                    img->width, img->height);
    /* Masks say that there is alpha, in a header that has room for them, unless
     * the file left that open. */
    const bool own = codec_is_own(&codec_bmp, img);
    const size_t info = img->alpha ? V4_HEADER : INFO_HEADER,
                 size = AT_HEADER + info;
    memcpy(head, "BM", 2);
    write_le32(head + AT_SIZE, (uint32_t)(size + pixels));
    write_le32(head + AT_PIXELS, (uint32_t)size);
    write_le32(head + AT_HEADER, (uint32_t)info);
    write_le32(head + AT_WIDTH, img->width);
    write_le32(head + AT_HEIGHT, img->height);
    write_le16(head + AT_PLANES, 1);
    write_le16(head + AT_BITS, img->alpha ? 32 : 24);
    if (img->alpha && !(own && leaves_alpha_open(img->meta->state))) {
        write_le32(head + AT_COMPRESSION, BMP_MASKS);
        for (unsigned i = 0; i < 4; i++)
            write_le32(head + AT_MASKS + 4 * i, byte_masks[i]);
    }
    if (img->meta && opts->strip == STRIP_NOTHING) {
        const struct density d = img->meta->density;
        const double scale = d.unit == DENSITY_INCH    ? 1 / 0.0254
                             : d.unit == DENSITY_METER ? 1
                                                       : 0;
        const double value[] = { d.x * scale, d.y * scale };
        if (d.unit == DENSITY_ASPECT && d.x != d.y)
            warn(opts->warnings,
                 "BMP cannot hold, so it is not kept: aspect of the pixels");
        for (unsigned i = 0; i < 2; i++)
            if (value[i] >= 1 && value[i] < INT32_MAX)
                write_le32(head + AT_DENSITY + 4 * i,
                           (uint32_t)(value[i] + 0.5));
    }
    if (!bytes_append(file, head, size) || !bytes_reserve(file, pixels))
        return fail_memory(err, "no memory for the file");
    for (uint32_t y = img->height; y-- > 0; file->size += row) {
        uint8_t *to = file->data + file->size;
        interleave_join_row(&view, y, to);
        memset(to + used, 0, row - used);
    }
    return 0;
}

static int check(struct bytes file, const struct image *img,
                 const struct save_opts *opts, struct err *err)
{
    const uint8_t *p = file.data;
    uint64_t row = row_size(img, 8 * img->nplanes);
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
    .open = open,
    .decode = decode,
    .describe = describe,
    .encode = encode,
    .check = check,
};
