/* A number for a picture as it is shown. */
#include "codecs/compare/compare.h"

#include <stdio.h>
#include <string.h>

#include <nettle/sha2.h>

#include "codecs/base/byte_order.h"
#include "codecs/base/memory.h"
#include "codecs/image/meta.h"
#include "codecs/jpeg/jpeg.h"

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
    const bool swapped = __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__;
    const uint32_t width = xform_transposes(t) ? plane->height : plane->width;
    const size_t size = cell_size(cell);
    for (uint32_t x = 0; x < width; x++) {
        const uint8_t *from = plane_cell(plane, size, t, x, y);
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

/* Adds the planes of the picture. */
static int add_planes(struct digest *d, struct err *err)
{
    const struct image *img = d->img;
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

int digest_picture(char text[DIGEST_TEXT], const struct image *img,
                   struct err *err)
{
    static const uint8_t black[4] = { [3] = 255 };
    struct digest d = { .img = img, .t = xform_from_exif(img->orientation) };
    const bool exchanged = xform_transposes(d.t);
    const struct meta *meta = img->meta;
    const bool keyed = meta && meta->keyed;
    uint8_t digest[SHA256_DIGEST_SIZE], key[2];
    char head[96];
    *text = '\0'; /* the other frames would not count */
    if (meta && meta->animation.frames)
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
    if (add_planes(&d, err))
        return -1;
    sha256_digest(&d.sum, sizeof digest, digest);
    for (unsigned i = 0; i < SHA256_DIGEST_SIZE; i++)
        snprintf(text + 2 * i, 3, "%02x", (unsigned)digest[i]);
    return 0;
}
