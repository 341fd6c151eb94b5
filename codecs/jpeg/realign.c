/* From coefficients to samples, and back from where these are moved to. */
#include "codecs/jpeg/realign.h"

#include <string.h>

#include "codecs/base/page_cache.h"
#include "codecs/jpeg/parameters.h"
#include "codecs/jpeg/samples.h"

enum { SIDE = 8 };

/* How a component is moved. */
struct move {
    uint32_t right, down; /* by how many samples, below 8 */
    uint8_t *memory;      /* of them; rows and columns go on by a block */
};

/* Returns how many samples of the last block lie beyond the picture, which has
 * `pixels` and `factor` of `most` samples for each. */
static uint32_t padding(uint32_t pixels, unsigned factor, unsigned most)
{
    return -entropy_divide_up((uint64_t)pixels * factor, most) % SIDE;
}

static void find_moves(struct move move[COMPONENTS], const struct image *img,
                       enum xform turn)
{
    const struct jpeg_parameters *p = parameters_of(img->meta);
    unsigned across, down;
    parameters_most(p, &across, &down);
    for (unsigned i = 0; i < img->nplanes; i++) {
        if (xform_reverses_x(turn))
            move[i].right = padding(img->width, p->across[i], across);
        if (xform_reverses_y(turn))
            move[i].down = padding(img->height, p->down[i], down);
    }
}

/* Sets the samples of a component where it is moved to. */
static int begin(struct samples *s, struct move *m, const struct image *img,
                 unsigned i, struct err *err)
{
    const struct jpeg_parameters *p = parameters_of(img->meta);
    const struct plane *blocks = &img->plane[i];
    s->wanted = m->right || m->down;
    if (!s->wanted)
        return 0;
    s->transposed = xform_transposes(img->turned);
    memcpy(s->step, p->step[p->table[i]], sizeof s->step);
    s->rounding = samples_rounding(s->step, false);
    s->plane = (struct plane){ .stride = SIDE * ((size_t)blocks->width + 1),
                               .width = SIDE * blocks->width,
                               .height = SIDE * blocks->height };
    m->memory = page_cache_alloc(s->plane.stride *
                                 (SIDE * ((size_t)blocks->height + 1)));
    if (!m->memory)
        return fail_memory(err, "no memory for the samples of a component");
    s->plane.data = m->memory + s->plane.stride * m->down + m->right;
    return 0;
}

/* What is moved in repeats the edge. Blocks begin there now. */
static void repeat_edges(struct samples *s, const struct move *m)
{
    uint8_t *first = s->plane.data - m->right, *row = first;
    for (size_t y = 0; m->right && y < s->plane.height; y++) {
        memset(row, row[m->right], m->right);
        row += s->plane.stride;
    }
    for (uint32_t y = 0; y < m->down; y++)
        memcpy(m->memory + s->plane.stride * y, first, s->plane.stride);
    s->plane.data = m->memory;
}

int realign_image(const struct image *img, enum xform turn,
                  struct thread_pool *pool, struct err *err)
{
    const struct block_holder blocks = { img, parameters_of(img->meta)->coded };
    struct move move[COMPONENTS] = { { 0 } };
    struct samples samples[COMPONENTS] = { { .wanted = false } };
    int status = 0;
    find_moves(move, img, turn);
    for (unsigned i = 0; status == 0 && i < img->nplanes; i++)
        status = begin(&samples[i], &move[i], img, i, err);
    if (status == 0) {
        samples_decode(samples, &blocks, pool);
        for (unsigned i = 0; i < img->nplanes; i++)
            if (samples[i].wanted)
                repeat_edges(&samples[i], &move[i]);
        status = samples_encode(samples, &blocks, pool, err);
        parameters_of(img->meta)->realigned = true;
    }
    for (unsigned i = 0; i < img->nplanes; i++)
        page_cache_free(move[i].memory);
    return status;
}
