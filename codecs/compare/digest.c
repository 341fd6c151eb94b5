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

/* Adds the planes of the picture, as it is after t. The low byte comes first.
 */
static int add_planes(struct sha256_ctx *sum, const struct image *img,
                      enum xform t, struct err *err)
{
    const bool exchanged = xform_transposes(t), blocks = img->cell == CELL_DCT,
               swapped = __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__;
    const size_t bytes = cell_size(img->cell),
                 cell = blocks ? WORD * BLOCK : bytes;
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
            t == XFORM_NONE && !blocks && (cell == 1 || !swapped);
        struct turned_block shown;
        if (blocks)
            shown = steps_turn(steps_of(img, i), t);
        uint8_t size[2 * WORD];
        write_le32(size, width);
        write_le32(size + WORD, height);
        sha256_update(sum, sizeof size, size);
        for (uint32_t y = 0; y < height; y++) {
            uint8_t *to = row;
            for (uint32_t x = 0; x < width && !as_it_is; x++) {
                const uint8_t *from = plane_cell(plane, bytes, t, x, y);
                const int16_t *block = (const int16_t *)(const void *)from;
                for (size_t k = 0; k < bytes && !blocks; k++)
                    *to++ = from[swapped ? bytes - 1 - k : k];
                for (unsigned k = 0; k < BLOCK && blocks; k++, to += WORD)
                    write_le32(
                        to, (uint32_t)(block[shown.from[k]] * shown.factor[k]));
            }
            sha256_update(sum, width * cell,
                          as_it_is ? plane_row(plane, y) : row);
        }
    }
    memory_free(row);
    return 0;
}

int digest_picture(char text[DIGEST_TEXT], const struct image *img,
                   struct err *err)
{
    static const uint8_t black[4] = { [3] = 255 };
    const enum xform t = xform_from_exif(img->orientation);
    const bool exchanged = xform_transposes(t);
    struct sha256_ctx sum;
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
    sha256_init(&sum);
    sha256_update(&sum, (size_t)n, (const uint8_t *)head);
    /* The colors that indices mean: behind the last one opaque black. */
    for (unsigned i = 0; i < 256 && img->color == COLOR_INDEXED; i++)
        sha256_update(&sum, sizeof black,
                      i < meta->ncolors ? meta->palette[i] : black);
    for (unsigned i = 0; i < img->nplanes && keyed; i++) {
        write_le16(key, meta->key[i]);
        sha256_update(&sum, sizeof key, key);
    }
    if (add_planes(&sum, img, t, err))
        return -1;
    sha256_digest(&sum, sizeof digest, digest);
    for (unsigned i = 0; i < SHA256_DIGEST_SIZE; i++)
        snprintf(text + 2 * i, 3, "%02x", (unsigned)digest[i]);
    return 0;
}
