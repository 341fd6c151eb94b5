/* TGA (Truevision TGA File Format Specification 2.0). A file with a palette, or
 * of 15 or 16 bits a pixel, is written with 24 or 32. */
#include "codecs/simple/simple.h"

#include <string.h>

#include "codecs/base/memory.h"
#include "codecs/image/interleave.h"

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

/* ---- Runs -----------------------------------------------------------------*/

/* Packets of 1 to 128 pixels, which are one pixel repeated or several as they
 * are. */
enum { RUN = 128, MOST = 128 };

struct tga_rle_reader {
    const uint8_t *at, *end;
    size_t pixel;  /* bytes of a pixel, 1 to 4 */
    unsigned left; /* pixels of the packet that have not been read */
    bool run;
    uint8_t repeated[4];
};

static void rle_read(struct tga_rle_reader *r, uint8_t *to, size_t size)
{
    size_t left = (size_t)(r->end - r->at);
    size_t there = left < size ? left : size;
    memcpy(to, r->at, there);
    memset(to + there, 0, size - there);
    r->at += there;
}

/* Reads `n` pixels, which may end within a packet; past the end of the file
 * they are 0. */
static void rle_unpack(struct tga_rle_reader *r, uint8_t *to, uint32_t n)
{
    while (n > 0) {
        if (r->left == 0) {
            uint8_t lead = 0;
            rle_read(r, &lead, 1);
            r->left = 1 + (lead & (RUN - 1));
            r->run = lead & RUN;
            if (r->run)
                rle_read(r, r->repeated, r->pixel);
        }
        const uint32_t count = r->left < n ? r->left : n;
        const size_t all = count * r->pixel;
        rle_read(r, to, r->run ? 0 : all);
        if (r->run) /* double what is written until it is enough */
            memcpy(to, r->repeated, r->pixel);
        for (size_t done = r->pixel; r->run && done < all; done *= 2)
            memcpy(to + done, to, done < all - done ? done : all - done);
        to += all;
        r->left -= count;
        n -= count;
    }
}

/* Packs `n` pixels, at least 1, and returns the bytes that this takes: no more
 * than those of the pixels and one for each packet of MOST. */
static size_t rle_pack(uint8_t *to, const uint8_t *row, uint32_t n,
                       size_t pixel)
{
    /* The shortest run that saves bytes: one of 2 single bytes saves nothing
     * and may cost another packet. */
    const uint32_t worthwhile = pixel == 1 ? 3 : 2;
    uint8_t *begin = to;
    uint32_t x = 0, literal = 0; /* pixels before x that are not written yet */
    while (x < n || literal) {
        const uint8_t *at = row + x * pixel;
        const uint32_t most = n - x < MOST ? n - x : MOST;
        uint32_t run = x < n;
        while (run && run < most && memcmp(at, at + run * pixel, pixel) == 0)
            run++;
        const bool worth = run >= worthwhile;
        if (literal && (worth || run == 0 || literal == MOST)) {
            *to++ = (uint8_t)(literal - 1);
            memcpy(to, at - literal * pixel, literal * pixel);
            to += literal * pixel;
            literal = 0;
        }
        if (worth) {
            *to++ = (uint8_t)(RUN | (run - 1));
            memcpy(to, at, pixel);
            to += pixel;
            x += run;
        } else if (run) {
            literal++;
            x++;
        }
    }
    return (size_t)(to - begin);
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

/* Returns where they end; SIZE_MAX if the file ends before its packets do. */
static size_t pixels_end(struct bytes file)
{
    const uint8_t *p = file.data;
    const size_t pixel = pixel_size(p);
    uint64_t n = (uint64_t)read_le16(p + AT_WIDTH) * read_le16(p + AT_HEIGHT);
    size_t at = pixels_at(p);
    if (!(p[AT_TYPE] & PACKED))
        return at + n * pixel;
    while (n > 0 && at < file.size) {
        const size_t count = 1 + (file.data[at] & (RUN - 1));
        at += 1 + (file.data[at] & RUN ? 1 : count) * pixel;
        n = n > count ? n - count : 0;
    }
    return n > 0 ? SIZE_MAX : at;
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
    struct bytes rows; /* all of them; or what the file has of them */
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

static void read_rows(struct image *img, struct pixel_source *s, bool down,
                      bool mirror)
{
    struct image view = simple_bgr_view(img);
    for (uint32_t i = 0; i < img->height; i++) {
        uint32_t y = down ? i : img->height - 1 - i;
        const uint8_t *row = s->row;
        if (s->packed)
            rle_unpack(&s->runs, s->row, img->width);
        else
            row = s->rows.data + (size_t)i * img->width * s->pixel;
        if (s->palette || (s->pixel == 2 && img->nplanes == 3)) {
            /* Indices become colors, or three fields do. An index that the
             * palette does not have counts as 0. */
            static const unsigned order[] = { 2, 1, 0, 3 };
            for (uint32_t x = 0; x < img->width; x++) {
                unsigned value =
                    s->pixel == 1 ? row[x] : read_le16(row + 2 * x);
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
        } else
            interleave_split_row(&view, y, row);
        for (unsigned c = 0; c < img->nplanes && mirror; c++) {
            uint8_t *cells = plane_row(&img->plane[c], y);
            for (uint32_t a = 0, b = img->width - 1; a < b; a++, b--) {
                uint8_t keep = cells[a];
                cells[a] = cells[b];
                cells[b] = keep;
            }
        }
    }
}

/* Keeps the image ID, and how the file was coded. Fails if not all pixels are
 * there; tolerant, those that are not become 0. */
static int open(struct reader *reader, struct err *err)
{
    const struct load_opts *opts = reader->opts;
    struct image *img = &reader->img;
    struct tga_state *state = img->meta->state;
    struct bytes file = reader->file;
    const uint8_t *p = file.data;
    const unsigned bits = p[AT_MAP] ? p[AT_MAP_BITS] : p[AT_BITS],
                   nplanes = (p[AT_TYPE] & ~PACKED) == GRAYS ? bits / 8
                             : bits == 32                    ? 4
                                                             : 3;
    if (file.size < HEADER + (size_t)p[AT_ID])
        return fail(err, "the file is cut short");
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
    if (simple_bgr_shape(img, read_le16(p + AT_WIDTH), read_le16(p + AT_HEIGHT),
                         nplanes, opts, err))
        return -1;
    if (p[AT_ID] && !meta_add(img->meta, "image ID", 0, p + HEADER, p[AT_ID]))
        return fail_memory(err, "no memory for the decoder");
    state->alpha_bits = p[AT_DESCRIPTOR] & ALPHA_BITS;
    state->packed = p[AT_TYPE] & PACKED;
    const size_t end = pixels_end(file);
    if (!state->packed &&
        simple_check_size(file, pixels_at(p),
                          pixel_size(p) * img->width * img->height, opts, err))
        return -1;
    if (state->packed && end > file.size) {
        if (!opts->tolerant)
            return fail(err, "the image data is cut short");
        simple_warn_cut(opts);
    }
    warn_lost(file, end < file.size ? end : file.size, opts->warnings);
    return 0;
}

static int decode(struct reader *reader, struct err *err)
{
    struct image *img = &reader->img;
    const uint8_t *p = reader->file.data;
    struct pixel_source s = { .packed = p[AT_TYPE] & PACKED,
                              .pixel = pixel_size(p) };
    const size_t row = img->width * s.pixel;
    if (p[AT_MAP]) { /* of which colors that are cut off are black */
        size_t entry = (p[AT_MAP_BITS] + 7) / 8, at = HEADER + (size_t)p[AT_ID];
        s.ncolors = read_le16(p + AT_MAP_LENGTH);
        s.palette = memory_alloc_zeroed(s.ncolors, sizeof *s.palette);
        if (!s.palette)
            return fail_memory(err, "no memory for the palette");
        for (unsigned i = 0; i < s.ncolors && at + entry <= reader->file.size;
             i++) {
            if (entry == 2)
                widen_fives(s.palette[i], read_le16(p + at));
            else
                memcpy(s.palette[i], p + at, entry);
            at += entry;
        }
    }
    int status = simple_bgr_rows(&s.rows, reader->file, pixels_at(p),
                                 s.packed ? 0 : row * img->height, err);
    s.runs = (struct tga_rle_reader){ .at = s.rows.data,
                                      .end = s.rows.data + s.rows.size,
                                      .pixel = s.pixel };
    if (status == 0 && s.packed && !(s.row = memory_alloc(row)))
        status = fail_memory(err, "no memory for a row");
    if (status == 0)
        status = image_alloc(img, reader->opts->mem, err);
    if (status == 0)
        read_rows(img, &s, p[AT_DESCRIPTOR] & DOWN,
                  p[AT_DESCRIPTOR] & RIGHT_TO_LEFT);
    bytes_free(&s.rows);
    memory_free(s.row);
    memory_free(s.palette);
    return status;
}

/* ---- Writing ------------------------------------------------------------ */

/* A file stays run-length coded, or plain, as it was; one of another format is
 * run-length coded. */
static int encode(struct bytes *file, const struct image *img,
                  const struct save_opts *opts, struct err *err)
{
    if (img->width > 65535 || img->height > 65535)
        return fail(err,
                    "%u x %u pixels are too many; a TGA has up to 65535 "
                    "each way",
                    img->width, img->height);
    static const struct tga_state other = { .alpha_bits = 8, .packed = true };
    const bool own = codec_is_own(&codec_tga, img);
    const struct tga_state *state = own ? img->meta->state : &other;
    const struct metadata_block *id =
        own && opts->strip == STRIP_NOTHING && img->meta->nblocks
            ? &img->meta->block[0]
            : NULL;
    uint8_t head[HEADER] = { 0 };
    head[AT_ID] = id ? (uint8_t)id->size : 0;
    head[AT_TYPE] = (uint8_t)((img->color == COLOR_GRAY ? GRAYS : COLORS) |
                              (state->packed ? PACKED : 0));
    write_le16(head + AT_WIDTH, img->width);
    write_le16(head + AT_HEIGHT, img->height);
    head[AT_BITS] = (uint8_t)(8 * img->nplanes);
    head[AT_DESCRIPTOR] = img->alpha ? state->alpha_bits : 0;
    if (!bytes_append(file, head, sizeof head) ||
        (id && !bytes_append(file, id->data, id->size)))
        return fail_memory(err, "no memory for the file");
    /* From the bottom row up. A run ends with its row. */
    const bool packed = state->packed;
    struct image view = simple_bgr_view(img);
    size_t row = (size_t)img->width * img->nplanes;
    uint8_t *plain = packed ? memory_alloc(row) : NULL;
    size_t most = row + (packed ? (img->width + MOST - 1) / MOST : 0);
    if ((packed && !plain) || !bytes_reserve(file, most * img->height)) {
        memory_free(plain);
        return fail_memory(err, "no memory for the file");
    }
    for (uint32_t y = img->height; y-- > 0;) {
        uint8_t *to = file->data + file->size;
        interleave_join_row(&view, y, packed ? plain : to);
        file->size +=
            packed ? rle_pack(to, plain, img->width, img->nplanes) : row;
    }
    memory_free(plain);
    return 0;
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
    .open = open,
    .decode = decode,
    .encode = encode,
    .check = check,
};
