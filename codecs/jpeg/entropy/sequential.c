/* Files of sequential JPEG with Huffman codes. */
#include "codecs/jpeg/entropy/sequential.h"

#include <string.h>

#include "codecs/base/byte_order.h"
#include "codecs/jpeg/entropy/coder.h"
#include "codecs/jpeg/entropy/huffman_table.h"

/* What has been read of a file. */
struct parser {
    struct sequential *s;
    uint8_t *at, *end;
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
        s->component[i] = (struct sequential_component){
            c[0],
            c[1] >> 4,
            c[1] & 15,
            c[2],
        };
        if (c[1] >> 4 == 0 || c[1] >> 4 > 4 || (c[1] & 15) == 0 ||
            (c[1] & 15) > 4 || c[2] > 3)
            return false;
        for (unsigned k = 0; k < i; k++)
            if (s->component[k].id == c[0])
                return false;
    }
    return s->width && s->height;
}

void sequential_most(const struct sequential *s, unsigned *across,
                     unsigned *down)
{
    *across = *down = 1;
    for (unsigned i = 0; i < s->components; i++) {
        if (s->component[i].across > *across)
            *across = s->component[i].across;
        if (s->component[i].down > *down)
            *down = s->component[i].down;
    }
}

/* In blocks and MCUs (T.81, A.1.1 and A.2). */
static void set_sizes(const struct sequential *s, struct sequential_scan *scan)
{
    struct entropy_scan *coding = &scan->coding;
    const bool alone = coding->components == 1;
    unsigned across, down;
    sequential_most(s, &across, &down);
    for (unsigned i = 0; i < coding->components; i++) {
        const struct sequential_component *c =
            &s->component[scan->component[i]];
        struct entropy_component *one = &coding->component[i];
        uint32_t width =
            entropy_divide_up((uint64_t)s->width * c->across, across);
        uint32_t height =
            entropy_divide_up((uint64_t)s->height * c->down, down);
        one->columns = entropy_divide_up(width, 8);
        one->rows = entropy_divide_up(height, 8);
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

/* Takes the scan header (T.81, B.2.3). */
static bool read_scan(struct parser *p, const uint8_t *d, size_t size)
{
    struct sequential *s = p->s;
    if (s->scans == ENTROPY_COMPONENTS || size < 1 || d[0] == 0 ||
        d[0] > s->components || size != 4 + 2 * (size_t)d[0])
        return false;
    struct sequential_scan *scan = &s->scan[s->scans++];
    const uint8_t *last = d + 1 + 2 * d[0];
    if (last[0] != 0 || last[1] != 63 || last[2] != 0)
        return false;
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
    return entropy_mcu_blocks(&scan->coding) <= ENTROPY_MCU_BLOCKS;
}

/* Takes what is not a segment of metadata. */
static bool read_segment(struct parser *p, const struct marker *m)
{
    switch (m->code) {
    case MARKER_SOF0:
    case MARKER_SOF1:
        return sequential_read_frame(p->s, m);
    case MARKER_DHT:
        return read_huffman(p, m->data, m->size);
    case MARKER_DQT:
        return read_steps(p, m->data, m->size);
    case MARKER_DRI:
        p->tables.restart = m->size == 2 ? read_be16(m->data) : 0;
        return m->size == 2;
    case MARKER_SOS:
        return read_scan(p, m->data, m->size);
    default: /* metadata, which its readers know */
        return !p->coded && marker_is_metadata(m->code);
    }
}

static const char other[] = "not a sound file of sequential JPEG";

int sequential_find(struct sequential *s, struct bytes file, size_t *end,
                    struct err *err)
{
    struct parser p = { .s = s };
    const uint8_t *at = marker_first(file), *stop = file.data + file.size;
    struct marker m;
    *s = (struct sequential){ 0 };
    for (; at && marker_read(&m, at, stop); at = m.behind) {
        if (!read_segment(&p, &m))
            return fail(err, other);
        if (m.code != MARKER_SOS)
            continue;
        struct bytes *data = &s->scan[s->scans - 1].data;
        data->data = (uint8_t *)m.behind;
        m.behind = marker_find(m.behind, stop);
        if (m.behind)
            data->size = (size_t)(m.behind - data->data);
    }
    if (!at || m.code != MARKER_EOI || !p.coded ||
        p.coded + 1 != 1 << s->components)
        return fail(err, other);
    *end = (size_t)(m.at - file.data) + 2;
    return 0;
}

int sequential_read(struct sequential *s, struct bytes file, bool transposes,
                    struct thread_pool *pool, size_t *end, struct err *err)
{
    int status = sequential_find(s, file, end, err);
    for (unsigned i = 0; status == 0 && i < s->scans; i++) {
        struct sequential_scan *scan = &s->scan[i];
        const uint8_t *data = scan->data.data;
        size_t used;
        status = entropy_decode(&scan->blocks, &scan->coding, data,
                                (size_t)(file.data + file.size - data), &used,
                                transposes, pool, err);
    }
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

/* Tables that were made for a picture mostly lack some code once it is
 * transposed. With all codes they make the data larger by some tenths of a
 * percent, which up to 250 bytes of tables are not to exceed. */
static uint64_t most_bits(size_t size)
{
    enum { COMPLETED_FROM = 1 << 16 };
    return size < COMPLETED_FROM ? 0 : (size + (uint64_t)size / 64) * 8;
}

void sequential_turn(struct sequential *to, const struct sequential *from,
                     enum xform turn)
{
    const bool transposes = xform_transposes(turn);
    *to = *from;
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
        to->scan[i].blocks = (struct entropy_blocks){ 0 };
        coding->restart = sequential_restart(
            coding->restart, from->scan[i].coding.columns, coding->columns);
        coding->most = most_bits(to->scan[i].data.size);
    }
}

/* ---- Planes ------------------------------------------------------------- */

/* The components of a scan in planes. */
struct scan_planes {
    const struct plane *plane[ENTROPY_COMPONENTS];
    bool give; /* the blocks to them, or else take them */
};

static void copy_block(void *context, unsigned c, uint32_t x, uint32_t y,
                       int16_t block[64])
{
    const struct scan_planes *all = context;
    int16_t *cell = (int16_t *)plane_row(all->plane[c], y) + (size_t)64 * x;
    memcpy(all->give ? cell : block, all->give ? block : cell,
           64 * sizeof *cell);
}

static int copy_scan(struct sequential_scan *scan, const struct image *img,
                     bool give, struct thread_pool *pool, struct err *err)
{
    struct scan_planes all = { .give = give };
    struct block_visitor visitor = { .visit = copy_block, .context = &all };
    for (unsigned i = 0; i < scan->coding.components; i++) {
        all.plane[i] = &img->plane[scan->component[i]];
        visitor.wants[i] = true;
    }
    if (!give)
        return block_visitor_replace(&scan->blocks, &scan->coding, &visitor,
                                     pool, err);
    block_visitor_show(&scan->blocks, &scan->coding, &visitor, pool);
    return 0;
}

int sequential_take_planes(struct sequential *s, const struct image *img,
                           struct thread_pool *pool, struct err *err)
{
    int status = 0;
    for (unsigned i = 0; status == 0 && i < s->scans; i++)
        status = copy_scan(&s->scan[i], img, false, pool, err);
    return status;
}

void sequential_give_planes(struct sequential *s, const struct image *img,
                            struct thread_pool *pool)
{
    for (unsigned i = 0; i < s->scans; i++)
        copy_scan(&s->scan[i], img, true, pool, NULL);
}

void sequential_free(struct sequential *s)
{
    for (unsigned i = 0; i < s->scans; i++)
        entropy_blocks_free(&s->scan[i].blocks);
    s->scans = 0;
}
