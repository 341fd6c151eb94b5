/* Sequential files with Huffman codes, read without libjpeg. */
#include "codecs/jpeg/read_sequential.h"

#include <string.h>

#include "codecs/base/memory.h"
#include "codecs/jpeg/arithmetic.h"
#include "codecs/jpeg/entropy/sequential.h"

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

/* Sets how component i becomes pixels. Returns false if libjpeg knows no way.
 */
static bool set_upsampling(struct upsampling *u, const struct sequential *s,
                           unsigned i)
{
    const struct sampling own = { s->component[i].across,
                                  s->component[i].down };
    struct sampling most;
    entropy_most(s->component, s->components, &most.across, &most.down);
    return upsample_set(u, s->width, s->height, own, most);
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
    unsigned across, down, most_across, most_down;
    entropy_most(p->component, COMPONENTS, &across, &down);
    entropy_most(s->component, s->components, &most_across, &most_down);
    sequential_turn(to, s, turn);
    bool suit = s->scans == 1 && scan->components == s->components &&
                s->scan[0].coding.restart == p->restart;
    for (unsigned c = 0; suit && c < scan->components; c++) {
        const unsigned i = s->scan[0].component[c];
        const struct sequential_component *from = &s->component[i],
                                          *is = &p->component[i];
        struct scan_samples *of = &turned->samples[0][c];
        struct upsampling u;
        const bool smooth = set_upsampling(&u, s, i) && upsample_is_smooth(&u);
        *of = (struct scan_samples){
            .wanted = true,
            .refines = true,
            .turn = turn,
            .width = entropy_samples(s->width, is->across, across),
            .height = entropy_samples(s->height, is->down, down),
        };
        of->x = axis_of(s->width, from->across, most_across, of->width, smooth);
        of->y = axis_of(s->height, from->down, most_down, of->height, smooth);
        suit = set_steps(of, s, i, exchanges);
        to->component[i].across = exchanges ? is->down : is->across;
        to->component[i].down = exchanges ? is->across : is->down;
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

/* Offers a picture of one scan, which is to become the samples that libjpeg
 * makes of it: the plan says how they are packed. Returns whether it is turned
 * there: then img has its shape after the turn, and its pixels are
 * PIXELS_DEVICE. */
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
                (s->components == 1 || s->components == 3);
    scan_turner_shape(&made, plan->turn, &samples, pixels);
    pixels->to_rgb = to_rgb && s->components == 3;
    pixels->upsampling = turned->upsampling;
    for (unsigned c = 0; suit && c < s->components; c++) {
        struct scan_samples *of = &turned->samples[0][c];
        *of = (struct scan_samples){ .wanted = true };
        suit = scan->component[c] == c && set_steps(of, s, c, false) &&
               set_upsampling(&turned->upsampling[c], s, c);
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

/* Offers the picture to the device of the plan, which turns it if it suits. */
static bool offer(struct reader *reader, bool to_rgb, size_t *end)
{
    struct jpeg_parameters *p = parameters_of(reader->img.meta);
    const struct decode_plan *plan = reader->plan;
    struct err why;
    if (!plan->scan_turner)
        return false;
    p->turned = memory_alloc_zeroed(1, sizeof *p->turned);
    bool offered =
        p->turned && sequential_find(p->coded, reader->file, end, &why) == 0;
    if (offered && plan->width && plan->height)
        sequential_trim(p->coded, plan->width, plan->height);
    if (offered && plan->representation == REPRESENTATION_SAMPLES) {
        offered = offer_samples(&reader->img, to_rgb, plan);
    } else if (offered && (offered = read_sequential_offer(p, plan))) {
        reader->img.turned = plan->turn;
        reader->img.pixels.kind = PIXELS_CODED;
    }
    if (!offered) {
        memory_free(p->turned);
        p->turned = NULL;
    }
    return offered;
}

int read_sequential(struct reader *reader, bool to_rgb, size_t *behind,
                    struct err *err)
{
    const struct load_opts *opts = reader->opts;
    const struct decode_plan *plan = reader->plan;
    struct image *img = &reader->img;
    struct jpeg_parameters *p = parameters_of(img->meta);
    struct limits limits = opts->limits;
    const bool pixels = plan->representation == REPRESENTATION_SAMPLES,
               planes = plan->representation == REPRESENTATION_PLANES,
               fused = plan->turner && !planes;
    const enum xform turn = fused ? plan->turn : XFORM_NONE;
    struct err why = { .memory = false };
    size_t end = 0;
    if (pixels && !plan->scan_turner)
        return 0;
    limits.reserve =
        NULL; /* which is not needed where it is turned elsewhere */
    if (image_check_planes(img, &limits, err))
        return -1;
    p->coded = memory_alloc_zeroed(1, sizeof *p->coded);
    if (!p->coded)
        return fail_memory(err, "no memory for the decoder");
    if (!offer(reader, to_rgb, &end)) {
        if (!pixels && image_check_planes(img, &opts->limits, err))
            return -1;
        if (pixels ||
            sequential_read(p->coded, reader->file, xform_transposes(turn),
                            opts->pool, &end, &why)) {
            parameters_forget_coded(p);
            if (why.memory)
                *err = why;
            return why.memory ? -1 : 0;
        }
        img->turned = turn;
        img->pixels.kind = PIXELS_CODED;
    }
    *behind = reader->file.size - end;
    if (fused || planes || p->turned)
        return 1;
    if (image_alloc(img, opts->mem, err))
        return -1;
    sequential_give_planes(p->coded, img, opts->pool);
    for (unsigned i = 0; i < p->coded->scans; i++)
        entropy_blocks_free(&p->coded->scan[i].blocks);
    return 1;
}
