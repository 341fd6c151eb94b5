/* Who turns pictures that are in memory: a backend, as codecs see it. */
#ifndef CODECS_IMAGE_TURNER_H
#define CODECS_IMAGE_TURNER_H

#include "codecs/image/image.h"

struct turner {
    /* Turns src into dst, which has the shape that image_like() gives; both may
     * be parts of pictures. It keeps no thread busy but the caller's. */
    int (*turn)(void *context, struct image *dst, const struct image *src,
                enum xform t, struct err *err);
    void *context;
    size_t tile;   /* the bytes that are best turned at a time */
    bool parallel; /* several threads may turn at a time */
};

#endif
