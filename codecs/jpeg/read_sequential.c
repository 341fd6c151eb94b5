/* Sequential files with Huffman codes, read without libjpeg. */
#include "codecs/jpeg/read_sequential.h"

#include <string.h>

#include "codecs/base/memory.h"
#include "codecs/image/row_sink.h"
#include "codecs/jpeg/arithmetic.h"
#include "codecs/jpeg/entropy/sequential.h"
#include "codecs/jpeg/parameters.h"
#include "codecs/jpeg/pixels.h"

/* ---- Pictures for a device ----------------------------------------------- */

enum { SIDE = 8 };

/* ---- Components ---------------------------------------------------------- */

/* Sets the steps of component i, before and after the turn. Returns false if
 * one is too long for a device. */
static bool set_steps(struct scan_samples *to, const struct sequential *s,
                      unsigned i, bool exchanges)
{
    bool fit = true;
    to->number = (uint8_t)i;
    to->table = s->component[i].quantization;
    memcpy(to->step, s->steps[to->table], sizeof to->step);
    for (unsigned k = 0; k < 64; k++) {
        to->to_step[k] = to->step[exchanges ? entropy_exchange(k) : k];
        fit = fit && to->step[k] <= SCAN_STEP_MAX;
    }
    return fit;
}

/* A component whose blocks are moved, as realign_image() moves them. */
static bool set_moved(struct scan_samples *to, const struct sequential *s,
                      const struct entropy_component *blocks, unsigned i,
                      const struct jpeg_parameters *p, enum xform turn)
{
    unsigned across, down;
    parameters_most(p, &across, &down);
    const uint32_t width =
        entropy_divide_up((uint64_t)s->width * p->across[i], across);
    const uint32_t height =
        entropy_divide_up((uint64_t)s->height * p->down[i], down);
    *to = (struct scan_samples){ .width = SIDE * blocks->columns,
                                 .height = SIDE * blocks->rows };
    if (xform_reverses_x(turn))
        to->right = (uint32_t)(-width % SIDE);
    if (xform_reverses_y(turn))
        to->down = (uint32_t)(-height % SIDE);
    to->wanted = to->right || to->down;
    return !to->wanted || set_steps(to, s, i, false);
}

/* A component of which `factor` / `most` samples a pixel are stored, and that
 * gets `size` of them for `pixels`. */
static struct chroma_axis axis_of(uint32_t pixels, unsigned factor,
                                  unsigned most, uint32_t size, bool smooth)
{
    struct chroma_axis axis = {
        entropy_divide_up((uint64_t)pixels * factor, most), factor, most, smooth
    };
    if (axis.count >= size)
        axis.factor = 0;
    return axis;
}

/* A component all of which is made anew. */
static bool set_anew(struct scan_samples *to, const struct sequential *s,
                     unsigned i, const struct jpeg_parameters *p,
                     enum xform turn)
{
    const struct sequential_component *from = &s->component[i];
    unsigned across, down, most_x, most_y;
    struct upsampling u;
    parameters_most(p, &across, &down);
    sequential_most(s, &most_x, &most_y);
    const bool smooth = upsample_set(&u, s->width, s->height, from->across,
                                     from->down, most_x, most_y) &&
                        upsample_is_smooth(&u);
    *to =
        (struct scan_samples){ .wanted = true, .refines = true, .turn = turn };
    to->width = entropy_divide_up((uint64_t)s->width * p->across[i], across);
    to->height = entropy_divide_up((uint64_t)s->height * p->down[i], down);
    to->x = axis_of(s->width, from->across, most_x, to->width, smooth);
    to->y = axis_of(s->height, from->down, most_y, to->height, smooth);
    return set_steps(to, s, i, xform_transposes(turn));
}

/* ---- Pictures ------------------------------------------------------------ */

/* Whether a component has the tables of chroma, as libjpeg chooses them. */
static bool is_chroma(int space, unsigned i)
{
    return (space == JCS_YCbCr || space == JCS_YCCK) && (i == 1 || i == 2);
}

/* Sets what a picture becomes all of whose components are made anew, as
 * parameters_set() does. */
static void set_picture(struct sequential *to, const struct sequential *from,
                        const struct jpeg_parameters *p, enum xform turn)
{
    const bool exchanges = xform_transposes(turn);
    struct entropy_scan *scan = &to->scan[0].coding;
    *to = (struct sequential){
        .frame = p->extended ? MARKER_SOF1 : MARKER_SOF0,
        .width = exchanges ? from->height : from->width,
        .height = exchanges ? from->width : from->height,
        .components = from->components,
        .scans = 1,
    };
    memcpy(to->scan[0].component, from->scan[0].component,
           sizeof to->scan[0].component);
    for (unsigned i = 0; i < to->components; i++) {
        const uint8_t table = from->component[i].quantization;
        to->component[i] = (struct sequential_component){
            p->ids[i],
            exchanges ? p->down[i] : p->across[i],
            exchanges ? p->across[i] : p->down[i],
            table,
        };
        for (unsigned k = 0; k < 64; k++)
            to->steps[table][k] =
                from->steps[table][exchanges ? entropy_exchange(k) : k];
    }
    scan->components = to->components;
    for (unsigned c = 0; c < scan->components; c++)
        scan->component[c].dc = scan->component[c].ac =
            is_chroma(p->space, to->scan[0].component[c]);
    sequential_set_sizes(to);
    scan->restart = sequential_restart(p->restart, p->columns, scan->columns);
}

/* Offers all scans to become those of turned->to. Of some `samples` are made,
 * and if that is all of them, `anew`, they get new Huffman tables. */
static bool offer_scans(struct sequential_turned *turned,
                        const struct sequential *from, enum xform turn,
                        bool samples, bool anew,
                        const struct scan_turner *turner)
{
    struct sequential *to = &turned->to;
    for (unsigned i = 0; i < to->scans; i++) {
        if (turner->no_restart)
            to->scan[i].coding.restart = 0;
        turned->scan[i] = (struct scan_turn){
            .from = &from->scan[i].coding,
            .to = &to->scan[i].coding,
            .turn = turn,
            .optimize = anew || turner->optimize,
            .samples = samples ? turned->samples[i] : NULL,
            .coded = from->scan[i].data,
        };
    }
    return turner->begin(turner->context, turned->scan, to->scans);
}

static bool offer_blocks(const struct jpeg_parameters *p, enum xform turn,
                         const struct scan_turner *turner)
{
    sequential_turn(&p->turned->to, p->coded, turn);
    return offer_scans(p->turned, p->coded, turn, false, false, turner);
}

static bool offer_realigned(const struct jpeg_parameters *p, enum xform turn,
                            const struct scan_turner *turner)
{
    struct sequential_turned *turned = p->turned;
    const struct sequential *s = p->coded;
    bool suit = true;
    for (unsigned i = 0; i < s->scans; i++)
        for (unsigned c = 0; c < s->scan[i].coding.components; c++)
            suit = set_moved(&turned->samples[i][c], s,
                             &s->scan[i].coding.component[c],
                             s->scan[i].component[c], p, turn) &&
                   suit;
    sequential_turn(&turned->to, s, turn);
    return suit && offer_scans(turned, s, turn, true, false, turner);
}

/* Components that share a table have one cap, so all must be in one scan. */
static bool offer_anew(const struct jpeg_parameters *p, enum xform turn,
                       const struct scan_turner *turner)
{
    struct sequential_turned *turned = p->turned;
    const struct sequential *s = p->coded;
    const struct entropy_scan *scan = &s->scan[0].coding;
    bool suit = s->scans == 1 && scan->components == s->components &&
                scan->restart == p->restart;
    for (unsigned c = 0; suit && c < scan->components; c++)
        suit = set_anew(&turned->samples[0][c], s, s->scan[0].component[c], p,
                        turn);
    if (!suit)
        return false;
    set_picture(&turned->to, s, p, turn);
    return entropy_mcu_blocks(&turned->to.scan[0].coding) <=
               ENTROPY_MCU_BLOCKS &&
           offer_scans(turned, s, turn, true, true, turner);
}

bool offer_picture(const struct jpeg_parameters *p,
                   const struct decode_plan *plan)
{
    const struct scan_turner *turner = plan->scan_turner;
    if (plan->representation == REPRESENTATION_COEFFICIENTS)
        return offer_blocks(p, plan->turn, turner);
    if (plan->representation == REPRESENTATION_SAMPLES || !turner->samples)
        return false;
    return plan->representation == REPRESENTATION_PLANES
               ? offer_anew(p, plan->turn, turner)
               : offer_realigned(p, plan->turn, turner);
}

/* ---- Samples ------------------------------------------------------------- */

/* Gives the picture the shape that it has after the turn. */
static void shape_turned(struct image *img, enum xform turn)
{
    const uint32_t width = img->width;
    img->turned = turn;
    if (xform_transposes(turn)) {
        img->width = img->height;
        img->height = width;
    }
    for (unsigned i = 0; i < img->nplanes; i++) {
        img->plane[i].width = img->width;
        img->plane[i].height = img->height;
    }
}

/* Sets what becomes of a picture whose samples are those of pixels.h. Returns
 * false if it does not suit. */
static bool set_pixels(struct sequential_turned *turned,
                       const struct sequential *s, const struct image *img,
                       bool to_rgb)
{
    struct scan_pixels *pixels = &turned->pixels;
    const struct sequential_scan *scan = &s->scan[0];
    bool suit = s->scans == 1 && scan->coding.components == s->components &&
                (s->components == 1 || s->components == 3) && pixels_suit(s);
    *pixels = (struct scan_pixels){
        .channels = s->components,
        .to_rgb = to_rgb && s->components == 3,
        .joined = img->made.packing == PACKING_PIXELS,
        .cell = img->made.cell,
        .width = img->width,
        .height = img->height,
        .stride = image_made_stride(img),
        .size = image_made_size(img),
    };
    for (unsigned c = 0; suit && c < s->components; c++) {
        const unsigned i = scan->component[c];
        struct scan_samples *samples = &turned->samples[0][c];
        *samples = (struct scan_samples){ .wanted = true };
        suit = i == c && set_steps(samples, s, i, false);
        pixels_upsampling(&pixels->upsampling[c], s, i);
    }
    return suit;
}

bool offer_samples(struct image *img, bool to_rgb,
                   const struct decode_plan *plan)
{
    const struct scan_turner *turner = plan->scan_turner;
    const struct jpeg_parameters *p = parameters_of(img->meta);
    struct sequential_turned *turned = p->turned;
    struct image made = *img;
    shape_turned(&made, plan->turn);
    made.made = (struct made_samples){ &turned->scan[0].turned, plan->packing,
                                       plan->cell };
    if (!turner->samples || !set_pixels(turned, p->coded, &made, to_rgb))
        return false;
    turned->scan[0] = (struct scan_turn){
        .from = &p->coded->scan[0].coding,
        .turn = plan->turn,
        .samples = turned->samples[0],
        .pixels = &turned->pixels,
        .coded = p->coded->scan[0].data,
    };
    if (!turner->begin(turner->context, turned->scan, 1))
        return false;
    *img = made;
    return true;
}

/* ---- Files --------------------------------------------------------------- */

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
