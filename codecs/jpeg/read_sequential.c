/* Sequential files with Huffman codes, read without libjpeg. */
#include "codecs/jpeg/read_sequential.h"

#include "codecs/base/memory.h"
#include "codecs/image/row_sink.h"
#include "codecs/jpeg/entropy/sequential.h"
#include "codecs/jpeg/offer.h"
#include "codecs/jpeg/parameters.h"
#include "codecs/jpeg/pixels.h"

/* Finds what a device is to turn. Returns false if that is not to be. */
static bool find(struct jpeg_parameters *p, struct bytes file,
                 const struct decode_plan *plan, size_t *end)
{
    struct err why;
    if (!plan->scan_turner)
        return false;
    p->turned = memory_alloc_zeroed(1, sizeof *p->turned);
    return p->turned && sequential_find(p->coded, file, end, &why) == 0;
}

/* Has coefficients turned where they are not decoded here. Returns the same. */
static bool offer(struct jpeg_parameters *p, struct bytes file,
                  const struct decode_plan *plan, size_t *end)
{
    if (!find(p, file, plan, end))
        return false;
    if (plan->width && plan->height)
        sequential_trim(p->coded, plan->width, plan->height);
    return offer_picture(p, plan);
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
    p->coded = memory_alloc_zeroed(1, sizeof *p->coded);
    if (!p->coded) {
        fail_memory(err, "no memory for the decoder");
        return SEQUENTIAL_FAILED;
    }
    if (offer(p, file, plan, &end)) {
        img->turned = plan->turn;
    } else {
        memory_free(p->turned);
        p->turned = NULL;
        verdict = decode(img, file, plan, opts, &end, err);
    }
    *behind = file.size - end;
    return verdict;
}

/* ---- Pixels -------------------------------------------------------------- */

static enum sequential_verdict
make_pixels(struct image *img, const struct sequential *s, bool to_rgb,
            const struct decode_plan *plan, const struct load_opts *opts,
            struct err *err)
{
    const struct image stored = *img;
    struct row_sink rows;
    bool exact = false;
    int status =
        row_sink_open(&rows, img, plan->turn, plan->turner, opts->mem, err);
    if (status == 0)
        status = pixels_read(&rows, s, to_rgb, &exact, opts->pool, err);
    row_sink_close(&rows);
    if (status)
        return SEQUENTIAL_FAILED;
    if (exact)
        return SEQUENTIAL_READ;
    image_free_cells(img);
    *img = stored;
    return SEQUENTIAL_OTHER;
}

enum sequential_verdict
read_sequential_elsewhere(struct image *img, struct bytes file, bool to_rgb,
                          const struct decode_plan *plan,
                          const struct load_opts *opts, size_t *behind,
                          struct err *err)
{
    struct jpeg_parameters *p = parameters_of(img->meta);
    size_t end;
    if (!plan->scan_turner)
        return SEQUENTIAL_OTHER;
    if (check_limits(img, opts, false, err))
        return SEQUENTIAL_FAILED;
    p->coded = memory_alloc_zeroed(1, sizeof *p->coded);
    if (p->coded && find(p, file, plan, &end) &&
        offer_samples(img, to_rgb, plan)) {
        *behind = file.size - end;
        return SEQUENTIAL_READ;
    }
    parameters_forget_coded(p);
    return SEQUENTIAL_OTHER;
}

enum sequential_verdict read_sequential_pixels(struct image *img,
                                               struct bytes file, bool to_rgb,
                                               const struct decode_plan *plan,
                                               const struct load_opts *opts,
                                               size_t *behind, struct err *err)
{
    struct sequential s = { 0 };
    struct err why = { .memory = false };
    enum sequential_verdict verdict = SEQUENTIAL_OTHER;
    size_t end;
    if (check_limits(img, opts, true, err))
        return SEQUENTIAL_FAILED;
    if (sequential_read(&s, file, false, opts->pool, &end, &why) == 0) {
        *behind = file.size - end;
        if (pixels_suit(&s))
            verdict = make_pixels(img, &s, to_rgb, plan, opts, err);
    } else if (why.memory) {
        *err = why;
        verdict = SEQUENTIAL_FAILED;
    }
    sequential_free(&s);
    return verdict;
}
