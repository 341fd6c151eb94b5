/* The grid of each kernel, run on the host in plain loops, moves every cell to
 * its place exactly once, and no access leaves its row. */
#include "cuda/gpu/tiles.h"
#include "cuda/gpu/tiles_plan.h"

#include "codecs/base/byte_order.h"
#include "tests/support/oracle.h"
#include "tests/support/test.h"

/* ---- A grid in plain loops ------------------------------------------------*/

/* One launch: the picture, and what came out of it. */
struct launch {
    struct tiles_plan plan;
    struct tiles_plane planes[IMAGE_PLANES];
    struct image src, dst;
    unsigned size;
    uint8_t *written[IMAGE_PLANES]; /* how often each vector of dst was */
    bool inside;                    /* so far no access left its row */
};

static const struct tiles_plane *find(const struct launch *l, uint32_t tile)
{
    return tiles_find(l->planes, l->plan.nplanes, tile);
}

/* A word of a GPU has its first cell in its lowest bits, also where the host
 * would put it highest. */
static uint32_t load_word(const uint8_t *at, unsigned size)
{
    uint16_t half[2];
    if (size == 1)
        return read_le32(at);
    memcpy(half, at, sizeof half);
    return half[0] | (uint32_t)half[1] << 16;
}

static void store_word(uint8_t *at, uint32_t word, unsigned size)
{
    const uint16_t half[2] = { (uint16_t)word, (uint16_t)(word >> 16) };
    if (size == 1)
        write_le32(at, word);
    else
        memcpy(at, half, sizeof half);
}

static void get_src(struct launch *l, size_t plane, uint64_t at, uint32_t w[4])
{
    l->inside &= plane_has_vector(&l->src.plane[plane], at);
    for (unsigned i = 0; l->inside && i < 4; i++)
        w[i] = load_word(l->planes[plane].src + at + 4 * i, l->size);
}

static void put_dst(struct launch *l, size_t plane, uint64_t at,
                    const uint32_t w[4])
{
    l->inside &= plane_has_vector(&l->dst.plane[plane], at);
    if (!l->inside)
        return;
    for (unsigned i = 0; i < 4; i++)
        store_word(l->planes[plane].dst + at + 4 * i, w[i], l->size);
    l->written[plane][at / 16]++;
}

static void block_of_rows(struct launch *l, uint32_t tile)
{
    const struct tiles_plane *p = find(l, tile);
    size_t plane = (size_t)(p - l->planes);
    for (unsigned thread = 0; thread < ROWS_THREADS; thread++) {
        struct rows_part part = rows_find_part(p, tile, thread, l->size);
        uint32_t w[8] = { 0 };
        if (!part.inside)
            continue;
        if (l->size > 16) {
            uint32_t signs = dct_signs(p->t, (unsigned)(part.to / 16 % 8));
            get_src(l, plane, part.from, w);
            for (int i = 0; i < 4; i++)
                w[i] = word_negate(w[i], signs);
        } else if (!(p->t & XFORM_MIRROR_X)) {
            get_src(l, plane, part.from, w);
        } else {
            if (part.low)
                get_src(l, plane, part.from - 16, w);
            if (part.shift)
                get_src(l, plane, part.from, w + 4);
            rows_mirror(w, part.shift, l->size);
        }
        put_dst(l, plane, part.to, w);
    }
}

/* The largest tile: 256 x 256 bytes. */
enum { SHARED = 256 * 256 / 16 };

/* What a thread of `columns` does before and after all wait. */
static void put_pieces(struct launch *l, uint32_t (*shared)[4], uint32_t tile,
                       unsigned g, unsigned v)
{
    const struct tiles_plane *p = find(l, tile);
    unsigned vectors = l->plan.vectors, step = 4 / l->size;
    struct columns_tile at = columns_find_tile(p, tile, l->size, vectors);
    uint32_t w[4][4] = { { 0 } }, columns[16];
    for (unsigned i = 0; i < step; i++) {
        uint64_t from;
        if (columns_read(p, at, g * step + i, v, l->size, &from))
            get_src(l, (size_t)(p - l->planes), from, w[i]);
    }
    for (unsigned j = 0; j < 4; j++) {
        for (unsigned i = 0; i < step; i++)
            columns[j * step + i] = w[i][j];
        columns_transpose_square(columns + j * step, step);
    }
    for (unsigned i = 0; i < step; i++)
        memcpy(shared[columns_place(g, v * step + i, l->size, vectors)],
               columns + 4 * i, 16);
}

static void get_vectors(struct launch *l, uint32_t (*shared)[4], uint32_t tile,
                        unsigned h, unsigned v)
{
    const struct tiles_plane *p = find(l, tile);
    unsigned vectors = l->plan.vectors;
    struct columns_tile at = columns_find_tile(p, tile, l->size, vectors);
    for (unsigned i = 0; i < 4; i++) {
        uint32_t w[4];
        uint64_t to;
        for (unsigned j = 0; j < 4; j++)
            w[j] = shared[columns_place(4 * v + j, h, l->size, vectors)][i];
        if (columns_write(p, at, 4 * h + i, v, l->size, &to))
            put_dst(l, (size_t)(p - l->planes), to, w);
    }
}

static void block_of_columns(struct launch *l, uint32_t tile)
{
    static uint32_t shared[SHARED][4];
    unsigned vectors = l->plan.vectors, side = vectors * 16 / l->size;
    memset(shared, 0xee, sizeof shared);
    for (unsigned v = 0; v < vectors; v++)
        for (unsigned g = 0; g < side / (4 / l->size); g++)
            put_pieces(l, shared, tile, g, v);
    for (unsigned v = 0; v < vectors; v++)
        for (unsigned h = 0; h < side / 4; h++)
            get_vectors(l, shared, tile, h, v);
}

/* Lanes exchange by reading what their partners gave. */
static void transpose_block(uint32_t w[8][4])
{
    for (unsigned bit = 1; bit < 8; bit *= 2) {
        uint32_t given[8][2];
        for (unsigned lane = 0; lane < 8; lane++)
            dct_give(w[lane], lane, bit, given[lane]);
        for (unsigned lane = 0; lane < 8; lane++)
            dct_take(w[lane], lane, bit, given[lane ^ bit]);
    }
}

static void block_of_blocks(struct launch *l, uint32_t tile)
{
    const struct tiles_plane *p = find(l, tile);
    size_t plane = (size_t)(p - l->planes);
    struct columns_tile at = dct_find_tile(p, tile);
    for (uint32_t n = 0; n < DCT_ACROSS * DCT_DOWN; n++) {
        uint32_t x = at.x + n % DCT_ACROSS, c = at.c + n / DCT_ACROSS;
        uint32_t w[8][4] = { { 0 } };
        uint64_t from, to;
        for (unsigned lane = 0; lane < 8; lane++)
            if (dct_find(p, x, c, lane, &from, &to))
                get_src(l, plane, from, w[lane]);
        transpose_block(w);
        for (unsigned lane = 0; lane < 8; lane++) {
            for (int i = 0; i < 4; i++)
                w[lane][i] = word_negate(w[lane][i], dct_signs(p->t, lane));
            if (dct_find(p, x, c, lane, &from, &to))
                put_dst(l, plane, to, w[lane]);
        }
    }
}

static void run_grid(struct launch *l)
{
    for (uint32_t tile = 0; tile < l->plan.ntiles; tile++) {
        if (!l->plan.columns)
            block_of_rows(l, tile);
        else if (l->plan.cell == CELL_DCT)
            block_of_blocks(l, tile);
        else
            block_of_columns(l, tile);
    }
}

/* ---- Whether each cell comes to its place, once ---------------------------*/

/* The vectors that hold a cell are written, and no others; where rows become
 * columns, all of what memory writes at once counts as holding one. */
static bool written_once(const struct launch *l)
{
    bool once = true;
    uint64_t whole = l->plan.columns && l->size <= 16 ? TILES_BURST : 16;
    for (unsigned i = 0; i < l->dst.nplanes; i++) {
        const struct plane *d = &l->dst.plane[i];
        uint64_t row = d->width * (uint64_t)l->size;
        uint64_t end = (row + whole - 1) / whole * whole;
        for (uint64_t y = 0; y < d->height; y++)
            for (uint64_t x = 0; x < d->stride; x += 16)
                once &= l->written[i][(y * d->stride + x) / 16] == (x < end);
    }
    return once;
}

/* All bits of src are random, so no cell but the right one passes for it in
 * every one of several launches. */
static bool launch_is_right(struct launch *l, enum xform t, uint64_t *seed)
{
    for (size_t i = 0; i < l->src.pixels.rows.size; i += sizeof *seed) {
        uint64_t r = test_random(seed);
        memcpy(l->src.pixels.rows.cells + i, &r, sizeof r);
    }
    memset(l->dst.pixels.rows.cells, 0x5a, l->dst.pixels.rows.size);
    for (unsigned i = 0; i < l->dst.nplanes; i++)
        memset(l->written[i], 0,
               l->dst.plane[i].stride / 16 * l->dst.plane[i].height);
    l->inside = true;
    run_grid(l);
    bool right = l->inside && written_once(l);
    for (unsigned i = 0; i < l->dst.nplanes; i++)
        right &= is_turned(t, &l->dst.plane[i], &l->src.plane[i], l->src.cell);
    return right;
}

/* Makes the planes of a picture differ in size: plane i has i columns and 2i
 * rows less, but one at least. */
static void shrink(struct image *img, bool transposed)
{
    for (uint32_t i = 0; i < img->nplanes; i++) {
        uint32_t *w = &img->plane[i].width, *h = &img->plane[i].height;
        uint32_t less_w = transposed ? 2 * i : i, less_h = 3 * i - less_w;
        *w = *w > less_w ? *w - less_w : 1;
        *h = *h > less_h ? *h - less_h : 1;
    }
}

struct size {
    unsigned nplanes;
    uint32_t width, height;
};

static void check_turn(enum cell cell, struct size size, enum xform t,
                       unsigned vectors)
{
    struct launch l = { .size = (unsigned)cell_size(cell) };
    struct err err;
    uint64_t seed = size.width * 65537 + size.height;
    l.src.cell = cell;
    l.src.width = size.width;
    l.src.height = size.height;
    l.src.nplanes = size.nplanes;
    must(image_alloc(&l.src, mem_plain, &err) == 0 &&
         image_like(&l.dst, &l.src, t, mem_plain, &err) == 0);
    shrink(&l.src, false);
    shrink(&l.dst, xform_transposes(t));
    l.plan = tiles_plan_begin(cell, t);
    for (unsigned i = 0; i < size.nplanes; i++) {
        tiles_plan_add(&l.plan, l.planes, &l.dst.plane[i], &l.src.plane[i], t);
        l.written[i] = malloc(l.dst.pixels.rows.size / 16);
    }
    tiles_plan_cut(&l.plan, l.planes, vectors);
    for (unsigned n = 0; n < (l.size == 1 ? 3 : 1); n++)
        CHECK(launch_is_right(&l, t, &seed),
              "%s, %u bytes, %u planes, %u x %u, tiles of %u", oracle[t].name,
              l.size, size.nplanes, size.width, size.height, l.plan.vectors);
    for (unsigned i = 0; i < size.nplanes; i++)
        free(l.written[i]);
    image_free(&l.src);
    image_free(&l.dst);
}

static void check_all_turns(enum cell cell, struct size size)
{
    for (EACH_TURN(t)) {
        check_turn(cell, size, t, COLUMNS_NARROW);
        if (oracle[t].xy && cell != CELL_DCT)
            check_turn(cell, size, t, COLUMNS_WIDE);
    }
}

TEST(grids)
{
    static const struct size sizes[] = {
        { 1, 1, 1 },     { 1, 1, 300 },   { 1, 300, 1 },   { 1, 31, 33 },
        { 1, 32, 32 },   { 1, 33, 31 },   { 1, 63, 65 },   { 1, 64, 64 },
        { 1, 65, 63 },   { 1, 127, 129 }, { 1, 128, 128 }, { 1, 129, 127 },
        { 1, 255, 9 },   { 1, 256, 8 },   { 1, 257, 7 },   { 1, 13, 511 },
        { 1, 512, 16 },  { 1, 513, 17 },  { 1, 1031, 5 },  { 3, 139, 141 },
        { 5, 40, 300 },  { 64, 130, 12 }, { 64, 3, 3 },    { 1, 2500, 3 },
        { 1, 256, 256 }, { 1, 257, 255 }, { 2, 300, 530 },
    };
    static const struct size blocks[] = {
        { 1, 1, 1 }, { 1, 1, 20 },  { 1, 20, 1 },  { 1, 4, 8 },
        { 1, 8, 4 }, { 1, 9, 5 },   { 1, 7, 3 },   { 1, 17, 17 },
        { 3, 8, 9 }, { 64, 11, 3 }, { 1, 130, 3 },
    };
    for (unsigned cell = CELL_U8; cell <= CELL_F32; cell++)
        for (size_t i = 0; i < COUNT(sizes); i++)
            check_all_turns((enum cell)cell, sizes[i]);
    for (size_t i = 0; i < COUNT(blocks); i++)
        check_all_turns(CELL_DCT, blocks[i]);
}
