/* Files of sequential JPEG with Huffman codes, written. */
#include <string.h>

#include "codecs/base/byte_order.h"
#include "codecs/jpeg/entropy/huffman_table.h"
#include "codecs/jpeg/entropy/sequential.h"

/* A file that is being written. */
struct output {
    struct bytes *file;
    const struct sequential *s;
    struct entropy_scan written; /* tables that the file has so far, and DRI */
    bool failed;                 /* without memory */
};

static void put(struct output *o, const void *data, size_t size)
{
    o->failed = o->failed || !bytes_append(o->file, data, size);
}

static void put_segment(struct output *o, uint8_t marker, const uint8_t *data,
                        size_t size)
{
    o->failed = o->failed || !marker_put(o->file, marker, data, size);
}

static bool is_wide(const uint16_t steps[64])
{
    bool wide = false;
    for (unsigned k = 0; k < 64; k++)
        wide = wide || steps[k] > 255;
    return wide;
}

/* The quantization tables, in the order in which components need them. */
static void put_steps(struct output *o)
{
    const struct sequential *s = o->s;
    unsigned done = 0;
    for (unsigned i = 0; i < s->components; i++) {
        unsigned number = s->component[i].quantization;
        const uint16_t *steps = s->steps[number];
        unsigned wide = is_wide(steps);
        uint8_t data[1 + 128] = { (uint8_t)(wide << 4 | number) };
        if (done >> number & 1)
            continue;
        done |= 1u << number;
        for (unsigned k = 0; k < 64; k++) {
            if (wide)
                write_be16(data + 1 + 2 * k, steps[entropy_natural[k]]);
            else
                data[1 + k] = (uint8_t)steps[entropy_natural[k]];
        }
        put_segment(o, MARKER_DQT, data, 1 + 64 * (size_t)(1 + wide));
    }
}

/* An extended frame stays one, and is one if it has what no baseline has. */
static uint8_t frame_marker(const struct sequential *s)
{
    uint8_t marker = s->frame;
    for (unsigned i = 0; i < s->components; i++)
        if (is_wide(s->steps[s->component[i].quantization]))
            marker = MARKER_SOF1;
    return marker;
}

static void put_frame(struct output *o)
{
    const struct sequential *s = o->s;
    uint8_t data[6 + 3 * ENTROPY_COMPONENTS] = { 8 };
    write_be16(data + 1, s->height);
    write_be16(data + 3, s->width);
    data[5] = (uint8_t)s->components;
    for (unsigned i = 0; i < s->components; i++) {
        const struct sequential_component *c = &s->component[i];
        uint8_t *to = data + 6 + 3 * i;
        to[0] = c->id;
        to[1] = (uint8_t)(c->across << 4 | c->down);
        to[2] = c->quantization;
    }
    put_segment(o, frame_marker(s), data, 6 + 3 * (size_t)s->components);
}

/* A table that the file does not have yet. */
static void put_huffman(struct output *o, bool ac, unsigned number,
                        const struct huffman_spec *spec)
{
    struct huffman_spec *have =
        ac ? &o->written.ac[number] : &o->written.dc[number];
    uint8_t data[17 + 256] = { (uint8_t)((unsigned)ac << 4 | number) };
    size_t count = 0;
    if (memcmp(have, spec, sizeof *spec) == 0)
        return;
    *have = *spec;
    for (unsigned i = 0; i < 16; i++)
        count += spec->counts[i];
    memcpy(data + 1, spec->counts, 16);
    memcpy(data + 17, spec->symbols, count);
    put_segment(o, MARKER_DHT, data, 17 + count);
}

static void put_scan_header(struct output *o,
                            const struct sequential_scan *scan)
{
    const struct entropy_scan *to = scan ? &scan->coding : NULL;
    uint8_t data[1 + 2 * ENTROPY_COMPONENTS + 3], restart[2];
    uint8_t *p = data;
    if (!scan)
        return;
    *p++ = (uint8_t)to->components;
    for (unsigned i = 0; i < to->components; i++) {
        const struct entropy_component *one = &to->component[i];
        put_huffman(o, false, one->dc, &to->dc[one->dc]);
        put_huffman(o, true, one->ac, &to->ac[one->ac]);
        *p++ = o->s->component[scan->component[i]].id;
        *p++ = (uint8_t)(one->dc << 4 | one->ac);
    }
    if (to->restart != o->written.restart) {
        write_be16(restart, to->restart);
        put_segment(o, MARKER_DRI, restart, sizeof restart);
        o->written.restart = to->restart;
    }
    memcpy(p, "\0\77\0", 3); /* all coefficients, all bits */
    put_segment(o, MARKER_SOS, data, (size_t)(p - data) + 3);
}

/* Makes the shortest tables for a scan. */
static int make_tables(struct entropy_scan *to,
                       const struct entropy_source *from,
                       struct thread_pool *pool, struct err *err)
{
    struct entropy_statistics counts;
    if (entropy_count(&counts, to, from, pool, err))
        return -1;
    for (unsigned i = 0; i < to->components; i++) {
        const struct entropy_component *one = &to->component[i];
        if (!huffman_spec_make(&to->dc[one->dc], counts.dc[one->dc]) ||
            !huffman_spec_make(&to->ac[one->ac], counts.ac[one->ac]))
            return fail(err, "no Huffman table has all codes");
    }
    return 0;
}

/* Appends the header of a scan, if there is one, and its data. If its tables
 * lack a code, or make more bits than these, nothing is appended, and *done is
 * false. Returns -1 without memory. */
static int put_coded(struct output *o, const struct entropy_scan *to,
                     const struct sequential_scan *header,
                     const struct entropy_source *from, uint64_t most,
                     bool *done, struct thread_pool *pool, struct err *err)
{
    const struct output before = *o;
    const size_t size = o->file->size;
    uint64_t bits;
    put_scan_header(o, header);
    if (entropy_encode(o->file, to, from, &bits, pool, err))
        return -1;
    *done = bits && bits <= most;
    if (!*done) {
        *o = before;
        o->file->size = size;
    }
    return 0;
}

/* Appends a scan with the first tables that suit: those that it has, these with
 * all codes, the shortest. */
static int put_scan(struct output *o, struct entropy_scan *to,
                    const struct sequential_scan *header,
                    const struct entropy_source *from, bool optimize,
                    struct thread_pool *pool, struct err *err)
{
    bool done = false;
    if (!optimize &&
        put_coded(o, to, header, from, UINT64_MAX, &done, pool, err))
        return -1;
    if (!optimize && !done && to->most) {
        huffman_complete(to);
        if (put_coded(o, to, header, from, to->most, &done, pool, err))
            return -1;
    }
    if (done)
        return 0;
    if (make_tables(to, from, pool, err) ||
        put_coded(o, to, header, from, UINT64_MAX, &done, pool, err))
        return -1;
    return done ? 0 : fail(err, "a coefficient is out of range");
}

int sequential_encode_scan(struct bytes *data, struct entropy_scan *to,
                           const struct entropy_source *from, bool optimize,
                           struct thread_pool *pool, struct err *err)
{
    struct output o = { .file = data };
    return put_scan(&o, to, NULL, from, optimize, pool, err);
}

static int end(struct output *o, struct err *err)
{
    static const uint8_t eoi[] = { 0xff, MARKER_EOI };
    put(o, eoi, sizeof eoi);
    return o->failed ? fail_memory(err, "no memory for the encoded picture")
                     : 0;
}

int sequential_write(struct bytes *file, struct sequential *to,
                     const struct sequential *from, enum xform turn,
                     bool optimize, struct thread_pool *pool, struct err *err)
{
    struct output o = { .file = file, .s = to };
    put_steps(&o);
    put_frame(&o);
    for (unsigned i = 0; i < to->scans; i++) {
        const struct sequential_scan *scan = &from->scan[i];
        const struct entropy_source source = { &scan->blocks, &scan->coding,
                                               turn };
        if (put_scan(&o, &to->scan[i].coding, &to->scan[i], &source, optimize,
                     pool, err))
            return -1;
    }
    return end(&o, err);
}

/* The most bytes of all that is not coded data. */
static size_t headers_most(const struct sequential *s)
{
    enum { TABLES = 4 * (5 + 128), FRAME = 64, CODES = 8 * (21 + 256) };
    return TABLES + FRAME + s->scans * ((size_t)CODES + FRAME);
}

int sequential_write_turned(struct bytes *file,
                            const struct sequential_turned *turned,
                            struct err *err)
{
    const struct sequential *s = &turned->to;
    struct output o = { .file = file, .s = s };
    size_t size = headers_most(s);
    for (unsigned i = 0; i < s->scans; i++)
        size += turned->scan[i].turned.size;
    o.failed = !bytes_reserve(file, size);
    put_steps(&o);
    put_frame(&o);
    for (unsigned i = 0; i < s->scans; i++) {
        put_scan_header(&o, &s->scan[i]);
        put(&o, turned->scan[i].turned.data, turned->scan[i].turned.size);
    }
    return end(&o, err);
}
