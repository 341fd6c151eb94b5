/* The plan of a launch, made on the host: how its planes are cut into tiles,
 * and how the tiles are numbered. A plan is begun, planes are added, and then
 * all are numbered; nothing is allocated. */
#ifndef CUDA_GPU_TILES_PLAN_H
#define CUDA_GPU_TILES_PLAN_H

#include "cuda/gpu/tiles.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The properties of a GPU that the choice of tiles depends on. */
struct tiles_chip {
    unsigned multiprocessors;
    size_t shared_block; /* the most shared memory of a block */
    size_t shared_all;   /* of all blocks on a multiprocessor */
};

/* All planes of a launch have cells of one kind. Either the rows of all planes
 * stay rows, or those of all become columns. Each plane has its own mirrors. */
struct tiles_plan {
    enum cell cell;
    bool columns;
    unsigned vectors; /* in a row of a tile, where rows become columns */
    uint32_t nplanes;
    uint64_t ntiles; /* more than TILES_MAX: too many for a launch */
};

/* Returns a plan without planes. */
struct tiles_plan tiles_plan_begin(enum cell cell, enum xform t);

/* Appends a plane to `planes`, an array with room for it. dst and src lie in
 * memory of the device, and dst has the shape that t gives src. */
void tiles_plan_add(struct tiles_plan *plan, struct tiles_plane *planes,
                    const struct plane *dst, const struct plane *src,
                    enum xform t);

/* Cuts all planes that were added into tiles, and numbers the tiles. Chooses
 * their width where there is a choice. */
void tiles_plan_number(struct tiles_plan *plan, struct tiles_plane *planes,
                       const struct tiles_chip *chip);

/* The steps of tiles_plan_number(). The first cuts all planes into tiles that
 * are `vectors` wide where there is a choice. The other returns the log2 of the
 * vectors side by side in a tile of rows that stay rows: as many as a block has
 * threads, or fewer if a third of the threads had no work. */
void tiles_plan_cut(struct tiles_plan *plan, struct tiles_plane *planes,
                    unsigned vectors);
uint16_t tiles_plan_row_lanes(uint64_t vectors);

#ifdef __cplusplus
}
#endif
#endif
