/* Pictures for a device that turns their scans. */
#include "codecs/jpeg/offer.h"

#include <string.h>

#include "codecs/jpeg/entropy/sequential.h"
#include "codecs/jpeg/pixels.h"
#include "codecs/jpeg/requantize.h"
#include "codecs/jpeg/upsample.h"

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

/* A component whose blocks are moved, as codecs/jpeg/realign.h says. */
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
static bool offer(struct sequential_turned *turned,
                  const struct sequential *from, enum xform turn, bool samples,
                  bool anew, const struct scan_turner *turner)
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
    return offer(p->turned, p->coded, turn, false, false, turner);
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
    return suit && offer(turned, s, turn, true, false, turner);
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
           offer(turned, s, turn, true, true, turner);
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

void offer_take_steps(struct sequential_turned *turned)
{
    struct sequential *to = &turned->to;
    for (unsigned c = 0; c < to->scan[0].coding.components; c++) {
        const struct scan_samples *samples = &turned->samples[0][c];
        uint16_t *step = to->steps[samples->table];
        for (unsigned k = 0; samples->refines && k < 64; k++)
            step[k] = requantize_step(step[k], samples->cap);
    }
}
