/* The scans of files as jobs of an engine. */
#include "tests/support/scan_jobs.h"

#include "codecs/base/byte_order.h"
#include "tests/support/test.h"

bool scan_has_device(const struct scan_engine_type *type)
{
    const struct scan_engine_opts opts = { .input = 1 };
    const char *required = getenv("CUDA_REQUIRED");
    struct scan_engine *engine = NULL;
    struct err err = { .memory = false };
    bool found = type->open(&engine, &opts, &err) == 0;
    type->close(engine);
    if (!found && required && *required == '1')
        CHECK(found, "%s", err.text);
    else if (!found)
        test_skip("%s", err.text);
    return found;
}

/* Returns where the data of the next scan begins; NULL if there is none. */
static const uint8_t *find_data(const uint8_t *at, const uint8_t *end)
{
    while (end - at >= 4 && at[0] == 0xff) {
        const bool scan = at[1] == MARKER_SOS;
        const size_t size = at[1] == 0xff ? 1 : 2 + (size_t)read_be16(at + 2);
        if (size > (size_t)(end - at))
            return NULL;
        at += size;
        if (scan)
            return at;
    }
    return NULL;
}

bool host_turn(struct bytes *made, struct entropy_scan *to,
               const struct entropy_scan *from, enum xform turn, bool optimize,
               struct bytes data)
{
    struct sequential was = { .scans = 1, .scan[0].coding = *from };
    struct sequential is = { .components = to->components,
                             .turn = turn,
                             .scans = 1,
                             .scan[0].coding = *to };
    owned_bytes file = { 0 };
    struct err err;
    bool turned = entropy_decode(&was.scan[0].blocks, from, data,
                                 xform_transposes(turn), NULL, &err) == 0;
    for (unsigned i = 0; i < to->components; i++)
        is.scan[0].component[i] = (uint8_t)i;
    turned =
        turned && sequential_write(&file, &is, &was, optimize, NULL, &err) == 0;
    *to = is.scan[0].coding;
    if (turned) {
        const uint8_t *end = file.data + file.size - 2,
                      *at = find_data(file.data, end);
        must(at && bytes_append(made, at, (size_t)(end - at)));
    }
    sequential_free(&was);
    return turned;
}

struct scan_batch scan_batch_open(const struct scan_engine_type *type,
                                  size_t input)
{
    struct scan_batch batch = { .type = type };
    const struct scan_engine_opts opts = { .input = input };
    struct err err;
    if (type->open(&batch.engine, &opts, &err)) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
    return batch;
}

void scan_batch_clear(struct scan_batch *batch)
{
    for (size_t i = 0; i < batch->jobs; i++) {
        free((void *)batch->job[i].of.from);
        free(batch->job[i].of.to);
        bytes_free(&batch->want[i].data);
    }
    free(batch->job);
    free(batch->want);
    batch->job = NULL;
    batch->want = NULL;
    batch->jobs = batch->used = 0;
}

void scan_batch_close(struct scan_batch *batch)
{
    scan_batch_clear(batch);
    batch->type->close(batch->engine);
}

void scan_batch_run(struct scan_batch *batch)
{
    struct err err;
    if (batch->type->run(batch->engine, batch->job, batch->jobs, &err)) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
}

static struct entropy_scan *copy_of(const struct entropy_scan *scan)
{
    struct entropy_scan *copy = malloc(sizeof *copy);
    must(copy != NULL);
    *copy = *scan;
    return copy;
}

static bool add_data(struct scan_batch *batch, const uint8_t *data, size_t size)
{
    const size_t room = batch->engine->room;
    batch->used += SCAN_ALIGNMENT - 1;
    batch->used -= batch->used % SCAN_ALIGNMENT;
    if (size == 0 || batch->used > room || size > room - batch->used)
        return false;
    memcpy(batch->engine->input + batch->used, data, size);
    return true;
}

static void add_job(struct scan_batch *batch, struct scan_job job,
                    const uint8_t *data)
{
    const size_t jobs = batch->jobs + 1;
    batch->job = realloc(batch->job, jobs * sizeof *batch->job);
    batch->want = realloc(batch->want, jobs * sizeof *batch->want);
    must(batch->job && batch->want);
    struct scan_want *want = &batch->want[batch->jobs];
    *want = (struct scan_want){ .to = *job.of.to };
    want->turned = host_turn(
        &want->data, &want->to, job.of.from, job.of.turn, job.of.optimize,
        (struct bytes){ .data = (uint8_t *)(uintptr_t)data, .size = job.size });
    job.at = batch->used;
    batch->used += job.size;
    batch->job[batch->jobs++] = job;
}

bool scan_batch_add(struct scan_batch *batch, struct bytes file,
                    enum xform turn, bool optimize)
{
    const uint8_t *at = file.data + 2, *end = file.data + file.size;
    struct sequential s, to;
    struct err err;
    const size_t jobs = batch->jobs;
    size_t ended;
    /* Damage is for the engine to find: the headers before it have been read.
     */
    (void)sequential_read(&s, file, false, NULL, &ended, &err);
    while (s.scans && s.scan[s.scans - 1].coding.columns == 0)
        s.scans--;
    sequential_turn(&to, &s, turn);
    for (unsigned i = 0; file.size > 2 && i < s.scans; i++) {
        at = find_data(at, end);
        const uint8_t *behind = at ? marker_find(at, end) : NULL;
        const size_t size = behind ? (size_t)(behind - at) : 0;
        if (!add_data(batch, at, size))
            break;
        add_job(batch,
                (struct scan_job){ .of = { .from = copy_of(&s.scan[i].coding),
                                           .to = copy_of(&to.scan[i].coding),
                                           .turn = turn,
                                           .optimize = optimize },
                                   .size = size },
                at);
        at += size;
    }
    sequential_free(&s);
    return batch->jobs > jobs;
}

bool scan_batch_is_right(const struct scan_batch *batch, size_t job)
{
    const struct scan_job *made = &batch->job[job];
    const struct scan_want *want = &batch->want[job];
    const uint8_t *data = batch->engine->output + made->out;
    if (!want->turned)
        return made->result == SCAN_REFUSED;
    return made->result == SCAN_TURNED && made->out_size == want->data.size &&
           memcmp(data, want->data.data, made->out_size) == 0 &&
           memcmp(made->of.to, &want->to, sizeof want->to) == 0;
}
