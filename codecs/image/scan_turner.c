/* Samples that a device makes. */
#include "codecs/image/scan_turner.h"

#include <string.h>

static unsigned made_channels(const struct device_samples *samples)
{
    return (samples->color == COLOR_GRAY ? 1 : 3) + samples->alpha;
}

/* Returns the bytes from a row of them to the next. */
static size_t made_stride(const struct device_samples *samples, uint32_t width)
{
    const bool joined = samples->packing == PACKING_PIXELS;
    const size_t cells = joined ? width * made_channels(samples) : width;
    const size_t size = cells * cell_size(samples->cell);
    return samples->packing == PACKING_ROWS
               ? (size + IMAGE_STRIDE - 1) / IMAGE_STRIDE * IMAGE_STRIDE
               : size;
}

/* Returns how many planes they have: one of rows of pixels, or all. */
static unsigned made_planes(const struct device_samples *samples)
{
    return samples->packing == PACKING_PIXELS ? 1 : made_channels(samples);
}

static void set_turned(struct image *img, enum xform t)
{
    const uint32_t width = img->width;
    img->turned = t;
    if (!xform_transposes(t))
        return;
    img->width = img->height;
    img->height = width;
}

void scan_turner_shape(struct image *img, enum xform t,
                       const struct device_samples *samples,
                       struct scan_pixels *made)
{
    set_turned(img, t);
    img->pixels = (struct pixels){ .kind = PIXELS_DEVICE, .device = *samples };
    const size_t stride = made_stride(samples, img->width);
    *made = (struct scan_pixels){
        .channels = made_channels(samples),
        .joined = samples->packing == PACKING_PIXELS,
        .cell = samples->cell,
        .width = img->width,
        .height = img->height,
        .stride = stride,
        .size = stride * img->height * made_planes(samples),
    };
}

bool scan_turner_offer(const struct scan_turner *turner, struct image *img,
                       const struct scan_turn *picture,
                       const struct device_samples *samples)
{
    struct scan_turn one = *picture;
    struct image made = *img;
    struct scan_pixels pixels;
    if (samples) {
        scan_turner_shape(&made, one.turn, samples, &pixels);
        one.pixels = &pixels;
    } else {
        set_turned(&made, one.turn);
        made.pixels.kind = PIXELS_CODED;
    }
    const struct bytes *turned = turner->begin_idat(turner->context, &one);
    if (!turned)
        return false;
    *(samples ? &made.pixels.device.bytes : &made.pixels.coded) = turned;
    *img = made;
    return true;
}

void scan_turner_take_samples(struct image *img)
{
    const struct device_samples *made = &img->pixels.device;
    if (img->pixels.kind != PIXELS_DEVICE)
        return;
    for (unsigned i = 0; i < made_planes(made); i++) {
        struct plane *plane = &img->plane[i];
        plane->stride = made_stride(made, img->width);
        plane->data = made->bytes->data + i * plane->stride * img->height;
        plane->width = img->width;
        plane->height = img->height;
    }
}

bool scan_turner_has_samples(const struct image *img, enum packing packing)
{
    if (img->pixels.kind != PIXELS_DEVICE)
        return false;
    const enum packing made = img->pixels.device.packing;
    return made != PACKING_ROWS &&
           (made == packing || made_channels(&img->pixels.device) == 1);
}

int scan_turner_append_samples(struct bytes *file, const struct image *img,
                               struct err *err)
{
    const struct bytes *samples = img->pixels.device.bytes;
    const size_t lead = file->size;
    if (lead > IMAGE_LEAD)
        return bytes_append(file, samples->data, samples->size)
                   ? 0
                   : fail_memory(err, "no memory for the file");
    uint8_t *begin = samples->data - lead;
    memcpy(begin, file->data, lead);
    bytes_free(file);
    *file = (struct bytes){ .data = begin, .size = lead + samples->size };
    return 0;
}
