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

/* A sum of a picture as it is after t. */
struct digest {
    struct sha256_ctx sum;
    const struct image *img;
    enum xform t;
};

static void add(struct digest *d, const void *data, size_t size)
{
    sha256_update(&d->sum, size, data);
}

/* Puts row y of a plane as it is after t. The low byte comes first. */
static void put_row(uint8_t *row, const struct plane *plane, enum cell cell,
                    const struct turned_block *shown, enum xform t, uint32_t y)
{
    const bool exchanged = xform_transposes(t),
               swapped = __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__;
    const uint32_t width = exchanged ? plane->height : plane->width;
    const uint32_t height = exchanged ? plane->width : plane->height;
    const size_t size = cell_size(cell);
    for (uint32_t x = 0; x < width; x++) {
        uint32_t sx, sy;
        xform_source(t, width, height, x, y, &sx, &sy);
        const uint8_t *from = (uint8_t *)plane_row(plane, sy) + sx * size;
        const int16_t *block = (const int16_t *)(const void *)from;
        if (cell != CELL_DCT)
            for (size_t i = 0; i < size; i++)
                *row++ = from[swapped ? size - 1 - i : i];
        else
            for (unsigned i = 0; i < BLOCK; i++, row += WORD)
                write_le32(
                    row, (uint32_t)(block[shown->from[i]] * shown->factor[i]));
    }
}

/* Adds the planes of the picture, or of a frame of it. */
static int add_planes(struct digest *d, const struct image *img,
                      struct err *err)
{
    const bool exchanged = xform_transposes(d->t),
               blocks = img->cell == CELL_DCT;
    const size_t cell = blocks ? WORD * BLOCK : cell_size(img->cell);
    size_t most = 1; /* cells of a row, also as a column */
    for (unsigned i = 0; i < img->nplanes; i++) {
        const struct plane *plane = &img->plane[i];
        most = plane->width > most ? plane->width : most;
        most = plane->height > most ? plane->height : most;
    }
    uint8_t *row = memory_alloc(most * cell);
    if (!row)
        return fail_memory(err, "no memory for a row");
    for (unsigned i = 0; i < img->nplanes; i++) {
        const struct plane *plane = &img->plane[i];
        const uint32_t width = exchanged ? plane->height : plane->width;
        const uint32_t height = exchanged ? plane->width : plane->height;
        const bool as_it_is =
            d->t == XFORM_NONE && !blocks &&
            (cell == 1 || __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
        struct turned_block shown;
        if (blocks)
            shown = steps_turn(steps_of(img, i), d->t);
        uint8_t size[2 * WORD];
        write_le32(size, width);
        write_le32(size + WORD, height);
        add(d, size, sizeof size);
        for (uint32_t y = 0; y < height; y++) {
            if (!as_it_is)
                put_row(row, plane, img->cell, &shown, d->t, y);
            add(d, as_it_is ? plane_row(plane, y) : row, width * cell);
        }
    }
    memory_free(row);
    return 0;
}

/* Adds where a frame is shown, and how. */
static void add_control(struct digest *d, const uint8_t *fctl)
{
    const bool exchanged = xform_transposes(d->t);
    const uint8_t *delay = fctl + FCTL_DELAY;
    const struct frame_place place =
        frame_place_turn(frame_place_read(fctl), d->t,
                         exchanged ? d->img->height : d->img->width,
                         exchanged ? d->img->width : d->img->height);
    char line[96];
    int n =
        snprintf(line, sizeof line, "frame %u %u %u %u %u %u %u %u\n", place.x,
                 place.y, place.width, place.height, read_be16(delay),
                 read_be16(delay + 2), delay[4], delay[5]);
    add(d, line, (size_t)n);
}

static int add_frames(struct digest *d, const struct load_opts *opts,
                      struct err *err)
{
    const struct decode_plan as_stored = { .turn = XFORM_NONE };
    const struct meta *meta = d->img->meta;
    struct frame_blocks blocks;
    size_t at = 0;
    char line[64];
    int n = snprintf(line, sizeof line, "animation %u %u\n",
                     meta->animation.frames, meta->animation.plays);
    add(d, line, (size_t)n);
    for (uint32_t number = 1; frame_find(&blocks, meta, &at); number++) {
        struct image frame = { .meta = NULL };
        struct err why;
        if (account_check_time(opts->limits.account, err))
            return -1;
        add_control(d, meta->block[blocks.begin].data);
        if (frame_is_default(meta, blocks))
            continue;
        int status =
            frame_decode(&frame, d->img, blocks, opts, &as_stored, &why);
        if (status == 0)
            status = add_planes(d, &frame, &why);
        image_free(&frame);
        if (status)
            return fail_with(err, &why, "frame %u: %s", number, why.text);
    }
    return 0;
}

int digest_picture(char text[DIGEST_TEXT], const struct image *img,
                   const struct load_opts *opts, struct err *err)
{
    static const uint8_t black[4] = { [3] = 255 };
    struct digest d = { .img = img, .t = xform_from_exif(img->orientation) };
    const bool exchanged = xform_transposes(d.t);
    const struct meta *meta = img->meta;
    const bool keyed = meta && meta->keyed;
    uint8_t digest[SHA256_DIGEST_SIZE], key[2];
    char head[96];
    *text = '\0'; /* the other frames would not count */
    if (meta && meta->animation.frames && meta->codec != &codec_png)
        return 0;
    int n = snprintf(head, sizeof head, "%s%s %u %u %u %u\n",
                     image_color_name(img->color),
                     img->alpha ? "+alpha"
                     : keyed    ? "+key"
                                : "",
                     img->nplanes, exchanged ? img->height : img->width,
                     exchanged ? img->width : img->height, img->maxval);
    sha256_init(&d.sum);
    add(&d, head, (size_t)n);
    /* The colors that indices mean: behind the last one opaque black. */
    for (unsigned i = 0; i < 256 && img->color == COLOR_INDEXED; i++)
        add(&d, i < meta->ncolors ? meta->palette[i] : black, sizeof black);
    for (unsigned i = 0; i < img->nplanes && keyed; i++) {
        write_le16(key, meta->key[i]);
        add(&d, key, sizeof key);
    }
    if (add_planes(&d, img, err) ||
        (meta && meta->animation.frames && add_frames(&d, opts, err)))
        return -1;
    sha256_digest(&d.sum, sizeof digest, digest);
    for (unsigned i = 0; i < SHA256_DIGEST_SIZE; i++)
        snprintf(text + 2 * i, 3, "%02x", (unsigned)digest[i]);
    return 0;
}
