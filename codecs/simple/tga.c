/* TGA (Truevision TGA File Format Specification 2.0). A file with a palette, or
 * of 15 or 16 bits a pixel, is written with 24 or 32. */
#include "codecs/simple/tga.h"

#include <string.h>

#include "codecs/base/memory.h"
#include "codecs/image/interleave.h"
#include "codecs/simple/stb_write.h"

enum {
    HEADER = 18,
    AT_ID = 0, /* the bytes of the image ID, which follows the header */
    AT_MAP = 1,
    AT_TYPE = 2,
    AT_MAP_FIRST = 3,
    AT_MAP_LENGTH = 5,
    AT_MAP_BITS = 7,
    AT_WIDTH = 12,
    AT_HEIGHT = 14,
    AT_BITS = 16,
    AT_DESCRIPTOR = 17,
    ALPHA_BITS = 0x0f, /* in the descriptor: those of a pixel */
    RIGHT_TO_LEFT = 0x10,
    DOWN = 0x20, /* the top row comes first */
    INTERLEAVED = 0xc0,
    MAPPED = 1, /* types; with PACKED added they are run-length coded */
    COLORS = 2,
    GRAYS = 3,
    PACKED = 8,
    FOOTER = 26,
};

/* How a file was coded. */
struct tga_state {
    uint8_t alpha_bits; /* of a pixel, as the descriptor has them */
    bool packed;        /* run-length coded */
};

/* A TGA has no bytes that are always the same: its header must make sense. */
static bool probe(const uint8_t *p, size_t size)
{
    if (size < HEADER || p[AT_MAP] > 1 || !read_le16(p + AT_WIDTH) ||
        !read_le16(p + AT_HEIGHT))
        return false;
    unsigned bits = p[AT_BITS], map = p[AT_MAP_BITS];
    bool map_good = map == 15 || map == 16 || map == 24 || map == 32;
    switch (p[AT_TYPE] & ~PACKED) {
    case MAPPED:
        return p[AT_MAP] == 1 && (bits == 8 || bits == 16) && map_good;
    case COLORS:
        return bits == 15 || bits == 16 || bits == 24 || bits == 32;
    case GRAYS:
        return bits == 8 || bits == 16;
    default:
        return false;
    }
}

/* ---- Reading ------------------------------------------------------------ */

/* Returns where the pixels begin. */
static size_t pixels_at(const uint8_t *p)
{
    size_t map =
        read_le16(p + AT_MAP_LENGTH) * (size_t)((p[AT_MAP_BITS] + 7) / 8);
    return HEADER + (size_t)p[AT_ID] + (p[AT_MAP] ? map : 0);
}

static size_t pixel_size(const uint8_t *p)
{
    return (p[AT_BITS] + 7) / 8;
}

static size_t pixels_end(struct bytes file)
{
    const uint8_t *p = file.data;
    uint64_t n = (uint64_t)read_le16(p + AT_WIDTH) * read_le16(p + AT_HEIGHT);
    size_t at = pixels_at(p);
    if (p[AT_TYPE] & PACKED)
        return tga_rle_end(file, at, n, pixel_size(p));
    return at + n * pixel_size(p);
}

static int check_head(const uint8_t *p, struct err *err)
{
    if (p[AT_MAP] && (p[AT_TYPE] & ~PACKED) != MAPPED)
        return fail(
            err, "it has a palette and colors; only one of them can be read");
    if (p[AT_MAP] &&
        (read_le16(p + AT_MAP_FIRST) || !read_le16(p + AT_MAP_LENGTH)))
        return fail(err,
                    "a palette of %u colors from number %u on; it must "
                    "begin at 0",
                    read_le16(p + AT_MAP_LENGTH), read_le16(p + AT_MAP_FIRST));
    if (p[AT_DESCRIPTOR] & INTERLEAVED)
        return fail(err, "its rows are interleaved; only plain ones can be "
                         "read");
    return 0;
}

static int shape(struct image *img, const uint8_t *p,
                 const struct load_opts *opts, struct err *err)
{
    bool gray = (p[AT_TYPE] & ~PACKED) == GRAYS;
    unsigned bits = p[AT_MAP] ? p[AT_MAP_BITS] : p[AT_BITS];
    unsigned n = gray ? bits / 8 : bits == 32 ? 4 : 3;
    return simple_bgr_shape(img, read_le16(p + AT_WIDTH),
                            read_le16(p + AT_HEIGHT), n, opts, err);
}

static void mirror(struct image *img)
{
    for (unsigned i = 0; i < img->nplanes; i++)
        for (uint32_t y = 0; y < img->height; y++) {
            uint8_t *row = plane_row(&img->plane[i], y);
            for (uint32_t a = 0, b = img->width - 1; a < b; a++, b--) {
                uint8_t keep = row[a];
                row[a] = row[b];
                row[b] = keep;
            }
        }
}

/* Keeps the image ID, and how the file was coded. */
static int keep_header(struct image *img, const uint8_t *p, struct err *err)
{
    if (p[AT_ID] && !meta_add(img->meta, "image ID", 0, p + HEADER, p[AT_ID]))
        return fail_memory(err, "no memory for the decoder");
    struct tga_state *state = img->meta->state;
    state->alpha_bits = p[AT_DESCRIPTOR] & ALPHA_BITS;
    state->packed = p[AT_TYPE] & PACKED;
    return 0;
}

static void warn_lost(struct bytes file, size_t pixels,
                      struct warnings *warnings)
{
    const uint8_t *p = file.data;
    const uint8_t *end = p + file.size;
    bool footer = file.size >= HEADER + FOOTER &&
                  memcmp(end - 18, "TRUEVISION-XFILE.", 18) == 0;
    if (footer && (read_le32(end - 26) || read_le32(end - 22)))
        warn(warnings, "its extension and developer areas are not kept");
    else if (!footer && file.size > pixels)
        warn(warnings, "%zu bytes after the picture are not kept",
             file.size - pixels);
    if ((p[AT_TYPE] & ~PACKED) == MAPPED)
        warn(warnings, "its palette is not kept, only its colors");
    else if (p[AT_BITS] < 24 && (p[AT_TYPE] & ~PACKED) == COLORS)
        warn(warnings, "its %u bits a pixel become 24%s", p[AT_BITS],
             p[AT_DESCRIPTOR] & ALPHA_BITS ? " without alpha" : "");
}

/* ---- Pixels -------------------------------------------------------------- */

/* Rows of pixels as the file has them, and their palette. */
struct pixel_source {
    struct bytes rows; /* if they are not packed */
    struct tga_rle_reader runs;
    bool packed;
    size_t pixel;          /* bytes of one */
    uint8_t *row;          /* room for one that is unpacked */
    uint8_t (*palette)[4]; /* blue, green, red, alpha; NULL: there is none */
    unsigned ncolors;
};

/* Makes bytes of three fields of 5 bits. */
static void widen_fives(uint8_t *to, unsigned pixel)
{
    for (unsigned c = 0; c < 3; c++)
        to[c] = (uint8_t)((pixel >> (5 * c) & 31) * 255 / 31);
}

/* Reads the palette; colors that are cut off are black. */
static int read_palette(struct pixel_source *s, struct bytes file,
                        struct err *err)
{
    const uint8_t *p = file.data;
    size_t entry = (p[AT_MAP_BITS] + 7) / 8, at = HEADER + (size_t)p[AT_ID];
    s->ncolors = read_le16(p + AT_MAP_LENGTH);
    s->palette = memory_alloc_zeroed(s->ncolors, sizeof *s->palette);
    if (!s->palette)
        return fail_memory(err, "no memory for the palette");
    for (unsigned i = 0; i < s->ncolors && at + entry <= file.size; i++) {
        if (entry == 2)
            widen_fives(s->palette[i], read_le16(p + at));
        else
            memcpy(s->palette[i], p + at, entry);
        at += entry;
    }
    return 0;
}

/* Makes colors of indices, or of three fields. An index that the palette does
 * not have counts as 0. */
static void color_row(struct image *img, uint32_t y, const uint8_t *row,
                      const struct pixel_source *s)
{
    static const unsigned order[] = { 2, 1, 0, 3 };
    for (uint32_t x = 0; x < img->width; x++) {
        unsigned value = s->pixel == 1 ? row[x] : read_le16(row + 2 * x);
        uint8_t fives[3];
        const uint8_t *color = fives;
        if (s->palette)
            color = s->palette[value < s->ncolors ? value : 0];
        else
            widen_fives(fives, value);
        for (unsigned c = 0; c < img->nplanes; c++) {
            uint8_t *to = plane_row(&img->plane[c], y);
            to[x] = color[order[c]];
        }
    }
}

static void read_rows(struct image *img, struct pixel_source *s, bool down)
{
    struct image view = simple_bgr_view(img);
    for (uint32_t i = 0; i < img->height; i++) {
        uint32_t y = down ? i : img->height - 1 - i;
        const uint8_t *row = s->row;
        if (s->packed)
            tga_rle_unpack(&s->runs, s->row, img->width);
        else
            row = s->rows.data + (size_t)i * img->width * s->pixel;
        if (s->palette || (s->pixel == 2 && img->nplanes == 3))
            color_row(img, y, row, s);
        else
            interleave_split_row(&view, y, row);
    }
}

/* Fails if not all pixels are there; tolerant, those that are not become 0. */
static int check_size(const struct image *img, struct bytes file,
                      const struct load_opts *opts, struct err *err)
{
    const uint8_t *p = file.data;
    if (!(p[AT_TYPE] & PACKED))
        return simple_check_size(file, pixels_at(p),
                                 pixel_size(p) * img->width * img->height, opts,
                                 err);
    if (pixels_end(file) <= file.size)
        return 0;
    if (!opts->tolerant)
        return fail(err, "the image data is cut short");
    simple_warn_cut(opts);
    return 0;
}

static int open(struct reader *reader, struct err *err)
{
    struct image *img = &reader->img;
    struct bytes file = reader->file;
    const uint8_t *p = file.data;
    if (file.size < HEADER + (size_t)p[AT_ID])
        return fail(err, "the file is cut short");
    if (check_head(p, err) || shape(img, p, reader->opts, err) ||
        keep_header(img, p, err) || check_size(img, file, reader->opts, err))
        return -1;
    size_t end = pixels_end(file);
    warn_lost(file, end < file.size ? end : file.size, reader->opts->warnings);
    return 0;
}

static int open_source(struct pixel_source *s, const struct image *img,
                       struct bytes file, struct err *err)
{
    const uint8_t *p = file.data;
    size_t at = pixels_at(p), row = img->width * pixel_size(p);
    s->pixel = pixel_size(p);
    s->packed = p[AT_TYPE] & PACKED;
    if (p[AT_MAP] && read_palette(s, file, err))
        return -1;
    if (!s->packed)
        return simple_bgr_rows(&s->rows, file, at, row * img->height, err);
    at = at < file.size ? at : file.size;
    s->runs = (struct tga_rle_reader){ .at = p + at,
                                       .end = p + file.size,
                                       .pixel = s->pixel };
    s->row = memory_alloc(row);
    return s->row ? 0 : fail_memory(err, "no memory for a row");
}

static int decode(struct reader *reader, struct err *err)
{
    struct pixel_source s = { 0 };
    struct image *img = &reader->img;
    const uint8_t *p = reader->file.data;
    int status = open_source(&s, img, reader->file, err);
    if (status == 0)
        status = image_alloc(img, reader->opts->mem, err);
    if (status == 0)
        read_rows(img, &s, p[AT_DESCRIPTOR] & DOWN);
    if (status == 0 && p[AT_DESCRIPTOR] & RIGHT_TO_LEFT)
        mirror(img);
    bytes_free(&s.rows);
    memory_free(s.row);
    memory_free(s.palette);
    return status;
}

/* Two bits say which corner comes first: they can express each mirror and both.
 */
static int retag(struct bytes *out, struct stream_info *info, struct bytes file,
                 enum xform op, const struct load_opts *opts, struct err *err)
{
    enum xform order = XFORM_NONE;
    (void)opts;
    if (file.size < HEADER || pixels_at(file.data) > file.size)
        return fail(err, "the file is cut short");
    if (check_head(file.data, err))
        return -1;
    if (xform_transposes(op))
        return fail(err,
                    "the header of a TGA can express mirrors and rotate180 "
                    "only; without --tag-only the pixels are moved");
    if (!bytes_append(out, file.data, file.size))
        return fail_memory(err, "no memory for the file");
    uint8_t *descriptor = &out->data[AT_DESCRIPTOR];
    if (*descriptor & RIGHT_TO_LEFT)
        order ^= XFORM_MIRROR_X;
    if (!(*descriptor & DOWN))
        order ^= XFORM_MIRROR_Y;
    info->width = read_le16(file.data + AT_WIDTH);
    info->height = read_le16(file.data + AT_HEIGHT);
    info->orientation.value = xform_to_exif(order);
    order = xform_then(order, op);
    *descriptor &= (uint8_t) ~(RIGHT_TO_LEFT | DOWN);
    *descriptor |= order & XFORM_MIRROR_X ? RIGHT_TO_LEFT : 0;
    *descriptor |= order & XFORM_MIRROR_Y ? 0 : DOWN;
    return 0;
}

/* ---- Writing ------------------------------------------------------------ */

static bool put_head(struct bytes *file, const struct image *img,
                     const struct tga_state *state, enum strip strip)
{
    uint8_t head[HEADER] = { 0 };
    const struct meta *meta = img->meta;
    const struct metadata_block *id =
        strip == STRIP_NOTHING && meta->nblocks ? &meta->block[0] : NULL;
    head[AT_ID] = id ? (uint8_t)id->size : 0;
    head[AT_TYPE] = (uint8_t)((img->color == COLOR_GRAY ? GRAYS : COLORS) |
                              (state->packed ? PACKED : 0));
    write_le16(head + AT_WIDTH, img->width);
    write_le16(head + AT_HEIGHT, img->height);
    head[AT_BITS] = (uint8_t)(8 * img->nplanes);
    if (img->alpha)
        head[AT_DESCRIPTOR] = state->alpha_bits;
    return bytes_append(file, head, sizeof head) &&
           (!id || bytes_append(file, id->data, id->size));
}

/* Writes rows from the bottom up. A run ends with its row. */
static int put_rows(struct bytes *file, const struct image *img, bool packed,
                    struct err *err)
{
    struct image view = simple_bgr_view(img);
    size_t row = (size_t)img->width * img->nplanes;
    uint8_t *plain = packed ? memory_alloc(row) : NULL;
    size_t most = packed ? tga_rle_most(img->width, img->nplanes) : row;
    if ((packed && !plain) || !bytes_reserve(file, most * img->height)) {
        memory_free(plain);
        return fail_memory(err, "no memory for the file");
    }
    for (uint32_t y = img->height; y-- > 0;) {
        uint8_t *to = file->data + file->size;
        interleave_join_row(&view, y, packed ? plain : to);
        file->size +=
            packed ? tga_rle_pack(to, plain, img->width, img->nplanes) : row;
    }
    memory_free(plain);
    return 0;
}

/* A file stays run-length coded, or plain, as it was. */
static int encode(struct bytes *file, const struct image *img,
                  const struct save_opts *opts, struct err *err)
{
    if (img->width > 65535 || img->height > 65535)
        return fail(err,
                    "%u x %u pixels are too many; a TGA has up to 65535 "
                    "each way",
                    img->width, img->height);
    if (!codec_is_own(&codec_tga, img))
        return stb_write_tga(file, img, err);
    const struct tga_state *state = img->meta->state;
    if (!put_head(file, img, state, opts->strip))
        return fail_memory(err, "no memory for the file");
    return put_rows(file, img, state->packed, err);
}

static int check(struct bytes file, const struct image *img,
                 const struct save_opts *opts, struct err *err)
{
    const uint8_t *p = file.data;
    (void)opts;
    if (!probe(p, file.size) || read_le16(p + AT_WIDTH) != img->width ||
        read_le16(p + AT_HEIGHT) != img->height ||
        p[AT_BITS] != 8 * img->nplanes)
        return fail(err, "its header is of another picture");
    if (pixels_end(file) != file.size)
        return fail(err, "it has %zu bytes", file.size);
    return 0;
}

const struct codec codec_tga = {
    .name = "tga",
    .title = "TGA",
    .suffixes = (const char *const[]){ "tga", "vda", "icb", "vst", NULL },
    .capabilities = {
        .cells = 1 << CELL_U8,
        .colors = 1 << COLOR_GRAY | 1 << COLOR_RGB,
        .alpha = true,
    },
    .state_size = sizeof(struct tga_state),
    .probe = probe,
    .retag = retag,
    .open = open,
    .decode = decode,
    .encode = encode,
    .check = check,
};
