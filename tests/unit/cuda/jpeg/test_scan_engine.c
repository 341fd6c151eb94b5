/* Engines give the data that files of turned pictures have. */
#include <string.h>

#include "codecs/jpeg/entropy/sequential.h"
#include "tests/support/jpeg_file.h"
#include "tests/support/must.h"
#include "tests/support/scan_engine_cpu.h"
#include "tests/support/scan_jobs.h"
#include "tests/support/test.h"

/* The picture as codecs/jpeg/entropy turns it. */
static struct bytes turned(struct bytes file, enum xform turn, bool optimize)
{
    struct sequential s, to;
    struct bytes made = { 0 };
    struct err err;
    size_t end;
    must(sequential_read(&s, file, xform_transposes(turn), NULL, &end, &err) ==
         0);
    sequential_turn(&to, &s, turn);
    must(sequential_write(&made, &to, &s, optimize, NULL, &err) == 0);
    sequential_free(&s);
    return made;
}

TEST(data_of_files)
{
    static const jpeg_scan_info alone[] = { { 1, { 2 }, 0, 63, 0, 0 },
                                            { 1, { 0 }, 0, 63, 0, 0 },
                                            { 1, { 1 }, 0, 63, 0, 0 } };
    const struct coding codings[] = {
        { 97, 131, JCS_GRAYSCALE, .standard = true },
        { 203, 77, JCS_YCbCr, .h = 2, .v = 2, .restart = 3 },
        { 203, 77, JCS_YCbCr, .h = 2, .v = 1, .scan = alone, .scans = 3 },
    };
    for (unsigned i = 0; i < sizeof codings / sizeof *codings; i++)
        for (unsigned t = 0; t < 2u * XFORM_COUNT; t++) {
            const enum xform turn = (enum xform)(t / 2);
            struct scan_batch batch =
                scan_batch_open(&scan_engine_cpu, 1 << 20);
            struct bytes file = make_noisy_jpeg(&codings[i], 30);
            struct bytes want = turned(file, turn, t % 2);
            must(scan_batch_add(&batch, file, turn, t % 2));
            scan_batch_run(&batch);
            CHECK(batch.jobs == 1 || batch.jobs == 3, "%zu", batch.jobs);
            for (size_t k = 0; k < batch.jobs; k++) {
                const struct scan_job *job = &batch.job[k];
                CHECK(job->result == SCAN_TURNED &&
                          memmem(want.data, want.size,
                                 batch.type->output(batch.engine) + job->out,
                                 job->out_size),
                      "picture %u, turn %u, scan %zu", i, t, k);
            }
            scan_batch_close(&batch);
            bytes_free(&file);
            bytes_free(&want);
        }
}
