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
    struct thread_pool *pool;
    bool failed; /* without memory */
};

static void put_segment(struct output *o, uint8_t marker, const uint8_t *data,
                        size_t size)
{
    o->failed = o->failed || !marker_put(o->file, marker, data, size);
}

/* Puts the quantization tables, in the order in which components need them, and
 * the frame. An extended frame stays one, and is one if it has what no baseline
 * has. */
static void put_frame(struct output *o)
{
    const struct sequential *s = o->s;
    uint8_t marker = s->frame, frame[6 + 3 * ENTROPY_COMPONENTS] = { 8 };
    unsigned done = 0;
    for (unsigned i = 0; i < s->components; i++) {
        const struct sequential_component *c = &s->component[i];
        const uint16_t *steps = s->steps[c->quantization];
        bool wide = false;
        uint8_t table[1 + 128], *to = table + 1;
        memcpy(frame + 6 + 3 * i,
               (uint8_t[]){ c->id, (uint8_t)(c->across << 4 | c->down),
                            c->quantization },
               3);
        if (done >> c->quantization & 1)
            continue;
        done |= 1u << c->quantization;
        for (unsigned k = 0; k < 64; k++)
            wide = wide || steps[k] > 255;
        for (unsigned k = 0; k < 64; k++) {
            if (wide)
                *to++ = (uint8_t)(steps[entropy_natural[k]] >> 8);
            *to++ = (uint8_t)steps[entropy_natural[k]];
        }
        table[0] = (uint8_t)(wide << 4 | c->quantization);
        put_segment(o, MARKER_DQT, table, (size_t)(to - table));
        marker = wide ? MARKER_SOF1 : marker;
    }
    write_be16(frame + 1, s->height);
    write_be16(frame + 3, s->width);
    frame[5] = (uint8_t)s->components;
    put_segment(o, marker, frame, 6 + 3 * (size_t)s->components);
}

/* Puts a table unless the file has it. */
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

/* Puts the header of scan i. */
static void put_scan_header(struct output *o, unsigned i)
{
    const struct sequential_scan *scan = &o->s->scan[i];
    const struct entropy_scan *to = &scan->coding;
    uint8_t data[1 + 2 * ENTROPY_COMPONENTS + 3], restart[2], *p = data;
    *p++ = (uint8_t)to->components;
    for (unsigned k = 0; k < to->components; k++) {
        const struct entropy_component *one = &to->component[k];
        put_huffman(o, false, one->dc, &to->dc[one->dc]);
        put_huffman(o, true, one->ac, &to->ac[one->ac]);
        *p++ = o->s->component[scan->component[k]].id;
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

/* Appends scan i. Returns 1; or 0 if its tables lack a code, or make more bits
 * than these, and nothing is appended; or -1 without memory. */
static int put_coded(struct output *o, unsigned i,
                     const struct entropy_source *from, uint64_t most,
                     struct err *err)
{
    const struct output before = *o;
    const size_t size = o->file->size;
    uint64_t bits;
    put_scan_header(o, i);
    if (entropy_encode(o->file, &o->s->scan[i].coding, from, &bits, o->pool,
                       err))
        return -1;
    if (bits && bits <= most)
        return 1;
    *o = before;
    o->file->size = size;
    return 0;
}

/* Appends scan i with the first tables that suit: those that it has, these with
 * all codes, the shortest. */
static int put_scan(struct output *o, unsigned i, struct entropy_scan *to,
                    const struct entropy_source *from, bool optimize,
                    struct err *err)
{
    struct entropy_statistics counts;
    int done = 0;
    if (!optimize)
        done = put_coded(o, i, from, UINT64_MAX, err);
    if (!optimize && done == 0 && to->most) {
        huffman_complete(to);
        done = put_coded(o, i, from, to->most, err);
    }
    if (done == 0) {
        if (entropy_count(&counts, to, from, o->pool, err))
            return -1;
        for (unsigned k = 0; k < to->components; k++) {
            const struct entropy_component *one = &to->component[k];
            if (!huffman_spec_make(&to->dc[one->dc], counts.dc[one->dc]) ||
                !huffman_spec_make(&to->ac[one->ac], counts.ac[one->ac]))
                return fail(err, "no Huffman table has all codes");
        }
        done = put_coded(o, i, from, UINT64_MAX, err);
    }
    return done > 0   ? 0
           : done < 0 ? -1
                      : fail(err, "a coefficient is out of range");
}

static int end(struct output *o, struct err *err)
{
    static const uint8_t eoi[] = { 0xff, MARKER_EOI };
    return !o->failed && bytes_append(o->file, eoi, sizeof eoi)
               ? 0
               : fail_memory(err, "no memory for the encoded picture");
}

int sequential_write(struct bytes *file, struct sequential *to,
                     const struct sequential *from, bool optimize,
                     struct thread_pool *pool, struct err *err)
{
    struct output o = { .file = file, .s = to, .pool = pool };
    put_frame(&o);
    for (unsigned i = 0; i < to->scans; i++) {
        const struct entropy_source source = { &from->scan[i].blocks,
                                               &from->scan[i].coding,
                                               to->turn };
        if (put_scan(&o, i, &to->scan[i].coding, &source, optimize, err))
            return -1;
    }
    return end(&o, err);
}

int sequential_write_turned(struct bytes *file,
                            struct sequential_turned *turned, struct err *err)
{
    /* The most bytes of all that is not coded data. */
    enum { TABLES = 4 * (5 + 128), FRAME = 64, CODES = 8 * (21 + 256) };
    struct sequential *s = &turned->to;
    struct output o = { .file = file, .s = s };
    size_t size = TABLES + FRAME + s->scans * ((size_t)CODES + FRAME);
    for (unsigned i = 0; i < s->scans; i++)
        size += turned->scan[i].turned.size;
    for (unsigned c = 0; c < s->scan[0].coding.components; c++) {
        const struct scan_samples *samples = &turned->samples[0][c];
        uint16_t *step = s->steps[samples->table];
        for (unsigned k = 0; samples->refines && k < 64; k++)
            step[k] = requantize_step(step[k], samples->cap);
    }
    o.failed = !bytes_reserve(file, size);
    put_frame(&o);
    for (unsigned i = 0; i < s->scans; i++) {
        const struct bytes *data = &turned->scan[i].turned;
        put_scan_header(&o, i);
        o.failed = o.failed || !bytes_append(file, data->data, data->size);
    }
    return end(&o, err);
}
