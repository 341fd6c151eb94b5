/* A scan engine that needs no device. */
#include "tests/support/scan_engine_cpu.h"

#include <stdlib.h>

#include "tests/support/host_turn.h"

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

static void turn(struct scan_engine *engine, struct scan_job *job)
{
    const struct bytes data = { .data = engine->input + job->at,
                                .size = job->size };
    job->out = engine->output.size;
    job->result = host_turn(&engine->output, job->to, job->from, job->turn,
                            job->optimize, data)
                      ? SCAN_TURNED
                      : SCAN_REFUSED;
    job->out_size = engine->output.size - job->out;
}

static int run(struct scan_engine *engine, struct scan_job *jobs, size_t n,
               struct err *err)
{
    (void)err;
    engine->output.size = 0;
    for (size_t i = 0; i < n; i++)
        turn(engine, &jobs[i]);
    return 0;
}

static int count_devices(unsigned *count, struct err *err)
{
    (void)err;
    *count = 1;
    return 0;
}

const struct scan_engine_type scan_engine_cpu = {
    count_devices, open_engine, input_of, run, output_of, close_engine, false,
};
