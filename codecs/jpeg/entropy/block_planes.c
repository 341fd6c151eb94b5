/* The blocks of a scan as planes of coefficients. */
#include "codecs/jpeg/entropy/block_planes.h"

#include <stdlib.h>
#include <string.h>

#include "codecs/base/page_cache.h"

enum { AC_MAX = 1023, DC_MAX = 1024 };

struct conversion {
    struct entropy_blocks *blocks;
    const struct entropy_scan *scan;
    const struct plane *const *plane;
    uint32_t per; /* rows of MCUs in a part */
    bool failed[ENTROPY_PARTS], no_memory[ENTROPY_PARTS];
};

/* Where the values of a part go. */
struct values {
    uint16_t *value;
    size_t count, room;
    bool no_memory;
};

/* Where each coefficient of a block comes in the zigzag (T.81, figure A.6). */
static const uint8_t zigzag[64] = {
    0,  1,  5,  6,  14, 15, 27, 28, 2,  4,  7,  13, 16, 26, 29, 42,
    3,  8,  12, 17, 25, 30, 41, 43, 9,  11, 18, 24, 31, 40, 44, 53,
    10, 19, 23, 32, 39, 45, 52, 54, 20, 22, 33, 38, 46, 51, 55, 60,
    21, 34, 37, 47, 50, 56, 59, 61, 35, 36, 48, 49, 57, 58, 62, 63,
};

/* Returns the value as it is coded; 0 if it cannot be. */
static uint16_t coded_value(int value)
{
    unsigned size = abs(value);
    if (size > AC_MAX)
        return 0;
    size = 32 - (unsigned)__builtin_clz(size);
    unsigned bits = (unsigned)(value - (value < 0)) & ((1u << size) - 1);
    return (uint16_t)(1u << size | bits);
}

static bool take_block(struct entropy_block *b, struct values *values,
                       const int16_t *from)
{
    uint16_t placed[64];
    b->dc = from[0];
    b->at = (uint32_t)values->count;
    b->mask = 0;
    for (unsigned row = 0; row < 64; row += 8) {
        uint64_t some[2];
        memcpy(some, from + row, sizeof some);
        for (unsigned i = row; (some[0] | some[1]) && i < row + 8; i++)
            if (from[i] && i) {
                placed[zigzag[i]] = coded_value(from[i]);
                b->mask |= UINT64_C(1) << zigzag[i];
            }
    }
    bool possible = b->dc >= -DC_MAX && b->dc < DC_MAX;
    for (uint64_t left = b->mask; left; left &= left - 1) {
        uint16_t value = placed[__builtin_ctzll(left)];
        possible = possible && value;
        values->value[values->count++] = value;
    }
    return possible;
}

static void give_block(const struct entropy_block *b, const uint16_t *value,
                       int16_t *to)
{
    static const uint8_t natural[64] = {
        0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
        12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
        35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
        58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
    };
    memset(to, 0, 64 * sizeof *to);
    to[0] = b->dc;
    for (uint64_t left = b->mask; left; left &= left - 1) {
        unsigned size = 31 - (unsigned)__builtin_clz(*value);
        int bits = *value++ - (1 << size);
        to[natural[__builtin_ctzll(left)]] =
            (int16_t)(bits >> (size - 1) ? bits : bits - (1 << size) + 1);
    }
}

static bool reserve_values(struct values *values)
{
    if (values->count + 64 <= values->room)
        return true;
    size_t room = values->room * 2 + (1 << 14);
    uint16_t *more = page_cache_realloc(values->value,
                                        values->count * sizeof *more,
                                        room * sizeof *more);
    values->no_memory = !more;
    if (!more)
        return false;
    values->value = more;
    values->room = room;
    return true;
}

/* A row of blocks of a component; `first` is the number in the scan of the
 * first block of its row of MCUs. */
struct block_row {
    size_t first;
    unsigned offset;  /* of the first one, in an MCU */
    unsigned blocks;  /* of an MCU */
    unsigned across;  /* of the component in one */
    uint32_t columns;
    int16_t *cells;
};

static size_t block_number(const struct block_row *row, uint32_t x)
{
    return row->first + (size_t)(x / row->across) * row->blocks + row->offset +
           x % row->across;
}

/* Sets the row of blocks y of component c in row my of MCUs. Returns false if
 * it lies beyond the picture. */
static bool find_row(const struct conversion *all, uint32_t my, unsigned c,
                     unsigned y, struct block_row *row)
{
    const struct entropy_scan *scan = all->scan;
    const struct entropy_component *one = &scan->component[c];
    uint32_t at = my * one->down + y;
    if (at >= one->rows)
        return false;
    row->blocks = entropy_mcu_blocks(scan);
    row->first = (size_t)my * scan->columns * row->blocks;
    row->across = one->across;
    row->offset = y * one->across;
    for (unsigned i = 0; i < c; i++)
        row->offset +=
            (unsigned)scan->component[i].across * scan->component[i].down;
    row->columns = one->columns;
    row->cells = (int16_t *)(void *)plane_row(all->plane[c], at);
    return true;
}

static bool take_row(const struct conversion *all, const struct block_row *row,
                     struct values *values, uint16_t part)
{
    bool done = true;
    for (uint32_t x = 0; done && x < row->columns; x++) {
        struct entropy_block *b = &all->blocks->block[block_number(row, x)];
        b->part = part;
        done = reserve_values(values) &&
               take_block(b, values, row->cells + (size_t)64 * x);
    }
    return done;
}

static void give_row(const struct conversion *all, const struct block_row *row)
{
    const struct entropy_blocks *blocks = all->blocks;
    for (uint32_t x = 0; x < row->columns; x++) {
        const struct entropy_block *b = &blocks->block[block_number(row, x)];
        give_block(b, blocks->values[b->part] + b->at,
                   row->cells + (size_t)64 * x);
    }
}

/* Converts the rows of MCUs of a part, which are taken if it has values. */
static bool convert_part(const struct conversion *all, size_t i,
                         struct values *values)
{
    const struct entropy_scan *scan = all->scan;
    uint32_t end = (uint32_t)(i + 1) * all->per;
    struct block_row row;
    bool done = true;
    for (uint32_t my = (uint32_t)i * all->per; my < end && my < scan->rows; my++)
        for (unsigned c = 0; c < scan->components; c++)
            for (unsigned y = 0; y < scan->component[c].down; y++) {
                if (!find_row(all, my, c, y, &row))
                    continue;
                if (values)
                    done = done && take_row(all, &row, values, (uint16_t)i);
                else
                    give_row(all, &row);
            }
    return done;
}

static void take_part(void *context, size_t i)
{
    struct conversion *all = context;
    struct values values = { 0 };
    all->failed[i] = !convert_part(all, i, &values);
    all->no_memory[i] = values.no_memory;
    all->blocks->values[i] = values.value;
}

static void give_part(void *context, size_t i)
{
    convert_part(context, i, NULL);
}

/* Returns how many parts there are, and sets their size. */
static size_t share_rows(struct conversion *all, struct thread_pool *pool)
{
    uint32_t rows = all->scan->rows, parts = 4 * thread_pool_threads(pool);
    if (thread_pool_threads(pool) == 1 || parts > ENTROPY_PARTS)
        parts = parts > ENTROPY_PARTS ? ENTROPY_PARTS : 1;
    all->per = (rows + parts - 1) / parts;
    return (rows + all->per - 1) / all->per;
}

int block_planes_take(struct entropy_blocks *blocks,
                      const struct entropy_scan *scan,
                      const struct plane *const plane[ENTROPY_COMPONENTS],
                      struct thread_pool *pool, struct err *err)
{
    struct conversion all = { .blocks = blocks, .scan = scan, .plane = plane };
    size_t parts = share_rows(&all, pool);
    bool done = true, no_memory = false;
    *blocks = (struct entropy_blocks){ .parts = (unsigned)parts };
    blocks->count =
        (size_t)scan->columns * scan->rows * entropy_mcu_blocks(scan);
    blocks->block = page_cache_alloc(blocks->count * sizeof *blocks->block);
    if (!blocks->block)
        return fail_memory(err, "no memory for the coefficients");
    thread_pool_run(pool, take_part, &all, parts);
    for (size_t i = 0; i < parts; i++) {
        done = done && !all.failed[i];
        no_memory = no_memory || all.no_memory[i];
    }
    if (no_memory)
        return fail_memory(err, "no memory for the coefficients");
    return done ? 0 : fail(err, "a coefficient is out of range");
}

void block_planes_give(const struct entropy_blocks *blocks,
                       const struct entropy_scan *scan,
                       const struct plane *const plane[ENTROPY_COMPONENTS],
                       struct thread_pool *pool)
{
    struct entropy_blocks lent = *blocks;
    struct conversion all = { .blocks = &lent, .scan = scan, .plane = plane };
    size_t parts = share_rows(&all, pool);
    thread_pool_run(pool, give_part, &all, parts);
}
