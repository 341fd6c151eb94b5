/* A scan engine that needs no device. */
#include "tests/support/scan_engine_cpu.h"

#include <stdlib.h>
#include <string.h>

#include "codecs/base/bytes.h"
#include "codecs/jpeg/entropy/entropy_decode.h"
#include "codecs/jpeg/entropy/entropy_encode.h"
#include "codecs/jpeg/entropy/huffman_table.h"

struct scan_engine {
    uint8_t *input;
    size_t room;
    struct bytes output;
};

static void close_engine(struct scan_engine *engine)
{
    if (!engine)
        return;
    free(engine->input);
    bytes_free(&engine->output);
    free(engine);
}

static int open_engine(struct scan_engine **engine,
                       const struct scan_engine_opts *opts, struct err *err)
{
    struct scan_engine *made = calloc(1, sizeof *made);
    if (made) {
        made->room = opts->input;
        made->input = malloc(made->room + !made->room);
    }
    if (!made || !made->input) {
        close_engine(made);
        return fail_memory(err, "no memory for a scan engine");
    }
    *engine = made;
    return 0;
}

static uint8_t *input_of(struct scan_engine *engine, size_t *room)
{
    *room = engine->room;
    return engine->input;
}

static const uint8_t *output_of(struct scan_engine *engine)
{
    return engine->output.data;
}

static int make_tables(struct entropy_scan *to,
                       const struct entropy_source *from, struct err *err)
{
    struct entropy_statistics counts;
    if (entropy_count(&counts, to, from, NULL, err))
        return -1;
    for (unsigned i = 0; i < to->components; i++) {
        const struct entropy_component *one = &to->component[i];
        if (!huffman_spec_make(&to->dc[one->dc], counts.dc[one->dc]) ||
            !huffman_spec_make(&to->ac[one->ac], counts.ac[one->ac]))
            return fail(err, "no Huffman table has all codes");
    }
    return 0;
}

/* As put_scan() of codecs/jpeg/entropy/sequential_write.c does it. */
static int encode(struct bytes *output, const struct scan_job *job,
                  const struct entropy_source *from, struct err *err)
{
    bool lacking = job->optimize;
    if (!job->optimize &&
        entropy_encode(output, job->to, from, &lacking, NULL, err))
        return -1;
    if (lacking && (make_tables(job->to, from, err) ||
                    entropy_encode(output, job->to, from, &lacking, NULL, err)))
        return -1;
    return lacking ? fail(err, "a coefficient is out of range") : 0;
}

/* The data ends where the input of the job ends: a marker is put behind it. */
static int turn(struct scan_engine *engine, const struct scan_job *job,
                struct err *err)
{
    static const uint8_t end[] = { 0xff, 0xd9 };
    struct bytes data = { 0 };
    struct entropy_blocks blocks = { 0 };
    struct entropy_source source = { &blocks, job->from, job->turn };
    size_t used;
    int status = -1;
    if (!bytes_append(&data, engine->input + job->at, job->size) ||
        !bytes_append(&data, end, sizeof end))
        status = fail_memory(err, "no memory for the data of a scan");
    else if (entropy_decode(&blocks, job->from, data.data, data.size, &used,
                            xform_transposes(job->turn), NULL, err) == 0)
        status = used == job->size ? encode(&engine->output, job, &source, err)
                                   : fail(err, "the data does not end");
    entropy_blocks_free(&blocks);
    bytes_free(&data);
    return status;
}

static int run(struct scan_engine *engine, struct scan_job *jobs, size_t n,
               struct err *err)
{
    engine->output.size = 0;
    for (size_t i = 0; i < n; i++) {
        struct scan_job *job = &jobs[i];
        struct err why = { .memory = false };
        job->out = engine->output.size;
        job->result = turn(engine, job, &why) ? SCAN_REFUSED : SCAN_TURNED;
        if (why.memory) {
            *err = why;
            return -1;
        }
        job->out_size = engine->output.size - job->out;
    }
    return 0;
}

const struct scan_engine_type scan_engine_cpu = {
    open_engine, input_of, run, output_of, close_engine,
};
