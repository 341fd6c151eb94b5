/* How a picture is divided into MCUs. */
#include "codecs/jpeg/mcus.h"

enum {
#ifdef FUZZING
    BLOCKS_MIN = 4, /* pictures are small then, and must have strips */
#else
    BLOCKS_MIN = 4096, /* of a strip: a third of a millisecond */
#endif
    STRIPS_EACH = 4, /* for each thread: not all strips take the same time */
};

static uint32_t divide_up(uint64_t a, uint32_t b)
{
    return (uint32_t)((a + b - 1) / b);
}

uint32_t mcus_common_divisor(uint32_t a, uint32_t b)
{
    while (b) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* A component by itself is coded block by block, whatever its sampling. */
bool mcus_of(struct mcus *m, const jpeg_component_info *info, int components,
             uint32_t width, uint32_t height)
{
    uint32_t most_across = 1, most_down = 1;
    if (components < 1 || components > COEFFICIENT_ARRAYS)
        return false;
    *m = (struct mcus){ .components = (unsigned)components };
    for (unsigned i = 0; i < m->components; i++) {
        m->across[i] = components > 1 ? (uint32_t)info[i].h_samp_factor : 1;
        m->down[i] = components > 1 ? (uint32_t)info[i].v_samp_factor : 1;
        if (m->across[i] > most_across)
            most_across = m->across[i];
        if (m->down[i] > most_down)
            most_down = m->down[i];
    }
    m->wide = DCTSIZE * most_across;
    m->high = DCTSIZE * most_down;
    m->columns = divide_up(width, m->wide);
    m->rows = divide_up(height, m->high);
    return true;
}

uint32_t mcus_blocks(const struct mcus *m)
{
    uint32_t blocks = 0;
    for (unsigned i = 0; i < m->components; i++)
        blocks += m->across[i] * m->down[i];
    return blocks;
}

void mcus_shape(const struct mcus *m, struct image *img)
{
    for (unsigned i = 0; i < m->components; i++) {
        img->plane[i].width =
            divide_up((uint64_t)img->width * m->across[i], m->wide);
        img->plane[i].height =
            divide_up((uint64_t)img->height * m->down[i], m->high);
    }
}

size_t mcus_share(const struct mcus *m, const struct thread_pool *pool,
                  uint32_t *per)
{
    uint64_t blocks = (uint64_t)m->columns * m->rows * mcus_blocks(m);
    uint64_t strips = STRIPS_EACH * (uint64_t)thread_pool_threads(pool);
    *per = m->rows;
    if (strips > blocks / BLOCKS_MIN)
        strips = blocks / BLOCKS_MIN;
    if (strips > m->rows)
        strips = m->rows;
    if (strips < 2 || thread_pool_threads(pool) < 2)
        return 1;
    *per = divide_up(m->rows, (uint32_t)strips);
    return divide_up(m->rows, *per);
}

void mcus_strip(const struct mcus *m, uint32_t per, size_t i, uint32_t *first,
                uint32_t *end)
{
    *first = (uint32_t)i * per;
    *end = m->rows - *first < per ? m->rows : *first + per;
}
