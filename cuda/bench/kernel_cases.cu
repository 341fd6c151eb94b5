/* All cases: those of the table, and ours. */
#include "cuda/bench/kernel_cases.h"

#include "cuda/bench/batched_launch.h"
#include "cuda/bench/case_builder.h"
#include "cuda/bench/case_table.h"

static constexpr struct case_section gimgxf = { "gimgxf", "gimgxf" };
static constexpr struct case_section batch = {
    "many", "Many small pictures in one launch"
};

/* Our own cases: every turn of every cell, of planes of 256 MiB and more
 * whose sides are multiples of nothing, and of a picture as cameras make it.
 * What others do as well is also run at their sizes. */
static constexpr struct {
    enum cell cell;
    unsigned nplanes;
    struct suite_shape shape;
} our_pictures[] = {
    { CELL_U8, 1, odd },
    { CELL_U16, 1, odd },
    { CELL_F32, 1, odd },
    { CELL_DCT, 1, { 1447, 1453 } },
    { CELL_U8, 3, { 6000, 4000 } },
};
enum {
    OUR_PICTURES = sizeof our_pictures / sizeof our_pictures[0],
    OURS = OUR_PICTURES * XFORM_COUNT,
};

/* Returns whether others do the same: copies and transposes of samples. */
static constexpr bool others_do(const struct suite_entry *entry)
{
    return entry->nplanes == 1 && entry->cell != CELL_DCT &&
           (entry->turn == XFORM_NONE || entry->turn == XFORM_TRANSPOSE);
}

static constexpr struct kernel_case our_case(size_t picture, size_t turn)
{
    const struct suite_shape theirs[] = { article, chapter, gigabyte };
    case_row r = case_row(gimgxf, NULL).at(our_pictures[picture].shape);
    r.kcase.entry.origin = SUITE_OURS;
    r.kcase.entry.cell = our_pictures[picture].cell;
    r.kcase.entry.nplanes = our_pictures[picture].nplanes;
    r.kcase.entry.turn = static_cast<enum xform>(turn);
    r.kcase.launch = case_launch_ours;
    for (int i = 0; i < 3 && others_do(&r.kcase.entry); i++)
        r.kcase.entry.shape[1 + i] = theirs[i];
    return r.kcase;
}

/* Thumbnails in a batch: to start a launch for each would take longer than
 * the turn. */
static constexpr struct kernel_case batch_case(size_t turn)
{
    case_row r = case_row(batch, NULL).at({ 64, 64 });
    r.kcase.entry.origin = SUITE_OURS;
    r.kcase.entry.cell = CELL_U8;
    r.kcase.entry.nplanes = 3;
    r.kcase.entry.npictures = 1000;
    r.kcase.entry.turn = static_cast<enum xform>(turn);
    r.kcase.launch = batched_launch_run;
    return r.kcase;
}

struct our_cases {
    struct kernel_case alone[OURS], batch[XFORM_COUNT];
};

static constexpr struct our_cases make_ours()
{
    struct our_cases cases = {};
    for (size_t i = 0; i < OURS; i++)
        cases.alone[i] = our_case(i / XFORM_COUNT, i % XFORM_COUNT);
    for (size_t i = 0; i < XFORM_COUNT; i++)
        cases.batch[i] = batch_case(i);
    return cases;
}
static constexpr struct our_cases ours = make_ours();

size_t kernel_cases_count(void)
{
    return case_table_count() + OURS + XFORM_COUNT;
}

const struct kernel_case *kernel_cases_get(size_t i)
{
    if (i < case_table_count())
        return case_table_get(i);
    i -= case_table_count();
    return i < OURS ? &ours.alone[i] : &ours.batch[i - OURS];
}

/* ---- Banks ----------------------------------------------------------------
 */

enum { LANES = 32, BANKS = 32 };

static unsigned word_of(enum pattern pattern, unsigned n,
                        const struct kernel_case *kcase)
{
    unsigned bx = kcase->entry.block_x, by = kcase->entry.block_y;
    unsigned tx = n % bx, ty = n / bx;
    if (pattern == PATTERN_COLUMN)
        return tx * kcase->pitch + ty;
    if (pattern == PATTERN_REINDEX)
        return n % by * kcase->pitch + n / by;
    return ty * kcase->pitch + tx;
}

/* Returns the most words of one bank that a warp asks for. No two lanes ask
 * for the same word in any pattern. */
static unsigned ways(enum pattern pattern, const struct kernel_case *kcase)
{
    unsigned worst = 0;
    unsigned threads = kcase->entry.block_x * kcase->entry.block_y;
    if (pattern == PATTERN_NONE)
        return 0;
    for (unsigned warp = 0; warp < threads; warp += LANES) {
        unsigned words[BANKS] = { 0 };
        for (unsigned n = warp; n < threads && n < warp + LANES; n++) {
            unsigned *bank = &words[word_of(pattern, n, kcase) % BANKS];
            if (++*bank > worst)
                worst = *bank;
        }
    }
    return worst;
}

struct suite_banks kernel_cases_banks(size_t i)
{
    const struct kernel_case *kcase = kernel_cases_get(i);
    struct suite_banks banks = { ways(kcase->put, kcase),
                                 ways(kcase->get, kcase) };
    return banks;
}
