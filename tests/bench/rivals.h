/* Libraries that turn planes on the CPU, to compare the stage with. */
#ifndef TESTS_RIVALS_H
#define TESTS_RIVALS_H

#include <stddef.h>

#include "codecs/image/image.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rival {
    const char *name;
    const char *version;
    /* Turns src into dst on one thread; both are contiguous, and dst has the
     * shape of the result. false: there is no function for it. */
    bool (*turn)(const struct plane *dst, const struct plane *src,
                 enum cell cell, enum xform t);
};

extern const struct rival rival_opencv, rival_libyuv;

#ifdef __cplusplus
}
#endif
#endif
