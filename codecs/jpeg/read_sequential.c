/* Sequential files with Huffman codes, read without libjpeg. */
#include "codecs/jpeg/read_sequential.h"

#include <stdlib.h>

#include "codecs/jpeg/entropy/sequential.h"
#include "codecs/jpeg/parameters.h"

/* Has coefficients turned where they are not decoded here. Returns false if
 * that is not to be. */
static bool offer(struct jpeg_parameters *p, struct bytes file,
                  const struct decode_plan *plan, size_t *end)
{
    struct err why;
    if (!plan->scan_turner ||
        plan->representation != REPRESENTATION_COEFFICIENTS)
        return false;
    p->turned = calloc(1, sizeof *p->turned);
    if (!p->turned || sequential_find(p->coded, file, end, &why))
        return false;
    if (plan->width && plan->height)
        sequential_trim(p->coded, plan->width, plan->height);
    return sequential_offer(p->turned, p->coded, plan->turn, plan->scan_turner);
}

/* Their memory is not needed where they are turned elsewhere. */
static int check_limits(const struct image *img, const struct load_opts *opts,
                        bool reserve, struct err *err)
{
    struct limits limits = opts->limits;
    if (!reserve)
        limits.reserve = NULL;
    return image_check_planes(img, &limits, err);
}

static int give_planes(struct image *img, struct sequential *coded,
                       const struct load_opts *opts, struct err *err)
{
    if (image_alloc(img, opts->mem, err))
        return -1;
    sequential_give_planes(coded, img, opts->pool);
    for (unsigned i = 0; i < coded->scans; i++)
        entropy_blocks_free(&coded->scan[i].blocks);
    return 0;
}

static enum sequential_verdict decode(struct image *img, struct bytes file,
                                      const struct decode_plan *plan,
                                      const struct load_opts *opts, size_t *end,
                                      struct err *err)
{
    struct jpeg_parameters *p = parameters_of(img->meta);
    const bool planes = plan->representation == REPRESENTATION_PLANES,
               fused = plan->turner && !planes;
    const enum xform turn = fused ? plan->turn : XFORM_NONE;
    struct err why = { .memory = false };
    if (check_limits(img, opts, true, err))
        return SEQUENTIAL_FAILED;
    if (sequential_read(p->coded, file, xform_transposes(turn), opts->pool, end,
                        &why)) {
        parameters_forget_coded(p);
        if (why.memory)
            *err = why;
        return why.memory ? SEQUENTIAL_FAILED : SEQUENTIAL_OTHER;
    }
    img->turned = turn;
    return fused || planes || give_planes(img, p->coded, opts, err) == 0
               ? SEQUENTIAL_READ
               : SEQUENTIAL_FAILED;
}

enum sequential_verdict read_sequential(struct image *img, struct bytes file,
                                        const struct decode_plan *plan,
                                        const struct load_opts *opts,
                                        size_t *behind, struct err *err)
{
    struct jpeg_parameters *p = parameters_of(img->meta);
    enum sequential_verdict verdict = SEQUENTIAL_READ;
    size_t end = file.size;
    if (check_limits(img, opts, false, err))
        return SEQUENTIAL_FAILED;
    p->coded = calloc(1, sizeof *p->coded);
    if (!p->coded) {
        fail_memory(err, "no memory for the decoder");
        return SEQUENTIAL_FAILED;
    }
    if (offer(p, file, plan, &end)) {
        img->turned = plan->turn;
    } else {
        free(p->turned);
        p->turned = NULL;
        verdict = decode(img, file, plan, opts, &end, err);
    }
    *behind = file.size - end;
    return verdict;
}
