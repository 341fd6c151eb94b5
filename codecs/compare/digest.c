/* A number for a picture as it is shown. */
#include "codecs/compare/compare.h"

#include <stdio.h>
#include <string.h>

#include <nettle/sha2.h>

#include "codecs/base/account.h"
#include "codecs/base/byte_order.h"
#include "codecs/base/memory.h"
#include "codecs/image/meta.h"
#include "codecs/jpeg/jpeg.h"
#include "codecs/png/animation.h"

enum { WORD = 4, BLOCK = 64 };

/* Bytes of a cell in the sum. */
static size_t summed_size(enum cell cell)
{
    return cell == CELL_DCT ? WORD * BLOCK : cell_size(cell);
}

static void put_block(uint8_t *to, const int16_t *block,
                      const struct turned_block *shown)
{
    for (unsigned i = 0; i < BLOCK; i++)
        write_le32(to + WORD * i,
                   (uint32_t)(block[shown->from[i]] * shown->factor[i]));
}

/* The low byte comes first. */
static const bool swapped = __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__;

static void put_sample(uint8_t *to, const uint8_t *from, size_t size)
{
    for (size_t i = 0; i < size; i++)
        to[i] = from[swapped ? size - 1 - i : i];
}

/* Puts row y of a plane as it is after t. */
static void put_row(uint8_t *row, const struct plane *plane, enum cell cell,
                    const struct turned_block *shown, enum xform t, uint32_t y)
{
    const bool exchanged = xform_transposes(t);
    const uint32_t width = exchanged ? plane->height : plane->width;
    const uint32_t height = exchanged ? plane->width : plane->height;
    const size_t size = cell_size(cell), step = summed_size(cell);
    for (uint32_t x = 0; x < width; x++) {
        uint32_t sx, sy;
        xform_source(t, width, height, x, y, &sx, &sy);
        const uint8_t *from = (uint8_t *)plane_row(plane, sy) + sx * size;
        if (cell == CELL_DCT)
            put_block(row + x * step, (const int16_t *)from, shown);
        else
            put_sample(row + x * step, from, size);
    }
}

static void add(struct sha256_ctx *sum, const void *data, size_t size)
{
    sha256_update(sum, size, data);
}

/* Adds plane i of the picture as it is after t. `row` has room for one. */
static void add_plane(struct sha256_ctx *sum, const struct image *img,
                      unsigned i, enum xform t, uint8_t *row)
{
    const struct plane *plane = &img->plane[i];
    const bool exchanged = xform_transposes(t);
    const uint32_t width = exchanged ? plane->height : plane->width;
    const uint32_t height = exchanged ? plane->width : plane->height;
    const bool as_it_is = t == XFORM_NONE && img->cell != CELL_DCT &&
                          (cell_size(img->cell) == 1 || !swapped);
    struct turned_block shown;
    uint8_t shape[2 * WORD];
    if (img->cell == CELL_DCT)
        shown = steps_turn(steps_of(img, i), t);
    write_le32(shape, width);
    write_le32(shape + WORD, height);
    add(sum, shape, sizeof shape);
    for (uint32_t y = 0; y < height; y++) {
        if (!as_it_is)
            put_row(row, plane, img->cell, &shown, t, y);
        add(sum, as_it_is ? plane_row(plane, y) : row,
            width * summed_size(img->cell));
    }
}

/* Returns room for the longest row of a plane, also as a column. */
static uint8_t *room_for_row(const struct image *img)
{
    size_t most = 1;
    for (unsigned i = 0; i < img->nplanes; i++) {
        const struct plane *plane = &img->plane[i];
        most = plane->width > most ? plane->width : most;
        most = plane->height > most ? plane->height : most;
    }
    return memory_alloc(most * summed_size(img->cell));
}

/* Adds the colors that indices mean: behind the last one opaque black. */
static void add_palette(struct sha256_ctx *sum, const struct meta *meta)
{
    static const uint8_t black[4] = { [3] = 255 };
    add(sum, meta->palette, meta->ncolors * sizeof *meta->palette);
    for (unsigned i = meta->ncolors; i < 256; i++)
        add(sum, black, sizeof black);
}

/* Adds the samples that are transparent. */
static void add_key(struct sha256_ctx *sum, const struct image *img)
{
    uint8_t key[3 * 2];
    for (unsigned i = 0; i < img->nplanes; i++)
        write_le16(key + (size_t)2 * i, img->meta->key[i]);
    add(sum, key, (size_t)2 * img->nplanes);
}

/* Adds the planes of a picture, or of a frame of one, as they are after t. */
static int add_planes(struct sha256_ctx *sum, const struct image *img,
                      enum xform t, struct err *err)
{
    uint8_t *row = room_for_row(img);
    if (!row)
        return fail_memory(err, "no memory for a row");
    for (unsigned i = 0; i < img->nplanes; i++)
        add_plane(sum, img, i, t, row);
    memory_free(row);
    return 0;
}

/* Adds where a frame is shown, and how. */
static void add_control(struct sha256_ctx *sum, const struct image *img,
                        const uint8_t *fctl, enum xform t)
{
    const bool exchanged = xform_transposes(t);
    const uint8_t *delay = fctl + FCTL_DELAY;
    const struct frame_place place = frame_place_turn(
        frame_place_read(fctl), t, exchanged ? img->height : img->width,
        exchanged ? img->width : img->height);
    char line[96];
    int n =
        snprintf(line, sizeof line, "frame %u %u %u %u %u %u %u %u\n", place.x,
                 place.y, place.width, place.height, read_be16(delay),
                 read_be16(delay + 2), delay[4], delay[5]);
    add(sum, line, (size_t)n);
}

static int add_frames(struct sha256_ctx *sum, const struct image *img,
                      enum xform t, const struct load_opts *opts,
                      struct err *err)
{
    const struct meta *meta = img->meta;
    struct frame_blocks blocks;
    size_t at = 0;
    char line[64];
    int n = snprintf(line, sizeof line, "animation %u %u\n",
                     meta->animation.frames, meta->animation.plays);
    add(sum, line, (size_t)n);
    for (uint32_t number = 1; frame_find(&blocks, meta, &at); number++) {
        struct image frame = { .meta = NULL };
        struct err why;
        int status = account_check_time(opts->limits.account, err);
        add_control(sum, img, meta->block[blocks.begin].data, t);
        if (status == 0 && !frame_is_default(meta, blocks)) {
            status = frame_decode(&frame, img, blocks, opts, &why);
            if (status == 0)
                status = add_planes(sum, &frame, t, &why);
            image_free(&frame);
            if (status)
                fail_with(err, &why, "frame %u: %s", number, why.text);
        }
        if (status)
            return -1;
    }
    return 0;
}

int digest_picture(char text[DIGEST_TEXT], const struct image *img,
                   const struct load_opts *opts, struct err *err)
{
    const enum xform t = xform_from_exif(img->orientation);
    const bool exchanged = xform_transposes(t);
    uint8_t digest[SHA256_DIGEST_SIZE];
    struct sha256_ctx sum;
    char head[96];
    const bool keyed = img->meta && img->meta->keyed;
    int n = snprintf(head, sizeof head, "%s%s %u %u %u %u\n",
                     image_color_name(img->color),
                     img->alpha ? "+alpha"
                     : keyed    ? "+key"
                                : "",
                     img->nplanes, exchanged ? img->height : img->width,
                     exchanged ? img->width : img->height, img->maxval);
    sha256_init(&sum);
    add(&sum, head, (size_t)n);
    if (img->color == COLOR_INDEXED)
        add_palette(&sum, img->meta);
    if (keyed)
        add_key(&sum, img);
    if (add_planes(&sum, img, t, err) ||
        (img->meta && img->meta->animation.frames &&
         add_frames(&sum, img, t, opts, err)))
        return -1;
    sha256_digest(&sum, sizeof digest, digest);
    for (unsigned i = 0; i < SHA256_DIGEST_SIZE; i++)
        snprintf(text + 2 * i, 3, "%02x", (unsigned)digest[i]);
    return 0;
}
