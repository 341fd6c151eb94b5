/* Any bytes as the samples of a picture: libpng reads what is written of them,
 * at any level. */
#include "codecs/png/png.h"

#include "tests/fuzz/fuzz.h"
#include "tests/support/must.h"
#include "tests/support/plain_picture.h"
#include "tests/support/png_file.h"

static const uint8_t kinds[][2] = {
    { 1, GRAY },  { 2, GRAY },       { 8, GRAY },      { 8, RGB },
    { 16, GRAY }, { 8, GRAY_ALPHA }, { 8, RGB_ALPHA }, { 16, RGB_ALPHA },
};

/* The samples are the bytes, over and over. */
static void fill(struct image *img, const uint8_t *data, size_t size)
{
    size_t at = 0;
    for (unsigned c = 0; c < img->nplanes; c++)
        for (uint32_t y = 0; y < img->height; y++)
            for (uint32_t x = 0; x < img->width; x++, at++) {
                unsigned value = data[at % size] * 256u + data[at / 3 % size];
                image_set_sample(img, c, x, y, value & img->maxval);
            }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 5)
        return 0;
    const uint8_t *kind = kinds[data[0] % (sizeof kinds / sizeof *kinds)];
    struct shape s = { data[1] * 2u + 1, data[2] / 2u + 1, kind[0], kind[1],
                       false };
    owned_image img = shape_image(&s);
    owned_bytes file = { 0 };
    struct plain_picture is;
    struct err err;
    fill(&img, data + 4, size - 4);
    add_head(&file, &s);
    must(idat_write(&file, &img, data[3] % 10, &(struct save_opts){ 0 },
                    &err) == 0);
    add_end(&file);
    plain_picture_read_stored(&is, file);
    must(is.sound && image_holds(&img, is.samples));
    plain_picture_free(&is);
    return 0;
}
