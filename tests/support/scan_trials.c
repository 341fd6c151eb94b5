/* An engine beside the coder on the CPU. */
#include "tests/support/scan_trials.h"

#include "tests/support/entropy_oracle.h"
#include "tests/support/fixture.h"
#include "tests/support/jpeg_file.h"
#include "tests/support/pairwise.h"
#include "tests/support/scan_jobs.h"
#include "tests/support/test.h"

/* Of the data, for all batches. */
static const size_t room = (size_t)64 << 20;

/* Runs the batch, and empties it. Returns how many scans were turned. What is
 * `slow` to synchronize may be refused. */
static size_t run(struct scan_batch *batch, const char *name, bool slow)
{
    size_t turned = 0;
    scan_batch_run(batch);
    for (size_t i = 0; i < batch->jobs; i++) {
        const struct scan_job *made = &batch->job[i];
        const struct scan_want *want = &batch->want[i];
        turned += made->result == SCAN_TURNED;
        CHECK(scan_batch_is_right(batch, i) ||
                  (slow && made->result == SCAN_REFUSED),
              "%s, scan %zu, turn %d%s: %s, %zu bytes; expected %s, %zu", name,
              i, made->of.turn, made->of.optimize ? ", optimized" : "",
              made->result == SCAN_TURNED ? "turned" : "refused",
              made->out_size, want->turned ? "turned" : "refused",
              want->data.size);
    }
    scan_batch_clear(batch);
    return turned;
}

/* Those that most differ. */
enum { KINDS = ENTROPY_KINDS - 4 };

/* All turns of pictures of all kinds and all sizes, but each picture goes
 * through a third of them if not WHOLE=1. */
void scan_trial_sizes(const struct scan_engine_type *type)
{
    static const uint32_t sizes[][2] = { { 1, 1 },   { 8, 8 },   { 9, 7 },
                                         { 16, 1 },  { 1, 33 },  { 17, 40 },
                                         { 64, 48 }, { 97, 131 } };
    const bool whole = tests_are_whole();
    struct scan_batch batch = scan_batch_open(type, room);
    unsigned way = 0;
    for (unsigned i = 0; i < COUNT(sizes); i++) {
        for (unsigned k = 0; k < KINDS; k++) {
            owned_bytes file =
                entropy_make_kind(k, sizes[i][0], sizes[i][1], 0, way++);
            for (unsigned t = 0; t < 2u * XFORM_COUNT; t++)
                if (whole || t % 3 == (i + k) % 3)
                    (void)scan_batch_add(&batch, file, (enum xform)(t / 2),
                                         t % 2);
        }
        size_t scans = batch.jobs, turned = run(&batch, "sizes", false);
        CHECK(turned == scans, "%zu of %zu", turned, scans);
    }
    scan_batch_close(&batch);
}

/* 1, an odd number, parts of a row, whole rows, more than the picture has. */
void scan_trial_restarts(const struct scan_engine_type *type)
{
    static const unsigned restarts[] = { 1, 3, 5, 13, 26, 1000 };
    const bool whole = tests_are_whole();
    struct scan_batch batch = scan_batch_open(type, room);
    unsigned way = 0;
    for (unsigned i = 0; i < COUNT(restarts); i++) {
        for (unsigned k = 0; k < KINDS; k++) {
            owned_bytes file =
                entropy_make_kind(k, 205, 91, restarts[i], way++);
            for (unsigned t = 0; t < XFORM_COUNT; t++)
                if (whole || t % 3 == (i + k) % 3)
                    (void)scan_batch_add(&batch, file, (enum xform)t,
                                         (t + i) % 3 == 0);
        }
        size_t scans = batch.jobs,
               turned = run(&batch, "restarts", restarts[i] == 1000);
        CHECK(turned >= scans * 2 / 3, "%zu of %zu", turned, scans);
    }
    scan_batch_close(&batch);
}

/* Several tiles, and chunks; and a picture whose tables do not suit it any
 * more. */
void scan_trial_large(const struct scan_engine_type *type)
{
    const struct coding columns = { 901, 603, JCS_YCbCr, .h = 2, .v = 2 };
    struct scan_batch batch = scan_batch_open(type, room);
    owned_bytes other = make_columns_jpeg(&columns);
    (void)scan_batch_add(&batch, other, XFORM_TRANSPOSE, false);
    const bool whole = tests_are_whole();
    for (unsigned k = 0; k < KINDS; k += whole ? 2 : 4)
        for (unsigned way = whole ? k % 3 : k * 3 % 8; way < 8;
             way += whole ? 2 : 8) {
            owned_bytes file =
                entropy_make_kind(k, 901, 603, way % 3 * 37, way);
            (void)scan_batch_add(
                &batch, file, (enum xform)((k + way) % XFORM_COUNT), way > 5);
        }
    size_t scans = batch.jobs, turned = run(&batch, "large", true);
    CHECK(turned >= scans / 2, "%zu of %zu", turned, scans);
    scan_batch_close(&batch);
}

void scan_trial_mutations(const struct scan_engine_type *type, unsigned each)
{
    struct scan_batch batch = scan_batch_open(type, room);
    uint64_t random = 7;
    size_t scans = 0, turned = 0;
    for (unsigned k = 0; k < KINDS; k++)
        for (unsigned way = 0; way < 8; way++) {
            owned_bytes file = entropy_make_kind(k, 47, 60, way % 3, way);
            for (unsigned i = 0; i < (tests_are_whole() ? each : each / 3);
                 i++) {
                owned_bytes damaged = copied(file.data, file.size);
                entropy_mutate(&damaged, &random);
                (void)scan_batch_add(&batch, damaged,
                                     (enum xform)(i % XFORM_COUNT), i % 5 == 0);
            }
            scans += batch.jobs;
            turned += run(&batch, "mutations", false);
        }
    CHECK(turned > scans / 10 && turned < scans * 9 / 10, "%zu of %zu", turned,
          scans);
    scan_batch_close(&batch);
}
