/* Which turn makes one picture another. */
#include "codecs/relate.h"

#include <stdlib.h>

#include "codecs/image/budget.h"
#include "codecs/jpeg/steps.h"

/* ---- Two pictures -------------------------------------------------------- */

/* The turn of the pictures as shown whose stored ones are related by t. */
static enum xform shown(const struct image *a, const struct image *b,
                        enum xform t)
{
    const enum xform up_a = xform_from_exif(a->orientation),
                     up_b = xform_from_exif(b->orientation);
    return xform_then(xform_then(xform_inverse(up_a), t), up_b);
}

/* Also where samples of both are infinitely far off, or only zeros differ. */
static bool is_closer(const struct difference *d, const struct difference *than)
{
    return d->square < than->square ||
           (d->square == than->square && d->differing < than->differing);
}

/* The turns that are known to make a picture another one, and those that are
 * known not to. */
struct known_turns {
    unsigned same, other;
};

/* Notes what is known of a turn t, and what follows: if t and s make a picture
 * the same, then what undoes s after t leaves the picture as it is, and may
 * come before any other turn. A flat picture takes half the comparisons so. */
static void note_turn(struct known_turns *known, enum xform t, bool same)
{
    unsigned still[XFORM_COUNT] = { 0 };
    unsigned *const turns = same ? &known->same : &known->other;
    *turns |= 1u << t;
    for (int s = 0; s < XFORM_COUNT; s++)
        for (int u = 0; u < XFORM_COUNT; u++)
            if (known->same >> s & 1 && known->same >> u & 1)
                still[xform_then((enum xform)u, xform_inverse((enum xform)s))] =
                    1;
    for (int g = 0; g < XFORM_COUNT; g++)
        for (int s = 0; s < XFORM_COUNT && still[g]; s++) {
            const unsigned then = 1u
                                  << xform_then((enum xform)g, (enum xform)s);
            known->same |= known->same >> s & 1 ? then : 0;
            known->other |= known->other >> s & 1 ? then : 0;
        }
}

/* Finds the turns that make them the same. */
static int find_same(struct relation *relation, const struct image *a,
                     const struct image *b, unsigned turns,
                     const struct budget *budget, struct err *err)
{
    struct difference d;
    struct known_turns known = { 0 };
    for (int i = 0; i < XFORM_COUNT; i++) {
        if (budget_check_time(budget, err))
            return -1;
        const enum xform t = (enum xform)i, as_shown = shown(a, b, t);
        if (!(turns >> as_shown & 1) || !pictures_fit(a, b, t))
            continue;
        relation->fits = true;
        if (!((known.same | known.other) >> i & 1)) {
            note_turn(&known, t, pictures_compare(&d, a, b, t, false));
            if (a->cell == CELL_DCT && d.luma)
                relation->luma = true;
        }
        if (known.same >> i & 1)
            relation->same |= 1u << as_shown;
    }
    return 0;
}

/* Finds the turn that comes closest. */
static int find_nearest(struct relation *relation, const struct image *a,
                        const struct image *b, unsigned turns,
                        const struct budget *budget, struct err *err)
{
    bool any = false;
    for (int i = 0; i < XFORM_COUNT; i++) {
        struct difference d;
        const enum xform t = (enum xform)i, as_shown = shown(a, b, t);
        if (!(turns >> as_shown & 1) || !pictures_fit(a, b, t))
            continue;
        if (budget_check_time(budget, err))
            return -1;
        pictures_compare(&d, a, b, t, true);
        if (!any || is_closer(&d, &relation->far)) {
            relation->far = d;
            relation->nearest = as_shown;
        }
        any = true;
    }
    return 0;
}

static enum xform first_turn(unsigned turns)
{
    int t = 0;
    while (!(turns >> t & 1))
        t++;
    return (enum xform)t;
}

/* Leaves of relation->same what makes the frames of a those of b, too. */
static int relate_frames(struct relation *relation, const struct image *a,
                         const struct image *b, const struct load_opts *opts,
                         struct err *err)
{
    unsigned stored = 0, left = 0;
    for (int t = 0; t < XFORM_COUNT; t++)
        stored |= (relation->same >> shown(a, b, (enum xform)t) & 1u) << t;
    if (frames_compare(&stored, &relation->frames, a, b, opts, err))
        return -1;
    for (int t = 0; t < XFORM_COUNT; t++)
        left |= (stored >> t & 1u) << shown(a, b, (enum xform)t);
    if (!left)
        relation->nearest = first_turn(relation->same);
    relation->same = left;
    return 0;
}

/* ---- Two files ----------------------------------------------------------- */

static int decode(struct image *img, const struct coded_picture *picture,
                  enum representation representation,
                  const struct load_opts *opts, struct err *err)
{
    const struct decode_plan plan = { .representation = representation,
                                      .width = picture->width,
                                      .height = picture->height };
    struct load_opts load = *opts;
    load.layout = picture->layout;
    int status = codec_decode_file(picture->codec, img, picture->file, &load,
                                   &plan, err);
    if (status == 0 && picture->as_stored)
        img->orientation = 1;
    return status;
}

/* A gray picture that is written as PPM becomes one of three equal channels. */
static void promote_gray(struct image *a, const struct image *b)
{
    if (a->color != COLOR_GRAY || b->color != COLOR_RGB || a->alpha)
        return;
    a->color = COLOR_RGB;
    a->nplanes = 3;
    a->plane[1] = a->plane[2] = a->plane[0];
}

static int decode_both(struct image pair[2], unsigned *undecoded,
                       const struct coded_picture *a,
                       const struct coded_picture *b,
                       enum representation representation,
                       const struct load_opts *opts, struct err *err)
{
    pair[0] = pair[1] = (struct image){ .meta = NULL };
    *undecoded = 1;
    if (decode(&pair[0], a, representation, opts, err))
        return -1;
    *undecoded = 2;
    if (decode(&pair[1], b, representation, opts, err)) {
        image_free(&pair[0]);
        return -1;
    }
    *undecoded = 0;
    return 0;
}

static void free_both(struct image pair[2])
{
    image_free(&pair[0]);
    image_free(&pair[1]);
}

/* Returns whether no 64 samples, whose coefficients were rounded to these, are
 * within their range: the transform keeps the sum of the squares. */
static bool is_impossible(const int16_t *block, const uint16_t *steps)
{
    double square = 0;
    for (unsigned i = 0; i < 64; i++) {
        const double least = (abs(block[i]) - 0.5) * steps[i];
        square += least > 0 ? least * least : 0;
    }
    return square > 64 * 128 * 128;
}

static bool has_impossible(const struct image *img)
{
    for (unsigned i = 0; i < img->nplanes; i++) {
        const struct plane *plane = &img->plane[i];
        for (uint32_t y = 0; y < plane->height; y++) {
            const int16_t *row = plane_row(plane, y);
            for (uint32_t x = 0; x < plane->width; x++)
                if (is_impossible(row + (size_t)64 * x, steps_of(img, i)))
                    return true;
        }
    }
    return false;
}

static int relate_coefficients(struct relation *relation,
                               const struct coded_picture *a,
                               const struct coded_picture *b, unsigned turns,
                               const struct load_opts *opts, struct err *err)
{
    struct image pair[2];
    if (decode_both(pair, &relation->undecoded, a, b,
                    REPRESENTATION_COEFFICIENTS, opts, err))
        return -1;
    relation->coefficients = true;
    int status = 0;
    if (pictures_are_alike(&pair[0], &pair[1]))
        status = find_same(relation, &pair[0], &pair[1], turns,
                           opts->limits.budget, err);
    relation->impossible = !relation->same && has_impossible(&pair[0]);
    free_both(pair);
    return status;
}

static int relate_samples(struct relation *relation,
                          const struct coded_picture *a,
                          const struct coded_picture *b, unsigned turns,
                          const struct load_opts *opts,
                          const struct convert_opts *convert, struct err *err)
{
    struct load_opts load = *opts;
    struct warnings unheard = { 0 };
    const struct convert_opts alike = { .limits = &opts->limits,
                                        .mem = mem_plain,
                                        .warnings = &unheard };
    struct image pair[2];
    bool converted;
    load.portable = convert || a->codec != b->codec || a->codec->lossy;
    if (decode_both(pair, &relation->undecoded, a, b, REPRESENTATION_SAMPLES,
                    &load, err))
        return -1;
    int status = 0;
    if (convert)
        status = convert_to_fit(&pair[0], b->codec, convert, &converted, err);
    if (status == 0 && convert)
        promote_gray(&pair[0], &pair[1]);
    const bool animated =
        !load.portable && a->codec == &codec_png &&
        (pair[0].meta->animation.frames || pair[1].meta->animation.frames);
    relation->unlike = status == 0 && !pictures_are_alike(&pair[0], &pair[1]);
    if (relation->unlike)
        status = convert_to_same(&pair[0], &pair[1], &alike, err);
    if (status == 0)
        status = find_same(relation, &pair[0], &pair[1], turns,
                           opts->limits.budget, err);
    if (status == 0 && !relation->same)
        status = find_nearest(relation, &pair[0], &pair[1], turns,
                              opts->limits.budget, err);
    const bool frames = status == 0 && relation->same && animated;
    if (frames && relation->unlike) { /* the conversion has dropped them */
        free_both(pair);
        load.warnings = &unheard;
        if (decode_both(pair, &relation->undecoded, a, b,
                        REPRESENTATION_SAMPLES, &load, err))
            return -1;
    }
    if (frames)
        status = relate_frames(relation, &pair[0], &pair[1], &load, err);
    free_both(pair);
    return status;
}

int relate_pictures(struct relation *relation, const struct coded_picture *a,
                    const struct coded_picture *b, unsigned turns,
                    const struct load_opts *opts,
                    const struct convert_opts *convert, struct err *err)
{
    struct load_opts load = *opts;
    load.libraries = true;
    load.mem = mem_plain;
    *relation = (struct relation){ .same = 0 };
    if (a->codec == &codec_jpeg && b->codec == &codec_jpeg && !convert) {
        if (relate_coefficients(relation, a, b, turns, &load, err))
            return -1;
        if (relation->same)
            return 0;
        *relation = (struct relation){ .impossible = relation->impossible,
                                       .luma = relation->luma };
    }
    return relate_samples(relation, a, b, turns, &load, convert, err);
}
