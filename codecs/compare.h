/* Two pictures, cell by cell, by loops that share nothing with what turns
 * pictures. */
#ifndef CODECS_COMPARE_H
#define CODECS_COMPARE_H

#include "codecs/image/image.h"

/* How far one picture, turned, is from another. Places are those of the
 * pictures as stored. */
struct difference {
    uint64_t cells, differing; /* of all planes */
    double square;             /* the sum of the squares of what they differ by,
                                  where full intensity is 1; of samples alone,
                                  as what follows `luma` */
    bool luma;                 /* no cell of the first plane differs */
    /* The columns and rows of the second picture that hold all cells which
     * differ, if any does. */
    uint32_t left, top, right, bottom; /* the last two are behind them */
};

/* Returns the peak signal-to-noise ratio in decibels; INFINITY if no cell
 * differs. */
double difference_psnr(const struct difference *d);

/* Returns whether cells of both mean the same: they are of one kind, and so are
 * palettes, and what is transparent. */
bool pictures_are_alike(const struct image *a, const struct image *b);

/* Returns whether a, turned, has the size of b, and so have all its planes. */
bool pictures_fit(const struct image *a, const struct image *b, enum xform t);

/* Compares a, turned, with b, which are alike and fit. Returns whether no cell
 * differs; else all that differ are counted, or, without `count`, some. */
bool pictures_compare(struct difference *d, const struct image *a,
                      const struct image *b, enum xform t, bool count);

#endif
