/* Sequential files with Huffman codes, read without libjpeg. */
#include "codecs/jpeg/read_sequential.h"

#include <string.h>

#include "codecs/base/memory.h"
#include "codecs/image/rows.h"
#include "codecs/jpeg/arithmetic.h"
#include "codecs/jpeg/entropy/sequential.h"
#include "codecs/jpeg/parameters.h"

enum { SIDE = 8 };

/* ---- Coefficients for a device ------------------------------------------- */

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

/* A component of which `factor` / `most` samples a pixel are stored, and that
 * gets `size` of them for `pixels`. */
static struct chroma_axis axis_of(uint32_t pixels, unsigned factor,
                                  unsigned most, uint32_t size, bool smooth)
{
    struct chroma_axis axis = { entropy_samples(pixels, factor, most), factor,
                                most, smooth };
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
    const struct sampling own = { from->across, from->down };
    unsigned across, down;
    struct sampling most;
    struct upsampling u;
    entropy_most(p->component, COMPONENTS, &across, &down);
    entropy_most(s->component, s->components, &most.across, &most.down);
    const bool smooth = upsample_set(&u, s->width, s->height, own, most) &&
                        upsample_is_smooth(&u);
    *to =
        (struct scan_samples){ .wanted = true, .refines = true, .turn = turn };
    to->width = entropy_samples(s->width, p->component[i].across, across);
    to->height = entropy_samples(s->height, p->component[i].down, down);
    to->x = axis_of(s->width, from->across, most.across, to->width, smooth);
    to->y = axis_of(s->height, from->down, most.down, to->height, smooth);
    return set_steps(to, s, i, xform_transposes(turn));
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

/* Offers a picture whose blocks stay as they are, or with `moves`, are moved
 * where samples_realign() moves them. */
static bool offer_blocks(const struct jpeg_parameters *p, enum xform turn,
                         bool moves, const struct scan_turner *turner)
{
    struct sequential_turned *turned = p->turned;
    const struct sequential *s = p->coded;
    unsigned moved = 0, divisor[4];
    bool suit = true;
    sequential_turn(&turned->to, s, turn);
    for (unsigned i = 0; moves && i < s->components; i++) {
        const struct parameters_move move =
            parameters_move(p, i, s->width, s->height, turn);
        moved |= move.right || move.down ? 1u << i : 0;
    }
    parameters_refine(turned->to.steps, divisor, s->component, moved,
                      (uint64_t)s->width * s->height);
    for (unsigned n = 0; moves && n < s->scans; n++)
        for (unsigned c = 0; c < s->scan[n].coding.components; c++) {
            const struct entropy_component *blocks =
                &s->scan[n].coding.component[c];
            const unsigned i = s->scan[n].component[c];
            const struct parameters_move move =
                parameters_move(p, i, s->width, s->height, turn);
            struct scan_samples *to = &turned->samples[n][c];
            *to = (struct scan_samples){ .wanted = moved >> i & 1,
                                         .width = SIDE * blocks->columns,
                                         .height = SIDE * blocks->rows,
                                         .right = move.right,
                                         .down = move.down };
            suit = (!to->wanted || set_steps(to, s, i, false)) && suit;
            for (unsigned k = 0; k < 64; k++)
                to->to_step[k] =
                    requantize_finer(to->to_step[k], divisor[to->table]);
        }
    return suit && offer_scans(turned, s, turn, moves, false, turner);
}

/* Offers a picture all of whose components are made anew, to become what
 * parameters_set() says. Components that share a table have one cap, so all
 * must be in one scan. */
static bool offer_anew(const struct jpeg_parameters *p, enum xform turn,
                       const struct scan_turner *turner)
{
    struct sequential_turned *turned = p->turned;
    struct sequential *to = &turned->to;
    const struct sequential *s = p->coded;
    const bool exchanges = xform_transposes(turn),
               colored = p->space == JCS_YCbCr || p->space == JCS_YCCK;
    struct entropy_scan *scan = &to->scan[0].coding;
    sequential_turn(to, s, turn);
    bool suit = s->scans == 1 && scan->components == s->components &&
                s->scan[0].coding.restart == p->restart;
    for (unsigned c = 0; suit && c < scan->components; c++) {
        const unsigned i = s->scan[0].component[c];
        suit = set_anew(&turned->samples[0][c], s, i, p, turn);
        to->component[i].across =
            exchanges ? p->component[i].down : p->component[i].across;
        to->component[i].down =
            exchanges ? p->component[i].across : p->component[i].down;
        /* The tables of chroma are as libjpeg chooses them. */
        scan->component[c].dc = scan->component[c].ac =
            colored && (i == 1 || i == 2);
    }
    sequential_set_sizes(to);
    scan->restart = sequential_restart(p->restart, p->columns, scan->columns);
    return suit && entropy_mcu_blocks(scan) <= ENTROPY_MCU_BLOCKS &&
           offer_scans(turned, s, turn, true, true, turner);
}

bool read_sequential_offer(const struct jpeg_parameters *p,
                           const struct decode_plan *plan)
{
    const struct scan_turner *turner = plan->scan_turner;
    if (plan->representation == REPRESENTATION_COEFFICIENTS)
        return offer_blocks(p, plan->turn, false, turner);
    if (!turner->samples)
        return false;
    return plan->representation == REPRESENTATION_PLANES
               ? offer_anew(p, plan->turn, turner)
               : offer_blocks(p, plan->turn, true, turner);
}

/* ---- Samples for a device ------------------------------------------------ */

/* Offers a picture of one scan, which is to become samples, those of pixels.c:
 * the plan says how they are packed. Returns whether it is turned there: then
 * img has its shape after the turn, and its pixels are PIXELS_DEVICE. */
static bool offer_samples(struct image *img, bool to_rgb,
                          const struct decode_plan *plan)
{
    const struct scan_turner *turner = plan->scan_turner;
    const struct jpeg_parameters *p = parameters_of(img->meta);
    const struct sequential *s = p->coded;
    const struct sequential_scan *scan = &s->scan[0];
    struct sequential_turned *turned = p->turned;
    struct scan_pixels *pixels = &turned->pixels;
    const struct device_samples samples = { &turned->scan[0].turned,
                                            plan->packing, plan->cell,
                                            img->color, false };
    struct image made = *img;
    bool suit = turner->samples && s->scans == 1 &&
                scan->coding.components == s->components &&
                (s->components == 1 || s->components == 3) && pixels_suit(s);
    scan_turner_shape(&made, plan->turn, &samples, pixels);
    pixels->to_rgb = to_rgb && s->components == 3;
    pixels->upsampling = turned->upsampling;
    for (unsigned c = 0; suit && c < s->components; c++) {
        struct scan_samples *of = &turned->samples[0][c];
        *of = (struct scan_samples){ .wanted = true };
        suit = scan->component[c] == c && set_steps(of, s, c, false);
        pixels_upsampling(&turned->upsampling[c], s, c);
    }
    turned->scan[0] = (struct scan_turn){
        .from = &scan->coding,
        .turn = plan->turn,
        .samples = turned->samples[0],
        .pixels = pixels,
        .coded = scan->data,
    };
    if (!suit || !turner->begin(turner->context, turned->scan, 1))
        return false;
    *img = made;
    return true;
}

/* ---- Files --------------------------------------------------------------- */

/* Their memory is not needed where they are turned elsewhere. */
static int check_limits(const struct sequential_reading *r, bool reserve,
                        struct err *err)
{
    struct limits limits = r->opts->limits;
    if (!reserve)
        limits.reserve = NULL;
    return image_check_planes(r->img, &limits, err);
}

/* Offers the picture to the device of the plan, which turns it if it suits. */
static bool offer(struct sequential_reading *r)
{
    struct jpeg_parameters *p = parameters_of(r->img->meta);
    const struct decode_plan *plan = r->plan;
    struct err why;
    size_t end;
    if (!plan->scan_turner)
        return false;
    p->turned = memory_alloc_zeroed(1, sizeof *p->turned);
    bool offered =
        p->turned && sequential_find(p->coded, r->file, &end, &why) == 0;
    if (offered && plan->width && plan->height)
        sequential_trim(p->coded, plan->width, plan->height);
    if (offered && plan->representation == REPRESENTATION_SAMPLES) {
        offered = offer_samples(r->img, r->to_rgb, plan);
    } else if (offered && (offered = read_sequential_offer(p, plan))) {
        r->img->turned = plan->turn;
        r->img->pixels.kind = PIXELS_CODED;
    }
    if (offered) {
        r->behind = r->file.size - end;
        return true;
    }
    memory_free(p->turned);
    p->turned = NULL;
    return false;
}

static enum sequential_verdict make_pixels(const struct sequential_reading *r,
                                           struct err *err)
{
    const struct image stored = *r->img;
    const struct sequential *s = parameters_of(stored.meta)->coded;
    struct row_sink rows;
    bool exact = false;
    const struct row_sink_opts opts = { .t = r->plan->turn,
                                        .turner = r->plan->turner,
                                        .mem = r->opts->mem };
    if (!pixels_suit(s))
        return SEQUENTIAL_OTHER;
    int status = row_sink_open(&rows, r->img, &opts, err);
    if (status == 0)
        status = pixels_read(&rows, s, r->to_rgb, &exact, r->opts->pool, err);
    row_sink_close(&rows);
    if (status)
        return SEQUENTIAL_FAILED;
    if (exact)
        return SEQUENTIAL_READ;
    image_free_pixels(r->img);
    *r->img = stored;
    return SEQUENTIAL_OTHER;
}

enum sequential_verdict read_sequential(struct sequential_reading *r,
                                        struct err *err)
{
    struct image *img = r->img;
    struct jpeg_parameters *p = parameters_of(img->meta);
    const enum representation representation = r->plan->representation;
    const bool pixels = representation == REPRESENTATION_SAMPLES,
               planes = representation == REPRESENTATION_PLANES,
               fused = r->plan->turner && !planes && !pixels,
               here = !pixels || thread_pool_threads(r->opts->pool) > 1;
    const enum xform turn = fused ? r->plan->turn : XFORM_NONE;
    struct err why = { .memory = false };
    size_t end;
    if (!here && !r->plan->scan_turner)
        return SEQUENTIAL_OTHER;
    if (check_limits(r, false, err))
        return SEQUENTIAL_FAILED;
    p->coded = memory_alloc_zeroed(1, sizeof *p->coded);
    if (!p->coded) {
        fail_memory(err, "no memory for the decoder");
        return SEQUENTIAL_FAILED;
    }
    if (offer(r))
        return SEQUENTIAL_READ;
    if (here && check_limits(r, true, err))
        return SEQUENTIAL_FAILED;
    if (!here || sequential_read(p->coded, r->file, xform_transposes(turn),
                                 r->opts->pool, &end, &why)) {
        parameters_forget_coded(p);
        if (why.memory)
            *err = why;
        return why.memory ? SEQUENTIAL_FAILED : SEQUENTIAL_OTHER;
    }
    r->behind = r->file.size - end;
    if (pixels) {
        const enum sequential_verdict verdict = make_pixels(r, err);
        parameters_forget_coded(p);
        return verdict;
    }
    img->turned = turn;
    img->pixels.kind = PIXELS_CODED;
    if (fused || planes)
        return SEQUENTIAL_READ;
    if (image_alloc(img, r->opts->mem, err))
        return SEQUENTIAL_FAILED;
    sequential_give_planes(p->coded, img, r->opts->pool);
    for (unsigned i = 0; i < p->coded->scans; i++)
        entropy_blocks_free(&p->coded->scan[i].blocks);
    return SEQUENTIAL_READ;
}
