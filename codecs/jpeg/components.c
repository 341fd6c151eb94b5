/* The components of a JPEG, made of the pixels of other formats. */
#include "codecs/jpeg/components.h"

#include <stdbool.h>
#include <string.h>

#include "codecs/jpeg/entropy/huffman_table.h" /* ENTROPY_FOR_EACH_CPU */

enum { SIDE = 8 };

/* Eight pixels. */
typedef uint8_t pixels __attribute__((vector_size(SIDE)));
typedef int32_t sums __attribute__((vector_size(4 * SIDE)));

/* T.871, 7: the weights of R, G and B, times 2^16, and what is added to round.
 * They are libjpeg's. */
enum { ONE = 1 << 16 };
static const struct weights {
    int32_t rgb[3], bias;
} weights[] = {
    { { 19595, 38470, 7471 }, ONE / 2 },
    { { -11059, -21709, 32768 }, 128 * ONE + ONE / 2 - 1 },
    { { 32768, -27439, -5329 }, 128 * ONE + ONE / 2 - 1 },
};

struct image_pair {
    const struct image *from, *to;
};

/* Rows have room for whole vectors. */
ENTROPY_FOR_EACH_CPU static void convert_row(void *context, size_t y)
{
    const struct image_pair *all = context;
    for (unsigned c = 0; c < 3; c++) {
        uint8_t *to = plane_row(&all->to->plane[c], y);
        for (uint32_t x = 0; x < all->from->width; x += SIDE) {
            sums sum = { 0 };
            sum += weights[c].bias;
            for (unsigned k = 0; k < 3; k++) {
                pixels eight;
                memcpy(&eight,
                       (uint8_t *)plane_row(&all->from->plane[k], y) + x, SIDE);
                sum += __builtin_convertvector(eight, sums) * weights[c].rgb[k];
            }
            const pixels made = __builtin_convertvector(sum >> 16, pixels);
            memcpy(to + x, &made, SIDE);
        }
    }
}

static void copy_row(void *context, size_t y)
{
    const struct image_pair *all = context;
    for (unsigned c = 0; c < all->from->nplanes; c++)
        memcpy(plane_row(&all->to->plane[c], y),
               plane_row(&all->from->plane[c], y), all->from->plane[c].width);
}

/* Replaces four samples each by their mean, in place. Halves are rounded down
 * and up in turn. Beyond its end the plane is repeated. */
static void halve(struct plane *plane)
{
    const uint32_t width = plane->width, height = plane->height;
    plane->width = width / 2 + width % 2;
    plane->height = height / 2 + height % 2;
    for (uint32_t y = 0; y < plane->height; y++) {
        const uint8_t *first = plane_row(plane, 2 * (size_t)y);
        const uint8_t *second =
            2 * y + 1 < height ? first + plane->stride : first;
        uint8_t *to = plane_row(plane, y);
        for (uint32_t x = 0; x < plane->width; x++) {
            const uint32_t left = 2 * x,
                           right = left + 1 < width ? left + 1 : left;
            to[x] = (uint8_t)((first[left] + first[right] + second[left] +
                               second[right] + 1 + x % 2) /
                              4);
        }
    }
}

int components_make(struct image *made, const struct image *img,
                    const struct jpeg_compress_struct *c,
                    struct thread_pool *pool, struct err *err)
{
    struct image_pair all = { img, made };
    const bool converts =
        img->color == COLOR_RGB && c->jpeg_color_space == JCS_YCbCr;
    *made = (struct image){ .cell = CELL_U8,
                            .width = img->width,
                            .height = img->height,
                            .nplanes = img->nplanes };
    if (image_alloc(made, mem_plain, err))
        return -1;
    thread_pool_run(pool, converts ? convert_row : copy_row, &all, img->height);
    for (unsigned i = 1; i < made->nplanes; i++)
        if (c->comp_info[i].h_samp_factor < c->comp_info[0].h_samp_factor)
            halve(&made->plane[i]);
    return 0;
}
