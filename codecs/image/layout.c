/* Layouts: which axis of an array is which. */
#include "codecs/image/layout.h"

#include <stdio.h>
#include <string.h>

const char *const layout_name[LAYOUTS] = {
    [LAYOUT_AUTO] = "auto", [LAYOUT_HWC] = "hwc",   [LAYOUT_CHW] = "chw",
    [LAYOUT_NHW] = "nhw",   [LAYOUT_NHWC] = "nhwc", [LAYOUT_NCHW] = "nchw",
    [LAYOUT_HW] = "hw",
};

void layout_print_shape(char *text, size_t room,
                        const uint64_t shape[LAYOUT_AXES], unsigned naxes)
{
    char axis[32];
    size_t n = 0;
    text[n++] = '(';
    for (unsigned i = 0; i < naxes; i++) {
        bool told = i < LAYOUT_AXES;
        int size =
            snprintf(axis, sizeof axis, told ? "%s%llu" : "%s...",
                     i ? ", " : "", told ? (unsigned long long)shape[i] : 0);
        if (n + (size_t)size + 3 > room)
            break;
        memcpy(text + n, axis, (size_t)size);
        n += (size_t)size;
        if (!told)
            break;
    }
    memcpy(text + n, naxes == 1 ? ",)" : ")", naxes == 1 ? 3 : 2);
}

/* By the three axes that a picture has; of four the first is left out. */
static int choose_by_shape(enum layout *layout, const uint64_t *axis,
                           const char *text, bool batch, struct err *err)
{
    bool first = axis[0] <= LAYOUT_CHANNELS, last = axis[2] <= LAYOUT_CHANNELS;
    if (first && last)
        return fail(err,
                    "shape %s can be read with the channels first or "
                    "last; --layout %s says which",
                    text, batch ? "nchw or nhwc" : "chw or hwc");
    if (!first && !last)
        return fail(err,
                    "shape %s has no axis of 1 to %d channels %s; "
                    "--layout %s says what its axes are",
                    text, LAYOUT_CHANNELS,
                    batch ? "behind the first or at the end"
                          : "at its beginning or end",
                    batch ? "nchw or nhwc" : "chw, hwc or nhw");
    *layout = batch   ? first ? LAYOUT_NCHW : LAYOUT_NHWC
              : first ? LAYOUT_CHW
                      : LAYOUT_HWC;
    return 0;
}

int layout_check(const uint64_t shape[LAYOUT_AXES], unsigned naxes,
                 struct err *err)
{
    char text[256];
    layout_print_shape(text, sizeof text, shape, naxes);
    if (naxes < 2 || naxes > 4)
        return fail(err,
                    "shape %s has %u ax%s, where pictures have 2 to 4; "
                    "numpy.reshape makes them so",
                    text, naxes, naxes == 1 ? "is" : "es");
    for (unsigned i = 0; i < naxes; i++)
        if (shape[i] == 0)
            return fail(err,
                        "shape %s has an axis of 0, so there is nothing "
                        "to turn",
                        text);
    return 0;
}

int layout_choose(enum layout *layout, enum layout asked,
                  const uint64_t shape[LAYOUT_AXES], unsigned naxes,
                  struct err *err)
{
    char text[256];
    bool plain = asked == LAYOUT_HWC || asked == LAYOUT_CHW;
    layout_print_shape(text, sizeof text, shape, naxes);
    if (naxes == 2 && (plain || asked == LAYOUT_AUTO))
        *layout = LAYOUT_HW;
    else if (asked == LAYOUT_AUTO)
        return choose_by_shape(layout, shape + naxes - 3, text, naxes == 4,
                               err);
    else if (plain && naxes == 4)
        *layout = asked == LAYOUT_HWC ? LAYOUT_NHWC : LAYOUT_NCHW;
    else if (strlen(layout_name[asked]) == naxes)
        *layout = asked;
    else
        return fail(err,
                    "shape %s has %u axes, so it cannot be read by "
                    "--layout %s",
                    text, naxes, layout_name[asked]);
    return 0;
}
