/* Files of sequential JPEG with Huffman codes. */
#include "codecs/jpeg/entropy/sequential.h"

#include <stdlib.h>
#include <string.h>

#include "codecs/base/byte_order.h"
#include "codecs/base/page_cache.h"
#include "codecs/jpeg/entropy/huffman_table.h"

/* What has been read of a file. */
struct parser {
    struct sequential *s;
    struct entropy_scan tables; /* those that have been defined, and DRI */
    uint8_t has_dc, has_ac, has_steps; /* which of them */
    uint8_t coded;                     /* components that have had their scan */
};

/* ---- Reading ------------------------------------------------------------ */

/* Takes the tables of a DHT segment (T.81, B.2.4.2). */
static bool read_huffman(struct parser *p, const uint8_t *d, size_t size)
{
    while (size >= 17) {
        unsigned number = *d & 15, count = 0;
        bool ac = *d >> 4;
        struct huffman_spec spec = { { 0 }, { 0 } };
        if (*d >> 4 > 1 || number >= ENTROPY_TABLES)
            return false;
        memcpy(spec.counts, d + 1, 16);
        for (unsigned i = 0; i < 16; i++)
            count += spec.counts[i];
        if (count > 256 || size < 17 + count)
            return false;
        memcpy(spec.symbols, d + 17, count);
        *(ac ? &p->tables.ac[number] : &p->tables.dc[number]) = spec;
        *(ac ? &p->has_ac : &p->has_dc) |= (uint8_t)(1u << number);
        d += 17 + count;
        size -= 17 + count;
    }
    return size == 0;
}

/* Takes the tables of a DQT segment (T.81, B.2.4.1). */
static bool read_steps(struct parser *p, const uint8_t *d, size_t size)
{
    if (p->coded) /* those of components that have been read count */
        return false;
    while (size) {
        unsigned number = *d & 15, wide = *d >> 4;
        size_t bytes = 64 * (size_t)(1 + wide);
        if (wide > 1 || number > 3 || size < 1 + bytes)
            return false;
        for (unsigned k = 0; k < 64; k++)
            p->s->steps[number][entropy_natural[k]] =
                (uint16_t)(wide ? read_be16(d + 1 + 2 * k) : d[1 + k]);
        p->has_steps |= (uint8_t)(1u << number);
        d += 1 + bytes;
        size -= 1 + bytes;
    }
    return true;
}

bool sequential_read_frame(struct sequential *s, const struct marker *m)
{
    const uint8_t *d = m->data;
    if (s->components || m->size < 6 || d[0] != 8 || d[5] == 0 ||
        d[5] > ENTROPY_COMPONENTS || m->size != 6 + 3 * (size_t)d[5])
        return false;
    s->frame = m->code;
    s->height = read_be16(d + 1);
    s->width = read_be16(d + 3);
    s->components = d[5];
    for (unsigned i = 0; i < s->components; i++) {
        const uint8_t *c = d + 6 + 3 * i;
        const uint8_t across = c[1] >> 4, down = c[1] & 15;
        s->component[i] =
            (struct sequential_component){ c[0], across, down, c[2] };
        if (across == 0 || across > 4 || down == 0 || down > 4 || c[2] > 3)
            return false;
        for (unsigned k = 0; k < i; k++)
            if (s->component[k].id == c[0])
                return false;
    }
    return s->width && s->height;
}

/* In blocks and MCUs (T.81, A.1.1 and A.2). */
static void set_sizes(const struct sequential *s, struct sequential_scan *scan)
{
    struct entropy_scan *coding = &scan->coding;
    const bool alone = coding->components == 1;
    unsigned across, down;
    entropy_most(s->component, s->components, &across, &down);
    for (unsigned i = 0; i < coding->components; i++) {
        const struct sequential_component *c =
            &s->component[scan->component[i]];
        struct entropy_component *one = &coding->component[i];
        one->columns =
            entropy_divide_up(entropy_samples(s->width, c->across, across), 8);
        one->rows =
            entropy_divide_up(entropy_samples(s->height, c->down, down), 8);
        one->across = alone ? 1 : c->across;
        one->down = alone ? 1 : c->down;
    }
    coding->columns = alone ? coding->component[0].columns
                            : entropy_divide_up(s->width, 8 * across);
    coding->rows = alone ? coding->component[0].rows
                         : entropy_divide_up(s->height, 8 * down);
}

void sequential_set_sizes(struct sequential *s)
{
    for (unsigned i = 0; i < s->scans; i++)
        set_sizes(s, &s->scan[i]);
}

int sequential_component(const struct sequential *s, uint8_t id)
{
    int i = (int)s->components - 1;
    while (i >= 0 && s->component[i].id != id)
        i--;
    return i;
}

/* Takes a scan header (T.81, B.2.3), and finds its data: m->behind becomes the
 * end of that. */
static bool read_scan(struct parser *p, struct marker *m, const uint8_t *stop)
{
    const uint8_t *d = m->data;
    struct sequential *s = p->s;
    if (s->scans == ENTROPY_COMPONENTS || m->size < 1 || d[0] == 0 ||
        d[0] > s->components || m->size != 4 + 2 * (size_t)d[0] ||
        memcmp(d + 1 + 2 * d[0], "\0\77\0", 3) != 0)
        return false;
    struct sequential_scan *scan = &s->scan[s->scans++];
    scan->coding = p->tables;
    scan->coding.components = d[0];
    for (unsigned i = 0; i < d[0]; i++) {
        int c = sequential_component(s, d[1 + 2 * i]);
        unsigned dc = d[2 + 2 * i] >> 4, ac = d[2 + 2 * i] & 15;
        if (c < 0 || p->coded >> c & 1 || dc >= ENTROPY_TABLES ||
            ac >= ENTROPY_TABLES || !(p->has_dc >> dc & 1) ||
            !(p->has_ac >> ac & 1) ||
            !(p->has_steps >> s->component[c].quantization & 1) ||
            (i && c <= scan->component[i - 1]))
            return false;
        p->coded |= (uint8_t)(1u << c);
        scan->component[i] = (uint8_t)c;
        scan->coding.component[i].dc = (uint8_t)dc;
        scan->coding.component[i].ac = (uint8_t)ac;
    }
    set_sizes(s, scan);
    scan->data.data = (uint8_t *)m->behind;
    m->behind = marker_find(m->behind, stop);
    if (m->behind)
        scan->data.size = (size_t)(m->behind - scan->data.data);
    return entropy_mcu_blocks(&scan->coding) <= ENTROPY_MCU_BLOCKS;
}

int sequential_find(struct sequential *s, struct bytes file, size_t *end,
                    struct err *err)
{
    struct parser p = { .s = s };
    const uint8_t *at = marker_first(file), *stop = file.data + file.size;
    bool sound = true;
    struct marker m;
    *s = (struct sequential){ 0 };
    for (; sound && at && marker_read(&m, at, stop); at = m.behind)
        switch (m.code) {
        case MARKER_SOF0:
        case MARKER_SOF1:
            sound = sequential_read_frame(s, &m);
            break;
        case MARKER_DHT:
            sound = read_huffman(&p, m.data, m.size);
            break;
        case MARKER_DQT:
            sound = read_steps(&p, m.data, m.size);
            break;
        case MARKER_DRI:
            sound = m.size == 2;
            p.tables.restart = sound ? read_be16(m.data) : 0;
            break;
        case MARKER_SOS:
            sound = read_scan(&p, &m, stop);
            break;
        default: /* metadata, which its readers know */
            sound = !p.coded && marker_is_metadata(m.code);
        }
    if (!sound || !at || m.code != MARKER_EOI || !p.coded ||
        p.coded + 1 != 1 << s->components)
        return fail(err, "not a sound file of sequential JPEG");
    *end = (size_t)(m.at - file.data) + 2;
    return 0;
}

int sequential_read(struct sequential *s, struct bytes file, bool transposes,
                    struct thread_pool *pool, size_t *end, struct err *err)
{
    int status = sequential_find(s, file, end, err);
    for (unsigned i = 0; status == 0 && i < s->scans; i++)
        status = entropy_decode(&s->scan[i].blocks, &s->scan[i].coding,
                                s->scan[i].data, transposes, pool, err);
    return status;
}

/* The blocks stay where they are: only how many of them count changes. */
void sequential_trim(struct sequential *s, uint32_t width, uint32_t height)
{
    if (width == s->width && height == s->height)
        return;
    s->width = width;
    s->height = height;
    for (unsigned i = 0; i < s->scans; i++) {
        struct entropy_scan *coding = &s->scan[i].coding;
        const uint32_t columns = coding->columns, rows = coding->rows;
        set_sizes(s, &s->scan[i]);
        coding->columns = columns;
        coding->rows = rows;
    }
}

/* ---- Turning ------------------------------------------------------------ */

uint32_t sequential_restart(uint32_t restart, uint32_t before, uint32_t now)
{
    const uint64_t rows = restart / before;
    return restart % before == 0 && rows * now <= UINT16_MAX
               ? (uint32_t)rows * now
               : restart;
}

void sequential_turn(struct sequential *to, const struct sequential *from,
                     enum xform turn)
{
    enum { COMPLETED_FROM = 1 << 16 };
    const bool transposes = xform_transposes(turn);
    *to = *from;
    to->turn = turn;
    to->width = transposes ? from->height : from->width;
    to->height = transposes ? from->width : from->height;
    for (unsigned i = 0; transposes && i < to->components; i++) {
        to->component[i].across = from->component[i].down;
        to->component[i].down = from->component[i].across;
    }
    for (unsigned i = 0; transposes && i < 4; i++)
        for (unsigned k = 0; k < 64; k++)
            to->steps[i][k] = from->steps[i][entropy_exchange(k)];
    sequential_set_sizes(to);
    for (unsigned i = 0; i < to->scans; i++) {
        struct entropy_scan *coding = &to->scan[i].coding;
        const uint64_t size = to->scan[i].data.size;
        to->scan[i].blocks = (struct entropy_blocks){ 0 };
        coding->restart = sequential_restart(
            coding->restart, from->scan[i].coding.columns, coding->columns);
        /* Tables that were made for a picture mostly lack some code once it is
         * transposed. With all codes they make the data larger by some tenths
         * of a percent, which up to 250 bytes of tables are not to exceed. */
        coding->most = size < COMPLETED_FROM ? 0 : (size + size / 64) * 8;
    }
}

/* ---- Blocks one by one --------------------------------------------------- */

struct visit {
    const struct sequential_scan *scan;
    const struct block_visitor *visitor;
    uint32_t per;   /* rows of MCUs in a part */
    bool replaces;  /* the blocks, which are not shown then */
    unsigned first; /* list of values, for those of the first part */
    struct entropy_values list[ENTROPY_PARTS];
    bool failed[ENTROPY_PARTS], no_memory[ENTROPY_PARTS];
};

/* Appends the values of a block. Returns false if one cannot be coded. */
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
        const int value = from[entropy_natural[__builtin_ctzll(left)]];
        const unsigned size = (unsigned)abs(value),
                       top = 1u << (32 - __builtin_clz(size));
        possible = possible && size <= ENTROPY_AC_MAX;
        list->value[list->count++] =
            (uint16_t)(top | ((unsigned)(value - (value < 0)) & (top - 1)));
    }
    return possible;
}

/* Visits row y of the blocks of component c of the scan. */
static void visit_row(struct visit *all, size_t part, unsigned c, uint32_t y)
{
    const struct sequential_scan *scan = all->scan;
    const struct entropy_component *one = &scan->coding.component[c];
    const unsigned blocks = entropy_mcu_blocks(&scan->coding);
    struct entropy_values *list = &all->list[part];
    struct entropy_block *row =
        scan->blocks.block +
        (size_t)(y / one->down) * scan->coding.columns * blocks +
        y % one->down * one->across;
    for (unsigned i = 0; i < c; i++)
        row +=
            scan->coding.component[i].across * scan->coding.component[i].down;
    for (uint32_t x = 0; x < one->columns; x++) {
        struct entropy_block *b =
            &row[(size_t)(x / one->across) * blocks + x % one->across];
        int16_t cells[64];
        if (!all->replaces) {
            const uint16_t *value = scan->blocks.values[b->part] + b->at;
            memset(cells, 0, sizeof cells);
            cells[0] = b->dc;
            for (uint64_t left = b->mask; left; left &= left - 1)
                cells[entropy_natural[__builtin_ctzll(left)]] =
                    (int16_t)entropy_value(*value++);
        }
        all->visitor->visit(all->visitor->context, scan->component[c], x, y,
                            cells);
        if (!all->replaces || all->failed[part])
            continue;
        b->part = (uint16_t)(all->first + part);
        all->no_memory[part] = !entropy_values_reserve(list);
        all->failed[part] = all->no_memory[part] || !take_block(b, list, cells);
    }
}

/* Visits the rows of MCUs of a part. */
static void visit_part(void *context, size_t i)
{
    struct visit *all = context;
    const struct sequential_scan *scan = all->scan;
    const uint32_t first = (uint32_t)i * all->per, end = first + all->per;
    for (unsigned c = 0; c < scan->coding.components; c++) {
        const struct entropy_component *one = &scan->coding.component[c];
        for (uint32_t y = first * one->down;
             all->visitor->wants[scan->component[c]] && y < end * one->down &&
             y < one->rows;
             y++)
            visit_row(all, i, c, y);
    }
}

/* Visits all parts of a scan. Returns how many there are. */
static size_t visit_scan(struct visit *all, struct thread_pool *pool)
{
    const uint32_t rows = all->scan->coding.rows;
    uint32_t parts = 4 * thread_pool_threads(pool);
    if (thread_pool_threads(pool) == 1)
        parts = 1;
    if (parts > ENTROPY_PARTS)
        parts = ENTROPY_PARTS;
    all->per = (rows + parts - 1) / parts;
    parts = (rows + all->per - 1) / all->per;
    thread_pool_run(pool, visit_part, all, parts);
    return parts;
}

void sequential_show(const struct sequential *s,
                     const struct block_visitor *visitor,
                     struct thread_pool *pool)
{
    for (unsigned i = 0; i < s->scans; i++) {
        struct visit all = { .scan = &s->scan[i], .visitor = visitor };
        visit_scan(&all, pool);
    }
}

/* The lists of values stand behind those that the blocks have. */
static int replace_scan(struct sequential_scan *scan,
                        const struct block_visitor *visitor,
                        struct thread_pool *pool, struct err *err)
{
    static const char full[] = "no memory for the coefficients";
    struct entropy_blocks *blocks = &scan->blocks;
    bool failed = false, no_memory = false;
    if (!blocks->block) {
        *blocks = (struct entropy_blocks){
            .count = (size_t)scan->coding.columns * scan->coding.rows *
                     entropy_mcu_blocks(&scan->coding),
        };
        blocks->block = page_cache_alloc(blocks->count * sizeof *blocks->block);
        if (!blocks->block)
            return fail_memory(err, full);
    }
    struct visit all = { .scan = scan,
                         .visitor = visitor,
                         .replaces = true,
                         .first = blocks->parts };
    const size_t parts = visit_scan(&all, pool);
    for (size_t i = 0; i < parts; i++) {
        blocks->values[blocks->parts++] = all.list[i].value;
        failed = failed || all.failed[i];
        no_memory = no_memory || all.no_memory[i];
    }
    if (no_memory)
        return fail_memory(err, full);
    return failed ? fail(err, "a coefficient is out of range") : 0;
}

int sequential_replace(struct sequential *s,
                       const struct block_visitor *visitor,
                       struct thread_pool *pool, struct err *err)
{
    for (unsigned i = 0; i < s->scans; i++) {
        bool wanted = false;
        for (unsigned c = 0; c < s->scan[i].coding.components; c++)
            wanted = wanted || visitor->wants[s->scan[i].component[c]];
        if (wanted && replace_scan(&s->scan[i], visitor, pool, err))
            return -1;
    }
    return 0;
}

static void take_cells(void *context, unsigned c, uint32_t x, uint32_t y,
                       int16_t block[64])
{
    const struct image *img = context;
    memcpy(block, (int16_t *)plane_row(&img->plane[c], y) + (size_t)64 * x,
           64 * sizeof *block);
}

static void give_cells(void *context, unsigned c, uint32_t x, uint32_t y,
                       int16_t block[64])
{
    const struct image *img = context;
    memcpy((int16_t *)plane_row(&img->plane[c], y) + (size_t)64 * x, block,
           64 * sizeof *block);
}

int sequential_take_planes(struct sequential *s, const struct image *img,
                           struct thread_pool *pool, struct err *err)
{
    const struct block_visitor visitor = { { true, true, true, true },
                                           take_cells,
                                           (void *)img };
    return sequential_replace(s, &visitor, pool, err);
}

void sequential_give_planes(const struct sequential *s, const struct image *img,
                            struct thread_pool *pool)
{
    const struct block_visitor visitor = { { true, true, true, true },
                                           give_cells,
                                           (void *)img };
    sequential_show(s, &visitor, pool);
}

void sequential_free(struct sequential *s)
{
    for (unsigned i = 0; i < s->scans; i++)
        entropy_blocks_free(&s->scan[i].blocks);
    s->scans = 0;
}
