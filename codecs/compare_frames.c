/* The frames of two animated PNGs, one by one: each is made a file of its own,
 * which libpng decodes like any other. */
#include "codecs/compare_frames.h"

#include <stdio.h>
#include <string.h>

#include "codecs/compare.h"
#include "codecs/convert.h"
#include "codecs/image/budget.h"
#include "codecs/png/animation.h"
#include "codecs/png/frame_file.h"

/* A frame of both. */
struct frame_pair {
    const struct image *picture[2];
    struct frame_blocks blocks[2];
};

static const uint8_t *control(const struct frame_pair *p, int which)
{
    return p->picture[which]->meta->block[p->blocks[which].begin].data;
}

/* The delay, and how the frame is disposed of and blended. */
static bool is_shown_alike(const struct frame_pair *p)
{
    const size_t from = FCTL_DELAY, n = FCTL - from;
    return memcmp(control(p, 0) + from, control(p, 1) + from, n) == 0;
}

static bool is_placed_alike(const struct frame_pair *p, enum xform t)
{
    const struct image *b = p->picture[1];
    const struct frame_place is = frame_place_read(control(p, 1));
    const struct frame_place should = frame_place_turn(
        frame_place_read(control(p, 0)), t, b->width, b->height);
    return is.x == should.x && is.y == should.y && is.width == should.width &&
           is.height == should.height;
}

/* Leaves the turns that make one frame the other. */
static int keep_turns(unsigned *turns, struct image frame[2],
                      const struct load_opts *opts, struct err *err)
{
    struct warnings unheard = { 0 };
    const struct convert_opts alike = { .limits = &opts->limits,
                                        .mem = mem_plain,
                                        .warnings = &unheard };
    if (!pictures_are_alike(&frame[0], &frame[1]) &&
        convert_to_same(&frame[0], &frame[1], &alike, err))
        return -1;
    for (int t = 0; t < XFORM_COUNT; t++) {
        struct difference d;
        if (*turns >> t & 1 &&
            !(pictures_fit(&frame[0], &frame[1], (enum xform)t) &&
              pictures_compare(&d, &frame[0], &frame[1], (enum xform)t, false)))
            *turns &= ~(1u << t);
    }
    return 0;
}

static int compare_samples(unsigned *turns, const struct frame_pair *p,
                           const struct load_opts *opts, struct err *err)
{
    struct image frame[2] = { { .meta = NULL }, { .meta = NULL } };
    int status =
        frame_decode(&frame[0], p->picture[0], p->blocks[0], opts, err);
    if (status == 0)
        status =
            frame_decode(&frame[1], p->picture[1], p->blocks[1], opts, err);
    if (status == 0)
        status = keep_turns(turns, frame, opts, err);
    image_free(&frame[0]);
    image_free(&frame[1]);
    return status;
}

/* Compares a pair. Sets *what to what differs if no turn is left. */
static int compare_pair(unsigned *turns, const char **what,
                        const struct frame_pair *p,
                        const struct load_opts *opts, struct err *err)
{
    const bool defaults[] = {
        frame_is_default(p->picture[0]->meta, p->blocks[0]),
        frame_is_default(p->picture[1]->meta, p->blocks[1])
    };
    unsigned left = 0;
    for (int t = 0; t < XFORM_COUNT; t++)
        if (*turns >> t & 1 && is_placed_alike(p, (enum xform)t))
            left |= 1u << t;
    *what = "lies elsewhere";
    if (left && defaults[0] != defaults[1]) {
        *what = "is the default image of one of them alone";
        left = 0;
    }
    if (left && !is_shown_alike(p)) {
        *what = "is shown for another time, or in another way";
        left = 0;
    }
    if (left && !defaults[0]) {
        *what = "differs";
        if (compare_samples(&left, p, opts, err))
            return -1;
    }
    *turns = left;
    return 0;
}

/* How often an animation is played, in words. */
struct plays {
    char text[24];
};

static struct plays say_plays(uint32_t plays)
{
    struct plays said = { "without end" };
    if (plays == 1)
        return (struct plays){ "once" };
    if (plays)
        snprintf(said.text, sizeof said.text, "%u times", plays);
    return said;
}

static bool is_played_alike(struct frames_difference *difference,
                            const struct animation *a,
                            const struct animation *b)
{
    const size_t room = sizeof difference->text;
    if (a->frames != b->frames)
        snprintf(difference->text, room,
                 "the first has %u frames, the second %u", a->frames,
                 b->frames);
    else if (a->frames && a->plays != b->plays)
        snprintf(difference->text, room,
                 "the first is played %s, the second %s",
                 say_plays(a->plays).text, say_plays(b->plays).text);
    return *difference->text == '\0';
}

int frames_compare(unsigned *turns, struct frames_difference *difference,
                   const struct image *a, const struct image *b,
                   const struct load_opts *opts, struct err *err)
{
    struct frame_pair pair = { .picture = { a, b } };
    size_t at[2] = { 0, 0 };
    unsigned left = *turns;
    *difference = (struct frames_difference){ "" };
    if (!is_played_alike(difference, &a->meta->animation, &b->meta->animation))
        left = 0;
    for (uint32_t n = 1; left && n <= a->meta->animation.frames; n++) {
        const char *what;
        if (budget_check_time(opts->limits.budget, err))
            return -1;
        if (!frame_find(&pair.blocks[0], a->meta, &at[0]) ||
            !frame_find(&pair.blocks[1], b->meta, &at[1]))
            return fail(err, "frame %u is not there", n);
        struct err why;
        if (compare_pair(&left, &what, &pair, opts, &why))
            return fail_with(err, &why, "frame %u: %s", n, why.text);
        if (!left)
            snprintf(difference->text, sizeof difference->text, "frame %u %s",
                     n, what);
    }
    *turns = left;
    return 0;
}
