/* Huffman tables made for one picture.
 *
 * libjpeg counts the codes of a picture on one thread; here each thread counts
 * those of a strip. */
#include "codecs/jpeg/huffman_tables.h"

#include <stdlib.h>
#include <string.h>

#include "codecs/jpeg/parameters.h"

enum {
    SYMBOLS = 256,
    LENGTH_MAX = 16, /* of a code */
    DEPTH_MAX = 32,  /* of a tree, before codes are cut down to LENGTH_MAX */
    ZEROS_16 = 0xf0, /* 16 zeros, and more to come */
    COUNT_MAX = 1000 * 1000 * 1000, /* more is infinite to libjpeg */
};

/* How often each symbol of each table occurs. */
struct counts {
    uint64_t dc[NUM_HUFF_TBLS][SYMBOLS], ac[NUM_HUFF_TBLS][SYMBOLS];
    bool possible; /* each symbol that occurs can have a code */
};

struct census {
    const struct jpeg_compress_struct *c;
    const struct mcus *m;
    const struct image *img;
    uint32_t per;          /* rows of MCUs in a strip */
    struct counts *counts; /* of each strip */
};

/* ---- Counting ---------------------------------------------------------- */

/* The coefficients of a block in zigzag order (T.81, figure A.6). */
static const uint8_t zigzag[DCTSIZE2] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
    12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
    58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
};

static void count_ac(struct counts *counts, uint64_t count[SYMBOLS],
                     const int16_t *block)
{
    uint64_t there = 0; /* a bit for each that is not zero */
    unsigned last = 0;
    for (unsigned k = 1; k < DCTSIZE2; k++)
        there |= (uint64_t)(block[zigzag[k]] != 0) << k;
    for (; there; there &= there - 1) {
        unsigned at = (unsigned)__builtin_ctzll(there);
        unsigned run = at - last - 1, bits = bits_of(block[zigzag[at]]);
        if (run > 15)
            count[ZEROS_16] += run / 16;
        count[run % 16 << 4 | bits]++;
        if (bits > AC_BITS)
            counts->possible = false;
        last = at;
    }
    if (last < DCTSIZE2 - 1)
        count[0]++;
}

/* Counts the blocks of one component in one MCU. Those beyond the picture are
 * flat, with the DC coefficient before them. */
static void count_blocks(struct counts *counts, const struct census *census,
                         unsigned i, uint32_t column, uint32_t row, int *dc)
{
    const struct mcus *m = census->m;
    const jpeg_component_info *info = &census->c->comp_info[i];
    const struct plane *plane = &census->img->plane[i];
    uint64_t *dcs = counts->dc[info->dc_tbl_no];
    uint64_t *acs = counts->ac[info->ac_tbl_no];
    uint32_t beyond = m->across[i] * m->down[i];
    for (uint32_t y = row * m->down[i];
         y < (row + 1) * m->down[i] && y < plane->height; y++) {
        uint32_t x = column * m->across[i], end = x + m->across[i];
        const int16_t *block =
            (const int16_t *)plane_row(plane, y) + (size_t)x * DCTSIZE2;
        for (; x < end && x < plane->width; x++, block += DCTSIZE2) {
            unsigned bits = bits_of(block[0] - *dc);
            if (bits > DC_BITS)
                counts->possible = false;
            dcs[bits]++;
            *dc = block[0];
            count_ac(counts, acs, block);
            beyond--;
        }
    }
    dcs[0] += beyond;
    acs[0] += beyond;
}

static void count_strip(void *context, size_t strip)
{
    const struct census *census = context;
    const struct mcus *m = census->m;
    struct counts *counts = &census->counts[strip];
    uint32_t row, end;
    mcus_strip(m, census->per, strip, &row, &end);
    uint64_t mcu = (uint64_t)row * m->columns;
    int dc[COEFFICIENT_ARRAYS] = { 0 };
    counts->possible = true;
    if (row)
        mcus_predict(m, census->img, row, dc);
    for (; row < end; row++)
        for (uint32_t column = 0; column < m->columns; column++, mcu++) {
            if (m->restart && mcu % m->restart == 0)
                memset(dc, 0, sizeof dc);
            for (unsigned i = 0; i < m->components; i++)
                count_blocks(counts, census, i, column, row, &dc[i]);
        }
}

/* ---- A table ----------------------------------------------------------- */

/* Huffman's method: the symbols below one root are a chain, and get one bit
 * more whenever two roots are joined. */
struct tree {
    uint64_t count[SYMBOLS + 1]; /* of each root; 0: not a root */
    int next[SYMBOLS + 1];       /* in the chain; -1: the last */
    unsigned depth[SYMBOLS + 1];
};

/* Returns the root with the smallest count, the last of equals; -1 if none. */
static int smallest(const struct tree *tree, int but)
{
    int found = -1;
    for (int i = 0; i <= SYMBOLS; i++)
        if (tree->count[i] && i != but &&
            (found < 0 || tree->count[i] <= tree->count[found]))
            found = i;
    return found;
}

static int deepen(struct tree *tree, int symbol)
{
    for (;; symbol = tree->next[symbol]) {
        tree->depth[symbol]++;
        if (tree->next[symbol] < 0)
            return symbol;
    }
}

/* An additional symbol, the rarest, gets the code of ones alone, which JPEG
 * must not use. */
static bool grow(struct tree *tree, const uint64_t count[SYMBOLS])
{
    int a, b;
    for (int i = 0; i <= SYMBOLS; i++) {
        tree->count[i] = i < SYMBOLS ? count[i] : 1;
        tree->next[i] = -1;
        tree->depth[i] = 0;
    }
    while ((a = smallest(tree, -1)) >= 0 && (b = smallest(tree, a)) >= 0) {
        tree->count[a] += tree->count[b];
        tree->count[b] = 0;
        tree->next[deepen(tree, a)] = b;
        deepen(tree, b);
    }
    for (int i = 0; i <= SYMBOLS; i++)
        if (tree->depth[i] > DEPTH_MAX)
            return false;
    return true;
}

/* Codes that are too long become shorter, at the cost of others (T.81, figure
 * K.3). bits[n] is how many have n bits. */
static void cut_down(unsigned bits[DEPTH_MAX + 1])
{
    unsigned n = DEPTH_MAX;
    for (; n > LENGTH_MAX; n--)
        while (bits[n]) {
            unsigned shorter = n - 2;
            while (!bits[shorter])
                shorter--;
            bits[n] -= 2;
            bits[n - 1]++;
            bits[shorter + 1] += 2;
            bits[shorter]--;
        }
    while (!bits[n])
        n--;
    bits[n]--; /* the code of ones */
}

static bool make_table(JHUFF_TBL *table, const uint64_t count[SYMBOLS])
{
    struct tree tree;
    unsigned bits[DEPTH_MAX + 1] = { 0 }, at = 0;
    if (!grow(&tree, count))
        return false;
    for (int i = 0; i <= SYMBOLS; i++)
        bits[tree.depth[i]]++;
    bits[0] = 0;
    cut_down(bits);
    memset(table, 0, sizeof *table);
    for (unsigned n = 1; n <= LENGTH_MAX; n++)
        table->bits[n] = (UINT8)bits[n];
    for (unsigned depth = 1; depth <= DEPTH_MAX; depth++)
        for (unsigned i = 0; i < SYMBOLS; i++)
            if (tree.depth[i] == depth)
                table->huffval[at++] = (UINT8)i;
    return true;
}

/* ---- All of them ------------------------------------------------------- */

/* Adds up the counts of the strips. Returns false if not all can be coded. */
static bool add_up(struct counts *counts, size_t strips)
{
    uint64_t *sum = &counts->dc[0][0];
    const size_t all = 2 * NUM_HUFF_TBLS * SYMBOLS;
    for (size_t i = 1; i < strips; i++) {
        const uint64_t *more = &counts[i].dc[0][0];
        for (size_t k = 0; k < all; k++)
            sum[k] += more[k];
        counts->possible = counts->possible && counts[i].possible;
    }
    return counts->possible;
}

static bool set_table(j_compress_ptr c, JHUFF_TBL **table,
                      const uint64_t count[SYMBOLS])
{
    JHUFF_TBL made;
    uint64_t sum = 0;
    for (unsigned i = 0; i < SYMBOLS; i++)
        sum += count[i];
    if (sum >= COUNT_MAX || !make_table(&made, count))
        return false;
    if (!*table)
        *table = jpeg_alloc_huff_table((j_common_ptr)c);
    **table = made;
    return true;
}

bool huffman_tables_make(j_compress_ptr c, const struct mcus *m,
                         const struct image *img, struct thread_pool *pool)
{
    struct census census = { .c = c, .m = m, .img = img };
    size_t strips = mcus_share(m, pool, &census.per);
    census.counts = calloc(strips, sizeof *census.counts);
    if (!census.counts)
        return false;
    thread_pool_run(pool, count_strip, &census, strips);
    bool made = add_up(census.counts, strips);
    for (int i = 0; made && i < c->num_components; i++) {
        int dc = c->comp_info[i].dc_tbl_no, ac = c->comp_info[i].ac_tbl_no;
        made = set_table(c, &c->dc_huff_tbl_ptrs[dc], census.counts->dc[dc]) &&
               set_table(c, &c->ac_huff_tbl_ptrs[ac], census.counts->ac[ac]);
    }
    free(census.counts);
    if (made)
        c->optimize_coding = FALSE;
    return made;
}
