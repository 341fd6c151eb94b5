/* Pictures of noise. */
#include "cli/bench/jpeg_picture.h"

#include "codecs/codec.h"

enum { SCALES = 8, NOISE = 14 /* the larger, the less */ };

static unsigned hash(uint32_t x, uint32_t y, uint32_t z)
{
    uint32_t h = x * 0x9e3779b1u ^ y * 0x85ebca77u ^ z * 0xc2b2ae3du;
    h = (h ^ h >> 15) * 0x2c1b3c6du;
    h = (h ^ h >> 12) * 0x297a2d39u;
    return (h ^ h >> 15) & 255;
}

/* Returns smooth noise of one scale, from 0 to 255. */
static int noise_at(uint32_t x, uint32_t y, unsigned scale, uint32_t seed)
{
    const int size = 1 << scale, fx = (int)(x & (uint32_t)(size - 1)),
              fy = (int)(y & (uint32_t)(size - 1));
    const uint32_t cx = x >> scale, cy = y >> scale;
    const int top = (int)hash(cx, cy, seed) * (size - fx) +
                    (int)hash(cx + 1, cy, seed) * fx;
    const int low = (int)hash(cx, cy + 1, seed) * (size - fx) +
                    (int)hash(cx + 1, cy + 1, seed) * fx;
    return (top * (size - fy) + low * fy) / (size * size);
}

/* Returns the light beside the middle, with a little noise of a sensor. */
static int light_at(uint32_t x, uint32_t y, uint32_t seed)
{
    int light = 0;
    for (unsigned scale = 1; scale < SCALES; scale++)
        light += (noise_at(x, y, scale, seed + scale) - 128) * (1 << scale);
    return light / 170 + ((int)hash(x, y, seed + 99) - 128) / NOISE;
}

static void fill_row(const struct image *img, uint32_t y, uint32_t seed)
{
    for (uint32_t x = 0; x < img->width; x++) {
        const int light = 128 + light_at(x, y, seed),
                  tint = (noise_at(x, y, 6, seed + 50) - 128) / 4;
        for (unsigned c = 0; c < img->nplanes; c++) {
            uint8_t *row = plane_row(&img->plane[c], y);
            const int sample = light + tint * ((int)c - 1);
            row[x] = (uint8_t)(sample < 0 ? 0 : sample > 255 ? 255 : sample);
        }
    }
}

int jpeg_picture_make(struct bytes *file, struct suite_shape shape,
                      uint32_t number, struct err *err)
{
    struct warnings warnings = { .count = 0 };
    const struct save_opts opts = { .suffix = "jpg",
                                    .quality = JPEG_PICTURE_QUALITY,
                                    .warnings = &warnings };
    struct image img = { .cell = CELL_U8,
                         .nplanes = 3,
                         .width = shape.width,
                         .height = shape.height };
    *file = (struct bytes){ 0 };
    if (image_alloc(&img, mem_plain, err))
        return -1;
    img.color = COLOR_RGB;
    img.maxval = 255;
    img.orientation = 1;
    for (uint32_t y = 0; y < img.height; y++)
        fill_row(&img, y, number * 1000);
    const int status = codec_jpeg.encode(file, &img, &opts, err);
    image_free(&img);
    if (status)
        bytes_free(file);
    return status;
}
