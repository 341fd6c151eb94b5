/* The plan of the pictures of a batch that become samples. */
#include "cuda/jpeg/pixels_plan.h"

#include <string.h>

static uint32_t tiles_of(uint32_t size)
{
    return (size + PIXELS_SIDE - 1) / PIXELS_SIDE;
}

uint32_t pixels_plan_count(const struct pixels_plan *plan)
{
    return (uint32_t)(plan->pictures.size / sizeof(struct pixels_picture));
}

const struct pixels_picture *pixels_plan_picture(const struct pixels_plan *plan,
                                                 uint32_t i)
{
    return (const struct pixels_picture *)(const void *)plan->pictures.data + i;
}

/* Samples begin at a multiple of IMAGE_STRIDE, behind room for a header. */
static uint64_t place(uint64_t end)
{
    return (end + IMAGE_STRIDE - 1) / IMAGE_STRIDE * IMAGE_STRIDE + IMAGE_LEAD;
}

bool pixels_plan_add(struct pixels_plan *plan, uint32_t picture,
                     uint32_t component, const struct scan_pixels *pixels,
                     enum xform turn)
{
    const size_t cell = cell_size(pixels->cell);
    struct pixels_picture one = {
        .picture = picture,
        .component = component,
        .tile = plan->tiles,
        .columns = tiles_of(pixels->width),
        .width = pixels->width,
        .height = pixels->height,
        .out = place(plan->bytes),
        .x_step = pixels->joined ? cell * pixels->channels : cell,
        .y_step = pixels->stride,
        .channel_step =
            pixels->joined ? cell : (uint64_t)pixels->stride * pixels->height,
        .channels = (uint8_t)pixels->channels,
        .turn = (uint8_t)turn,
        .to_rgb = pixels->to_rgb,
        .joined = pixels->joined,
        .floats = pixels->cell == CELL_F32,
    };
    memcpy(one.upsampling, pixels->upsampling, sizeof one.upsampling);
    plan->tiles += one.columns * tiles_of(one.height);
    plan->bytes = one.out + pixels->size;
    return bytes_append(&plan->pictures, &one, sizeof one);
}

void pixels_plan_tiles(const struct pixels_plan *plan, uint32_t *tile)
{
    for (uint32_t i = 0; i < pixels_plan_count(plan); i++) {
        const struct pixels_picture *one = pixels_plan_picture(plan, i);
        for (uint32_t n = one->columns * tiles_of(one->height); n; n--)
            *tile++ = i;
    }
}

void pixels_plan_free(struct pixels_plan *plan)
{
    bytes_free(&plan->pictures);
    *plan = (struct pixels_plan){ .tiles = 0 };
}
