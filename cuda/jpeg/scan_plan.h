/* The plan of a batch: its pictures, their tables, and how much memory they
 * need. */
#ifndef CUDA_JPEG_SCAN_PLAN_H
#define CUDA_JPEG_SCAN_PLAN_H

#include "codecs/base/bytes.h"
#include "cuda/jpeg/samples_plan.h"
#include "cuda/jpeg/scan_engine.h"
#include "cuda/jpeg/scan_picture.h"

struct scan_set; /* the decoding tables of a picture */

struct scan_plan {
    struct scan_picture *picture;
    struct scan_status *status; /* at first */
    struct scan_job **job;      /* of each picture */
    uint32_t pictures;

    struct bytes codes, symbols; /* of all pictures */
    struct scan_set *set;
    const struct entropy_scan **symbol_set;
    size_t sets, symbol_sets;
    struct samples_plan samples; /* the components that go through samples */
    uint32_t codes_most;         /* entries that one picture has */

    /* How many there are in all. */
    uint32_t chunks, tiles, to_tiles, pixel_tiles;
    uint64_t input, data, starts, subsequences, blocks, values, lengths,
        markers, pixels; /* of these, bytes of all arrays */
};

/* Plans as many of the jobs as suit and fit into so much memory of a device.
 * The others are refused. Returns -1 without memory. The plan is to be freed in
 * any case. */
int scan_plan_make(struct scan_plan *plan, struct scan_job *jobs, size_t n,
                   uint64_t memory, struct err *err);

void scan_plan_free(struct scan_plan *plan);

/* Sets the codes of the tables of a scan, SCAN_SYMBOLS of them. */
void scan_plan_symbols(uint32_t *symbols, const struct entropy_scan *scan);

#endif
