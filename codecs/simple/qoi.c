/* QOI (The Quite OK Image Format, version 1.0): a header, and chunks of one
 * pixel or a run. What is written has the chunks that the reference encoder
 * chooses, so a file of that encoder comes back as it was. */
#include "codecs/simple/simple.h"

#include <string.h>

#include "codecs/base/memory.h"
#include "codecs/image/interleave.h"

enum {
    HEADER = 14,
    AT_WIDTH = 4,
    AT_HEIGHT = 8,
    AT_CHANNELS = 12,
    AT_COLORSPACE = 13,
    LINEAR = 1, /* of the color space; 0: sRGB, with alpha that is linear */
};

/* The first byte of a chunk: two bits and a value in the other six, but for the
 * last two. */
enum {
    OP_INDEX = 0x00, /* where the color stands in the table */
    OP_DIFF = 0x40,  /* differences from the last color, of 2 bits */
    OP_LUMA = 0x80,  /* that of green; of 4 bits to it in the next byte */
    OP_RUN = 0xc0,   /* how often the last color comes again, less 1 */
    OP_RGB = 0xfe,
    OP_RGBA = 0xff,
    LONGEST_RUN = 62,
    LARGEST_CHUNK = 5,
};

static const uint8_t end_marker[] = { 0, 0, 0, 0, 0, 0, 0, 1 };

struct qoi_color {
    uint8_t r, g, b, a;
};

/* What reader and writer remember alike. */
struct qoi_past {
    struct qoi_color last, table[64];
};
static const struct qoi_past no_past = { .last = { .a = 255 } };

static inline unsigned place_of(struct qoi_color c)
{
    return (c.r * 3u + c.g * 5u + c.b * 7u + c.a * 11u) % 64;
}

static inline bool is_same(struct qoi_color a, struct qoi_color b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static bool probe(const uint8_t *head, size_t size)
{
    return size >= HEADER && memcmp(head, "qoif", 4) == 0;
}

/* ---- Reading ------------------------------------------------------------ */

static inline size_t chunk_size(uint8_t lead)
{
    return lead == OP_RGBA ? 5 : lead == OP_RGB ? 4 : lead >> 6 == 2 ? 2 : 1;
}

static inline unsigned chunk_pixels(uint8_t lead)
{
    return lead >= OP_RUN && lead < OP_RGB ? lead - OP_RUN + 1u : 1;
}

/* Returns where the chunks of `n` pixels end; SIZE_MAX if the file ends before
 * them. */
static size_t chunks_end(struct bytes file, uint64_t n)
{
    size_t at = HEADER;
    while (n > 0 && at < file.size) {
        const uint8_t lead = file.data[at];
        const unsigned pixels = chunk_pixels(lead);
        at += chunk_size(lead);
        n = n > pixels ? n - pixels : 0;
    }
    return n > 0 || at > file.size ? SIZE_MAX : at;
}

/* Changes the last color as a chunk says that is no run. */
static inline void read_color(struct qoi_past *past, const uint8_t *chunk)
{
    struct qoi_color *c = &past->last;
    const uint8_t lead = chunk[0];
    if (lead == OP_RGB) {
        c->r = chunk[1];
        c->g = chunk[2];
        c->b = chunk[3];
    } else if (lead == OP_RGBA) {
        memcpy(c, chunk + 1, sizeof *c);
    } else if (lead < OP_DIFF) {
        *c = past->table[lead];
    } else if (lead < OP_LUMA) {
        c->r = (uint8_t)(c->r + (lead >> 4 & 3) - 2);
        c->g = (uint8_t)(c->g + (lead >> 2 & 3) - 2);
        c->b = (uint8_t)(c->b + (lead & 3) - 2);
    } else {
        const int green = (lead & 63) - 32;
        c->r = (uint8_t)(c->r + green + (chunk[1] >> 4) - 8);
        c->g = (uint8_t)(c->g + green);
        c->b = (uint8_t)(c->b + green + (chunk[1] & 15) - 8);
    }
}

/* Pixels past the end of the file are 0. */
static void read_rows(const struct image *img, struct bytes file)
{
    struct qoi_past past = no_past;
    const uint8_t *at = file.data + HEADER, *end = file.data + file.size;
    unsigned run = 0; /* pixels of the last color that are still to come */
    bool cut = false;
    for (uint32_t y = 0; y < img->height; y++) {
        uint8_t *r = plane_row(&img->plane[0], y),
                *g = plane_row(&img->plane[1], y),
                *b = plane_row(&img->plane[2], y),
                *a = img->alpha ? plane_row(&img->plane[3], y) : NULL;
        for (uint32_t x = 0; x < img->width; x++) {
            if (run == 0 && at < end && (size_t)(end - at) >= chunk_size(*at)) {
                run = chunk_pixels(*at);
                if (*at < OP_RUN || *at >= OP_RGB)
                    read_color(&past, at);
                at += chunk_size(*at);
                past.table[place_of(past.last)] = past.last;
            } else if (run == 0 && !cut) {
                cut = true;
                past.last = (struct qoi_color){ 0 };
            }
            run -= run > 0;
            r[x] = past.last.r;
            g[x] = past.last.g;
            b[x] = past.last.b;
            if (a)
                a[x] = past.last.a;
        }
    }
}

static int open(struct reader *reader, struct err *err)
{
    const struct load_opts *opts = reader->opts;
    struct image *img = &reader->img;
    const struct bytes file = reader->file;
    const uint8_t *p = file.data;
    if (p[AT_CHANNELS] != 3 && p[AT_CHANNELS] != 4)
        return fail(err, "it has %u channels; a QOI has 3 or 4",
                    p[AT_CHANNELS]);
    if (p[AT_COLORSPACE] > LINEAR)
        return fail(err, "its color space is %u; a QOI has 0 or 1",
                    p[AT_COLORSPACE]);
    if (image_check(read_be32(p + AT_WIDTH), read_be32(p + AT_HEIGHT),
                    p[AT_CHANNELS], CELL_U8, &opts->limits, err))
        return -1;
    *(uint8_t *)img->meta->state = p[AT_COLORSPACE];
    img->width = read_be32(p + AT_WIDTH);
    img->height = read_be32(p + AT_HEIGHT);
    img->nplanes = p[AT_CHANNELS];
    img->cell = CELL_U8;
    img->maxval = 255;
    img->color = COLOR_RGB;
    img->alpha = img->nplanes == 4;
    size_t end = chunks_end(file, (uint64_t)img->width * img->height);
    const bool cut = end > file.size || file.size - end < sizeof end_marker;
    if (cut && !opts->tolerant)
        return fail(err, "the image data is cut short");
    if (cut)
        simple_warn_cut(opts);
    else if (memcmp(p + end, end_marker, sizeof end_marker) == 0)
        end += sizeof end_marker;
    if (!cut && end < file.size)
        warn(opts->warnings, "%zu bytes after the picture are not kept",
             file.size - end);
    return 0;
}

static int decode(struct reader *reader, struct err *err)
{
    if (image_alloc(&reader->img, reader->opts->mem, err))
        return -1;
    read_rows(&reader->img, reader->file);
    if (reader->opts->portable && reader->file.data[AT_COLORSPACE] == LINEAR)
        warn(reader->opts->warnings,
             "its samples are linear, which another format does not say");
    return 0;
}

/* ---- Writing ------------------------------------------------------------ */

static inline bool fits(int value, int bits)
{
    return value >= -(1 << (bits - 1)) && value < 1 << (bits - 1);
}

/* Writes a color other than the last one, and returns the size of its chunk. */
static inline size_t put_color(uint8_t *to, struct qoi_color c,
                               struct qoi_color last, struct qoi_color *known)
{
    const int8_t r = (int8_t)(c.r - last.r), g = (int8_t)(c.g - last.g),
                 b = (int8_t)(c.b - last.b), to_r = (int8_t)(r - g),
                 to_b = (int8_t)(b - g);
    if (is_same(*known, c)) {
        to[0] = (uint8_t)(OP_INDEX | place_of(c));
        return 1;
    }
    *known = c;
    if (c.a != last.a) {
        to[0] = OP_RGBA;
        memcpy(to + 1, &c, sizeof c);
        return 5;
    }
    if (fits(r, 2) && fits(g, 2) && fits(b, 2)) {
        to[0] = (uint8_t)(OP_DIFF | (r + 2) << 4 | (g + 2) << 2 | (b + 2));
        return 1;
    }
    if (fits(to_r, 4) && fits(g, 6) && fits(to_b, 4)) {
        to[0] = (uint8_t)(OP_LUMA | (g + 32));
        to[1] = (uint8_t)((to_r + 8) << 4 | (to_b + 8));
        return 2;
    }
    to[0] = OP_RGB;
    memcpy(to + 1, &c, 3);
    return 4;
}

static int encode(struct bytes *file, const struct image *img,
                  const struct save_opts *opts, struct err *err)
{
    const size_t most = (size_t)img->width * LARGEST_CHUNK + 1;
    struct qoi_past past = no_past;
    struct image colors = *img; /* of which all have alpha */
    uint8_t head[HEADER] = "qoif";
    unsigned run = 0;
    (void)opts;
    write_be32(head + AT_WIDTH, img->width);
    write_be32(head + AT_HEIGHT, img->height);
    head[AT_CHANNELS] = (uint8_t)img->nplanes;
    if (codec_is_own(&codec_qoi, img))
        head[AT_COLORSPACE] = *(const uint8_t *)img->meta->state;
    struct qoi_color *row = memory_alloc(img->width * sizeof *row);
    uint8_t *opaque = memory_alloc(img->width);
    bool room = row && opaque && bytes_append(file, head, sizeof head);
    if (room && !img->alpha) {
        memset(opaque, 255, img->width);
        colors.plane[3] = (struct plane){ .data = opaque };
        colors.nplanes = 4;
    }
    for (uint32_t y = 0; room && y < img->height; y++) {
        interleave_join_row(&colors, y, row);
        room = bytes_reserve(file, most);
        uint8_t *to = file->data + file->size;
        for (uint32_t x = 0; room && x < img->width; x++) {
            const struct qoi_color c = row[x], last = past.last;
            const bool again = is_same(c, last);
            run += again; /* one that a row ends with goes on in the next */
            if (run && (!again || run == LONGEST_RUN)) {
                *to++ = (uint8_t)(OP_RUN | (run - 1));
                run = 0;
            }
            if (!again)
                to += put_color(to, c, last, &past.table[place_of(c)]);
            past.last = c;
        }
        file->size = (size_t)(to - file->data);
    }
    memory_free(opaque);
    memory_free(row);
    const uint8_t last = (uint8_t)(OP_RUN | (run - 1));
    if (!room || (run && !bytes_append(file, &last, 1)) ||
        !bytes_append(file, end_marker, sizeof end_marker))
        return fail_memory(err, "no memory for the file");
    return 0;
}

static int check(struct bytes file, const struct image *img,
                 const struct save_opts *opts, struct err *err)
{
    const uint8_t *p = file.data;
    (void)opts;
    if (!probe(p, file.size) || read_be32(p + AT_WIDTH) != img->width ||
        read_be32(p + AT_HEIGHT) != img->height ||
        p[AT_CHANNELS] != img->nplanes)
        return fail(err, "its header is of another picture");
    const size_t end = chunks_end(file, (uint64_t)img->width * img->height);
    if (end > file.size || file.size - end != sizeof end_marker ||
        memcmp(p + end, end_marker, sizeof end_marker) != 0)
        return fail(err, "it has %zu bytes", file.size);
    return 0;
}

const struct codec codec_qoi = {
    .name = "qoi",
    .title = "QOI",
    .suffixes = (const char *const[]){ "qoi", NULL },
    .capabilities = {
        .cells = 1 << CELL_U8,
        .colors = 1 << COLOR_RGB,
        .alpha = true,
    },
    .state_size = sizeof(uint8_t), /* its color space */
    .probe = probe,
    .open = open,
    .decode = decode,
    .encode = encode,
    .check = check,
};
