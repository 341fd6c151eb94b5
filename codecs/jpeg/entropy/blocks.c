/* The blocks of a scan, and lists of the values in them. */
#include "codecs/jpeg/entropy/coder.h"

#include <stdlib.h>
#include <string.h>

#include "codecs/base/page_cache.h"

/* A block has the index of its first value in 32 bits. */
bool entropy_values_grow(struct entropy_values *list, size_t room)
{
    uint16_t *value = NULL;
    room += 1 << 12;
    if (room <= UINT32_MAX)
        value = page_cache_realloc(list->value, list->count * sizeof *value,
                                   room * sizeof *value);
    if (!value)
        return false;
    list->value = value;
    list->room = room;
    return true;
}

void entropy_blocks_free(struct entropy_blocks *blocks)
{
    for (unsigned i = 0; i < blocks->parts; i++)
        page_cache_free(blocks->values[i]);
    page_cache_free(blocks->block);
    *blocks = (struct entropy_blocks){ 0 };
}

struct visit {
    struct entropy_blocks *blocks;
    const struct entropy_scan *scan;
    const struct block_visitor *visitor;
    uint32_t per;   /* rows of MCUs in a part */
    bool replaces;  /* the blocks, which are not shown then */
    unsigned first; /* list of values, for those of the first part */
    struct entropy_values list[ENTROPY_PARTS];
    bool failed[ENTROPY_PARTS], no_memory[ENTROPY_PARTS];
};

/* Returns the value as it is coded; 0 if it cannot be. */
static uint16_t coded_value(int value)
{
    unsigned size = abs(value);
    if (size > ENTROPY_AC_MAX)
        return 0;
    size = 32 - (unsigned)__builtin_clz(size);
    unsigned bits = (unsigned)(value - (value < 0)) & ((1u << size) - 1);
    return (uint16_t)(1u << size | bits);
}

static bool take_block(struct entropy_block *b, struct entropy_values *list,
                       const int16_t *from)
{
    bool possible = from[0] >= -ENTROPY_DC_MAX && from[0] < ENTROPY_DC_MAX;
    b->dc = from[0];
    b->at = (uint32_t)list->count;
    b->mask = 0;
    for (unsigned k = 1; k < 64; k++)
        b->mask |= (uint64_t)(from[entropy_natural[k]] != 0) << k;
    for (uint64_t left = b->mask; left; left &= left - 1) {
        int at = entropy_natural[__builtin_ctzll(left)];
        uint16_t value = coded_value(from[at]);
        possible = possible && value;
        list->value[list->count++] = value;
    }
    return possible;
}

static void give_block(const struct entropy_block *b, const uint16_t *value,
                       int16_t *to)
{
    memset(to, 0, 64 * sizeof *to);
    to[0] = b->dc;
    for (uint64_t left = b->mask; left; left &= left - 1)
        to[entropy_natural[__builtin_ctzll(left)]] =
            (int16_t)entropy_value(*value++);
}

static void take_from(struct visit *all, size_t part, struct entropy_block *b,
                      const int16_t *from)
{
    struct entropy_values *list = &all->list[part];
    if (all->failed[part])
        return;
    b->part = (uint16_t)(all->first + part);
    all->no_memory[part] = !entropy_values_reserve(list);
    all->failed[part] = all->no_memory[part] || !take_block(b, list, from);
}

/* Visits one block, at x, y of component c. */
static void visit_block(struct visit *all, size_t part, struct entropy_block *b,
                        unsigned c, uint32_t x, uint32_t y)
{
    int16_t cells[64];
    if (!all->replaces)
        give_block(b, all->blocks->values[b->part] + b->at, cells);
    all->visitor->visit(all->visitor->context, c, x, y, cells);
    if (all->replaces)
        take_from(all, part, b, cells);
}

/* Visits row y of the blocks of a component. */
static void visit_row(struct visit *all, size_t part, unsigned c, uint32_t y)
{
    const struct entropy_component *one = &all->scan->component[c];
    const unsigned blocks = entropy_mcu_blocks(all->scan);
    size_t first = 0;
    for (unsigned i = 0; i < c; i++)
        first += (size_t)all->scan->component[i].across *
                 all->scan->component[i].down;
    first += (size_t)(y / one->down) * all->scan->columns * blocks +
             y % one->down * one->across;
    for (uint32_t x = 0; x < one->columns; x++)
        visit_block(
            all, part,
            &all->blocks->block[first + (size_t)(x / one->across) * blocks +
                                x % one->across],
            c, x, y);
}

/* Visits the rows of MCUs of a part. */
static void visit_part(void *context, size_t i)
{
    struct visit *all = context;
    const uint32_t first = (uint32_t)i * all->per, end = first + all->per;
    for (unsigned c = 0; c < all->scan->components; c++) {
        const struct entropy_component *one = &all->scan->component[c];
        for (uint32_t y = first * one->down;
             all->visitor->wants[c] && y < end * one->down && y < one->rows;
             y++)
            visit_row(all, i, c, y);
    }
}

/* Visits all parts. Returns how many there are. */
static size_t visit_all(struct visit *all, struct thread_pool *pool)
{
    uint32_t rows = all->scan->rows, parts = 4 * thread_pool_threads(pool);
    if (thread_pool_threads(pool) == 1)
        parts = 1;
    if (parts > ENTROPY_PARTS)
        parts = ENTROPY_PARTS;
    all->per = (rows + parts - 1) / parts;
    parts = (rows + all->per - 1) / all->per;
    thread_pool_run(pool, visit_part, all, parts);
    return parts;
}

/* The lists of values stand behind those that the blocks have. */
static int take_blocks(struct visit *all, struct thread_pool *pool,
                       struct err *err)
{
    struct entropy_blocks *blocks = all->blocks;
    bool failed = false, no_memory = false;
    all->first = blocks->parts;
    const size_t parts = visit_all(all, pool);
    for (size_t i = 0; i < parts; i++) {
        blocks->values[blocks->parts++] = all->list[i].value;
        failed = failed || all->failed[i];
        no_memory = no_memory || all->no_memory[i];
    }
    if (no_memory)
        return fail_memory(err, "no memory for the coefficients");
    return failed ? fail(err, "a coefficient is out of range") : 0;
}

static int allocate_blocks(struct entropy_blocks *blocks,
                           const struct entropy_scan *scan, struct err *err)
{
    *blocks = (struct entropy_blocks){
        .count = (size_t)scan->columns * scan->rows * entropy_mcu_blocks(scan),
    };
    blocks->block = page_cache_alloc(blocks->count * sizeof *blocks->block);
    return blocks->block ? 0
                         : fail_memory(err, "no memory for the coefficients");
}

int block_visitor_replace(struct entropy_blocks *blocks,
                          const struct entropy_scan *scan,
                          const struct block_visitor *visitor,
                          struct thread_pool *pool, struct err *err)
{
    struct visit all = {
        .blocks = blocks, .scan = scan, .visitor = visitor, .replaces = true
    };
    return !blocks->block && allocate_blocks(blocks, scan, err)
               ? -1
               : take_blocks(&all, pool, err);
}

void block_visitor_show(const struct entropy_blocks *blocks,
                        const struct entropy_scan *scan,
                        const struct block_visitor *visitor,
                        struct thread_pool *pool)
{
    struct entropy_blocks lent = *blocks;
    struct visit all = { .blocks = &lent, .scan = scan, .visitor = visitor };
    visit_all(&all, pool);
}

void block_visitor_show_row(const struct entropy_blocks *blocks,
                            const struct entropy_scan *scan, unsigned c,
                            uint32_t y, const struct block_visitor *visitor)
{
    struct entropy_blocks lent = *blocks;
    struct visit all = { .blocks = &lent, .scan = scan, .visitor = visitor };
    visit_row(&all, 0, c, y);
}
