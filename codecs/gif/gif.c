/* GIF as a codec: its first frame, as it is on the screen, as a picture, and a
 * picture of at most 256 colors as a GIF of one frame. */
#include "codecs/gif/gif.h"

#include <string.h>

#include "codecs/base/byte_order.h"
#include "codecs/base/memory.h"

static bool probe(const uint8_t *head, size_t size)
{
    return size >= 6 &&
           (memcmp(head, "GIF87a", 6) == 0 || memcmp(head, "GIF89a", 6) == 0);
}

/* ---- Reading ------------------------------------------------------------ */

/* Returns the colors of the first frame, and sets *n to how many there are;
 * NULL if there is no palette. */
static const uint8_t *colors_of(const struct gif *gif, unsigned *n)
{
    const uint8_t *own = gif->file.data + gif->frame->begin + GIF_IMAGE,
                  *all = gif->file.data + GIF_HEAD;
    const size_t of_own = gif_palette_size(own[-1]),
                 of_all = gif_palette_size(all[-3]);
    *n = (unsigned)(of_own ? of_own : of_all) / GIF_COLOR;
    return of_own ? own : of_all ? all : NULL;
}

/* Indices behind the palette are black. Where the frame leaves some of the
 * screen free that is transparent, by an index of its own or, if there is none
 * to be had, by alpha. */
static int open(struct reader *reader, struct err *err)
{
    struct image *img = &reader->img;
    struct meta *meta = img->meta;
    const uint8_t *file = reader->file.data, *colors;
    struct gif *gif = memory_alloc_zeroed(1, sizeof *gif);
    unsigned n;
    if (!gif)
        return fail_memory(err, "no memory for the decoder");
    reader->state = gif;
    if (gif_scan(gif, meta, reader->file, reader->opts, err))
        return -1;
    colors = colors_of(gif, &n);
    const struct frame_place r = gif_place_of(gif, gif->frame);
    const bool all = r.width == gif->width && r.height == gif->height;
    const unsigned bits = file[gif->frame->body];
    int *clear = &gif->frame->transparent;
    meta->ncolors = bits <= 8 && 1u << bits > n ? 1u << bits : n;
    *clear = *clear < (int)meta->ncolors ? *clear : -1;
    if (!all && *clear < 0 && meta->ncolors < 256)
        *clear = (int)meta->ncolors++;
    for (unsigned i = 0; i < 256; i++) {
        if (i < n)
            memcpy(meta->palette[i], colors + (size_t)GIF_COLOR * i, GIF_COLOR);
        meta->palette[i][3] = (int)i == *clear ? 0 : 255;
    }
    meta->nalphas = (unsigned)(*clear + 1);
    img->alpha = !all && *clear < 0;
    img->color = img->alpha ? COLOR_RGB : COLOR_INDEXED;
    img->width = gif->width;
    img->height = gif->height;
    img->nplanes = img->alpha ? 4 : 1;
    img->maxval = img->alpha || meta->ncolors > 16 ? 255
                  : meta->ncolors > 4              ? 15
                  : meta->ncolors > 2              ? 3
                                                   : 1;
    if (file[12])
        meta->density = (struct density){ DENSITY_ASPECT, 64, file[12] + 15 };
    return image_check(img->width, img->height, img->nplanes, CELL_U8,
                       &reader->opts->limits, err);
}

/* Lays the frame on the screen. */
static int decode(struct reader *reader, struct err *err)
{
    struct image *img = &reader->img, frame = { 0 };
    const struct gif *gif = reader->state;
    const struct load_opts *opts = reader->opts;
    const struct frame_place r = gif_place_of(gif, gif->frame);
    const int clear = gif->frame->transparent;
    struct err why;
    unsigned n;
    bool anew = true;
    if (!colors_of(gif, &n))
        return fail(err, "its first frame has no palette, so that it can be "
                         "turned, but not converted");
    if (r.width && r.height &&
        gif_read_frame(&frame, &anew, gif, gif->frame, opts, &why))
        return fail_with(err, &why, "frame 1: %s", why.text);
    int status = image_alloc(img, opts->mem, err);
    for (unsigned c = 0; c < img->nplanes && status == 0; c++)
        for (uint32_t y = 0; y < img->height; y++) {
            uint8_t *to = plane_row(&img->plane[c], y);
            memset(to, clear < 0 ? 0 : clear, img->width);
            if (y < r.y || y - r.y >= frame.height)
                continue;
            const uint8_t *from = plane_row(&frame.plane[0], y - r.y);
            for (uint32_t x = 0; x < r.width; x++)
                to[r.x + x] =
                    img->alpha ? img->meta->palette[from[x]][c] : from[x];
        }
    image_free(&frame);
    return status;
}

static void close(struct reader *reader)
{
    struct gif *gif = reader->state;
    if (gif)
        memory_free(gif->frame);
    memory_free(gif);
}

/* ---- Writing ------------------------------------------------------------ */

/* Colors, by which indices are found. */
struct color_table {
    unsigned n;
    uint32_t color[256]; /* alpha, red, green and blue, the high byte first */
    uint16_t slot[1024]; /* 1 + the index of a color; 0: it is free */
    int clear;           /* the index of what is transparent, or -1 */
    bool hides;          /* that has colors, which are lost */
};

/* Finds the indices of a row. What is transparent has no color. */
static int index_row(uint8_t *row, struct color_table *table,
                     const struct image *img, uint32_t y, struct err *err)
{
    const unsigned colors = img->nplanes - img->alpha;
    const uint8_t *from[4];
    for (unsigned c = 0; c < 3; c++)
        from[c] = plane_row(&img->plane[c < colors ? c : 0], y);
    from[3] = img->alpha ? plane_row(&img->plane[colors], y) : NULL;
    for (uint32_t x = 0; x < img->width; x++) {
        const uint8_t own[4] = { from[0][x], from[1][x], from[2][x],
                                 from[3] ? from[3][x] : 255 };
        const uint8_t *p =
            img->color == COLOR_INDEXED ? img->meta->palette[own[0]] : own;
        const uint32_t color = p[3] ? (uint32_t)p[3] << 24 |
                                          (uint32_t)p[0] << 16 |
                                          (uint32_t)p[1] << 8 | p[2]
                                    : 0;
        table->hides = table->hides || (!color && (p[0] | p[1] | p[2]));
        uint32_t i = color * 0x9e3779b1u >> 22;
        while (table->slot[i] && table->color[table->slot[i] - 1] != color)
            i = (i + 1) % 1024;
        if (!table->slot[i] && table->n == 256)
            return fail(err, "a GIF holds 256 colors, and this picture has "
                             "more; PNG keeps them");
        if (color && color >> 24 < 255)
            return fail(err, "a GIF holds no half transparent colors; PNG "
                             "keeps them, and --background COLOR lays them on "
                             "a color");
        if (!table->slot[i]) {
            table->clear = color ? table->clear : (int)table->n;
            table->color[table->n] = color;
            table->slot[i] = (uint16_t)++table->n;
        }
        row[x] = (uint8_t)(table->slot[i] - 1);
    }
    return 0;
}

static bool put_head(struct bytes *file, const struct image *img,
                     const struct color_table *table,
                     const struct save_opts *opts)
{
    const struct meta *meta = img->meta;
    uint8_t head[GIF_HEAD] = "GIF89a", colors[256][GIF_COLOR] = { { 0 } };
    uint8_t control[] = {
        GIF_EXTENSION, GIF_CONTROL & 0xff, 4, 1, 0, 0, (uint8_t)table->clear, 0
    };
    uint8_t image[GIF_IMAGE] = { GIF_FRAME };
    unsigned bits = 1;
    while (1u << bits < table->n)
        bits++;
    write_le16(head + 6, img->width);
    write_le16(head + 8, img->height);
    write_le16(image + 5, img->width);
    write_le16(image + 7, img->height);
    head[10] = (uint8_t)(0xf0 | (bits - 1)); /* colors of 8 bits each */
    for (unsigned i = 0; i < table->n; i++)
        for (unsigned c = 0; c < GIF_COLOR; c++)
            colors[i][c] = (uint8_t)(table->color[i] >> (16 - 8 * c));
    bool kept = bytes_append(file, head, GIF_HEAD) &&
                bytes_append(file, colors, (size_t)GIF_COLOR << bits);
    /* The loop of an animation is no longer one. */
    for (size_t i = 0; kept && codec_is_own(&codec_gif, img) && !opts->strip &&
                       i < meta->nblocks;
         i++)
        if (meta->block[i].kind != BLOCK_ESSENTIAL &&
            !(opts->drop & meta->block[i].drop))
            kept = bytes_append(file, meta->block[i].data, meta->block[i].size);
    return kept &&
           (table->clear < 0 || bytes_append(file, control, sizeof control)) &&
           bytes_append(file, image, GIF_IMAGE);
}

static int encode(struct bytes *file, const struct image *img,
                  const struct save_opts *opts, struct err *err)
{
    struct color_table table = { .clear = -1 };
    struct image indices = { .cell = CELL_U8,
                             .nplanes = 1,
                             .width = img->width,
                             .height = img->height };
    if (img->width > UINT16_MAX || img->height > UINT16_MAX)
        return fail(err, "a side of a GIF has 65535 pixels at most; PNG holds "
                         "more");
    int status = image_alloc(&indices, mem_plain, err);
    for (uint32_t y = 0; y < img->height && status == 0; y++)
        status =
            index_row(plane_row(&indices.plane[0], y), &table, img, y, err);
    if (status == 0 && table.hides && opts->lossless)
        status = fail(err, "a GIF would lose the colors of transparent pixels; "
                           "--lossless refuses");
    else if (table.hides)
        warn(opts->warnings, "a GIF keeps no colors of transparent pixels");
    if (status == 0 && !(put_head(file, img, &table, opts) &&
                         gif_write_frame(file, &indices.plane[0], false) &&
                         bytes_append(file, ";", 1)))
        status = fail_memory(err, "no memory for the file");
    image_free(&indices);
    return status;
}

/* All frames have all their pixels. */
static int check(struct bytes file, const struct image *img,
                 const struct save_opts *opts, struct err *err)
{
    struct warnings unheard = { 0 };
    const struct load_opts load = {
        .limits = { .pixels = UINT64_MAX, .bytes = UINT64_MAX },
        .warnings = &unheard,
    };
    struct image found = { 0 };
    struct bytes none = { 0 };
    (void)opts;
    if (!probe(file.data, file.size))
        return fail(err, "its header is malformed");
    if (gif_turn(&none, &found, file, XFORM_NONE, &load, err))
        return -1;
    if (img && (found.width != img->width || found.height != img->height))
        return fail(err, "its header is of another picture");
    return 0;
}

const struct codec codec_gif = {
    .name = "gif",
    .title = "GIF",
    .suffixes = (const char *const[]){ "gif", NULL },
    .capabilities = {
        .cells = 1 << CELL_U8,
        .colors = 1 << COLOR_GRAY | 1 << COLOR_RGB,
        .alpha = true,
    },
    .probe = probe,
    .open = open,
    .decode = decode,
    .close = close,
    .turn = gif_turn,
    .encode = encode,
    .check = check,
};
