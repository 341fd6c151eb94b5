/* Batches of coded scans, with an engine on the host: every picture gets what
 * it becomes, or is refused, however many threads there are and whatever fails.
 */
#include "cli/schedule/device_scans.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

#include "codecs/jpeg/entropy/sequential.h"
#include "codecs/jpeg/read_sequential.h"
#include "tests/support/host_engine.h"
#include "tests/support/jpeg_file.h"
#include "tests/support/test.h"

/* ---- Pictures ------------------------------------------------------------ */

enum { KINDS = 4 };
#define TURN XFORM_ROTATE_90
static struct bytes file[KINDS], want[KINDS]; /* as the CPU turns them */

static void turn_on_cpu(struct bytes *made, struct bytes from)
{
    struct sequential s, to;
    struct err err;
    size_t end;
    must(sequential_read(&s, from, xform_transposes(TURN), NULL, &end, &err) ==
         0);
    sequential_turn(&to, &s, TURN);
    must(sequential_write(made, &to, &s, false, NULL, &err) == 0);
    sequential_free(&s);
}

TEST_SET_UP()
{
    const struct coding coding[KINDS] = {
        { .width = 160, .height = 96, .space = JCS_YCbCr, .h = 2, .v = 2 },
        { .width = 64, .height = 48, .space = JCS_GRAYSCALE },
        { .width = 96, .height = 96, .space = JCS_YCbCr, .restart = 5 },
        { .width = 96, .height = 64, .space = JCS_YCbCr, .h = 2, SCANS_ALONE },
    };
    for (unsigned i = 0; i < KINDS; i++) {
        file[i] = make_noisy_jpeg(&coding[i], 10 * i);
        turn_on_cpu(&want[i], file[i]);
    }
}

TEST_TEAR_DOWN()
{
    for (unsigned i = 0; i < KINDS; i++) {
        bytes_free(&file[i]);
        bytes_free(&want[i]);
    }
}

/* ---- A picture on its way ------------------------------------------------ */

struct picture {
    struct scan_pipeline *pipeline;
    struct scan_ticket ticket;
    enum scan_admission place;
    sem_t resumed;
    struct sequential from;
    struct sequential_turned turned;
};

static size_t left = SIZE_MAX; /* pictures, with the one that begins */

static bool begin(void *context, struct scan_turn *scans, unsigned count)
{
    struct picture *p = context;
    while ((p->place = scan_pipeline_begin(p->pipeline, &p->ticket, scans,
                                           count, left)) ==
               SCAN_PLACE_NONE_YET ||
           p->place == SCAN_PLACE_OPENING)
        scan_pipeline_await_place(p->pipeline, scans, count);
    return p->place == SCAN_PLACE_TAKEN;
}

static void resume(void *context)
{
    struct picture *p = context;
    must(sem_post(&p->resumed) == 0);
}

/* Returns whether it was begun. */
static bool begin_picture(struct picture *p, struct scan_pipeline *pipeline,
                          unsigned kind)
{
    const struct scan_turner turner = { .begin = begin, .context = p };
    const struct decode_plan plan = {
        .representation = REPRESENTATION_COEFFICIENTS,
        .turn = TURN,
        .scan_turner = &turner,
    };
    const struct jpeg_parameters parameters = { .coded = &p->from,
                                                .turned = &p->turned };
    struct err err;
    size_t end;
    memset(p, 0, sizeof *p);
    p->pipeline = pipeline;
    must(sem_init(&p->resumed, 0, 0) == 0);
    must(sequential_find(&p->from, file[kind], &end, &err) == 0);
    return read_sequential_offer(&parameters, &plan);
}

enum end { TURNED, REFUSED, WRONG };

static enum end end_picture(struct picture *p, unsigned kind)
{
    owned_bytes made = { 0 };
    struct err err;
    enum end how = REFUSED;
    if (scan_pipeline_park(p->pipeline, &p->ticket, resume, p))
        while (sem_wait(&p->resumed))
            continue;
    if (p->ticket.turned) {
        must(sequential_write_turned(&made, &p->turned, &err) == 0);
        how = made.size == want[kind].size &&
                      memcmp(made.data, want[kind].data, made.size) == 0
                  ? TURNED
                  : WRONG;
    }
    scan_pipeline_release(p->pipeline, &p->ticket);
    return how;
}

/* ---- Many ---------------------------------------------------------------- */

enum { THREADS = 24, PICTURES = 40 };

struct thread {
    pthread_t thread;
    struct scan_pipeline *pipeline;
    unsigned seed;
    unsigned ended[3], not_begun;
    bool failed; /* of all: the devices did */
    struct err why;
};

static void *turn_some(void *argument)
{
    struct thread *t = argument;
    struct picture p;
    for (unsigned i = 0; i < PICTURES; i++) {
        unsigned kind = (t->seed + i) % KINDS;
        if (begin_picture(&p, t->pipeline, kind))
            t->ended[end_picture(&p, kind)]++;
        else
            t->not_begun++;
        sem_destroy(&p.resumed);
    }
    return NULL;
}

static struct thread turn_many(struct scan_pipeline_opts opts)
{
    static struct thread thread[THREADS];
    struct thread all = { .not_begun = 0 };
    struct scan_pipeline *pipeline = scan_pipeline_open(&opts);
    must(pipeline);
    scan_pipeline_start(pipeline);
    scan_pipeline_start(pipeline);
    for (unsigned i = 0; i < THREADS; i++) {
        thread[i] = (struct thread){ .pipeline = pipeline, .seed = i };
        must(pthread_create(&thread[i].thread, NULL, turn_some, &thread[i]) ==
             0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(thread[i].thread, NULL);
        for (unsigned k = 0; k < 3; k++)
            all.ended[k] += thread[i].ended[k];
        all.not_begun += thread[i].not_begun;
    }
    all.failed = scan_pipeline_failure(pipeline, &all.why);
    CHECK(!scan_pipeline_failure(pipeline, &(struct err){ 0 }), "told twice");
    scan_pipeline_close(pipeline);
    CHECK(atomic_load(&host_engine_plan.opened) ==
              atomic_load(&host_engine_plan.closed),
          "an engine is open");
    CHECK(all.ended[TURNED] + all.ended[REFUSED] + all.ended[WRONG] +
                  all.not_begun ==
              THREADS * PICTURES,
          "pictures are lost");
    CHECK(all.ended[WRONG] == 0, "%u are wrong", all.ended[WRONG]);
    return all;
}

static const struct scan_pipeline_opts usual = {
    .engine = &host_engine,
    .slots = 3,
    .pictures = 64,
    .input = 4 << 20,
    .memory = 64 << 20,
};

/* ---- Tests --------------------------------------------------------------- */

/* What the devices are like, and what becomes of many pictures: all are turned;
 * some are refused; some are refused and then no more begun, or none at all, as
 * the devices have failed. */
TEST(many)
{
    enum fate { ALL, SOME, FAILING, NONE };
    static const int two[] = { 1, 2 };
    static const struct {
        const char *name;
        unsigned devices, refuse;
        bool on_two;      /* of them */
        uint64_t memory;  /* MiB that are allowed; 0: as usual */
        size_t most;      /* MiB that there are; 0: any number */
        int runs;         /* until a device fails, or -1 */
        bool fail_memory; /* for want of memory, once */
        enum fate fate;
        unsigned opened; /* engines; 0: not compared */
        size_t input;    /* MiB of all engines; 0: not compared */
    } cases[] = {
        { "one device", 1, 0, false, 0, 0, -1, false, ALL, 3, 0 },
        { "three devices", 3, 0, false, 0, 0, -1, false, ALL, 9, 0 },
        { "two of three", 3, 0, true, 0, 0, -1, false, ALL, 6, 0 },
        { "no more memory than one", 3, 0, false, 18, 0, -1, false, ALL, 0,
          18 },
        { "too little for four", 4, 0, false, 18, 0, -1, false, NONE, 0, 0 },
        { "no device", 0, 0, false, 0, 0, -1, false, NONE, 0, 0 },
        { "each third refused", 1, 3, false, 0, 0, -1, false, SOME, 0, 0 },
        { "the device fails", 1, 0, false, 0, 0, 5, false, FAILING, 0, 0 },
        { "enough for smaller slots", 1, 0, false, 0, 2, -1, false, ALL, 0, 0 },
        { "not even for these", 1, 0, false, 0, 1, -1, false, NONE, 0, 0 },
        { "memory runs out once", 1, 0, false, 0, 0, 3, true, SOME, 0, 0 },
    };
    struct host_engine_plan *plan = &host_engine_plan;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct scan_pipeline_opts opts = usual;
        const enum fate fate = cases[i].fate;
        host_engine_reset();
        plan->devices = cases[i].devices;
        plan->refuse = cases[i].refuse;
        plan->input_most = cases[i].most << 20;
        atomic_store(&plan->runs_left, cases[i].runs);
        atomic_store(&plan->fail_memory, cases[i].fail_memory);
        opts.device = cases[i].on_two ? two : NULL;
        opts.devices = cases[i].on_two ? 2 : 0;
        if (cases[i].memory)
            opts.memory = cases[i].memory << 20;
        test_case("%s", cases[i].name);
        const struct thread all = turn_many(opts);
        CHECK(all.failed == (fate >= FAILING) &&
                  !all.ended[TURNED] == (fate == NONE) &&
                  !all.ended[REFUSED] == (fate == ALL || fate == NONE) &&
                  !all.not_begun == (fate < FAILING),
              "%u turned, %u refused, %u not begun", all.ended[TURNED],
              all.ended[REFUSED], all.not_begun);
        CHECK(fate != FAILING || !strcmp(all.why.text, "the device has failed"),
              "%s", all.why.text);
        CHECK(!cases[i].opened || atomic_load(&plan->opened) == cases[i].opened,
              "%u engines", atomic_load(&plan->opened));
        CHECK(!cases[i].input || atomic_load(&plan->input) == cases[i].input
                                                                  << 20,
              "%zu bytes", atomic_load(&plan->input));
        CHECK(i || atomic_load(&plan->most) > 1, "no batch of several");
    }
}

/* Whoever began it may look at it later: it is taken until it is released. */
TEST(refused_at_once)
{
    struct scan_pipeline *pipeline = scan_pipeline_open(&usual);
    struct picture p;
    host_engine_reset();
    host_engine_plan.refuse = 1;
    scan_pipeline_start(pipeline);
    CHECK(begin_picture(&p, pipeline, 0), "place %d", p.place);
    CHECK(p.ticket.scans, "it is not taken");
    CHECK(end_picture(&p, 0) == REFUSED, "it is turned");
    CHECK(!p.ticket.scans, "it is still taken");
    sem_destroy(&p.resumed);
    scan_pipeline_close(pipeline);
}

/* The first one need not wait for others; what fills a slot goes in several. */
TEST(one_thread)
{
    struct scan_pipeline *pipeline = scan_pipeline_open(&usual);
    struct picture p[3];
    host_engine_reset();
    CHECK(!begin_picture(&p[0], pipeline, 0) && p[0].place == SCAN_PLACE_DEAD,
          "it has not been started");
    scan_pipeline_start(pipeline);
    for (unsigned i = 0; i < 3; i++)
        CHECK(begin_picture(&p[i], pipeline, i), "place %d", p[i].place);
    for (unsigned i = 0; i < 3; i++) {
        CHECK(end_picture(&p[i], i) == TURNED, "picture %u", i);
        sem_destroy(&p[i].resumed);
    }
    CHECK(begin_picture(&p[0], pipeline, 0), "place %d", p[0].place);
    scan_pipeline_release(pipeline, &p[0].ticket);
    CHECK(p[0].ticket.done, "it is released before it is done");
    sem_destroy(&p[0].resumed);
    scan_pipeline_close(pipeline);
}

/* The last ones do not wait until the device is idle. */
TEST(last)
{
    struct scan_pipeline *pipeline = scan_pipeline_open(&usual);
    struct picture p[2];
    host_engine_reset();
    host_engine_plan.together = 2;
    scan_pipeline_start(pipeline);
    for (left = 2; left > 0; left--) {
        CHECK(begin_picture(&p[left - 1], pipeline, 0), "%zu left", left);
        while (atomic_load(&host_engine_plan.runs) == 0)
            sched_yield();
    }
    for (unsigned i = 0; i < 2; i++) {
        CHECK(end_picture(&p[i], 0) == TURNED, "picture %u", i);
        sem_destroy(&p[i].resumed);
    }
    CHECK(!atomic_load(&host_engine_plan.apart), "one after the other");
    left = SIZE_MAX;
    scan_pipeline_close(pipeline);
}

/* A picture that no slot holds. */
TEST(too_large)
{
    struct scan_pipeline_opts opts = usual;
    opts.input = 2 << 20;
    struct scan_pipeline *pipeline = scan_pipeline_open(&opts);
    struct scan_ticket ticket = { 0 };
    struct entropy_scan scan = { 0 };
    struct scan_turn turn = { .from = &scan, .to = &scan };
    enum scan_admission place;
    host_engine_reset();
    must(bytes_reserve(&turn.coded, 3 << 20));
    turn.coded.size = 3 << 20;
    scan_pipeline_start(pipeline);
    while ((place = scan_pipeline_begin(pipeline, &ticket, &turn, 1, 1)) ==
           SCAN_PLACE_OPENING)
        scan_pipeline_await_place(pipeline, &turn, 1);
    CHECK(place == SCAN_PLACE_SMALL, "place %d", place);
    bytes_free(&turn.coded);
    scan_pipeline_close(pipeline);
}
