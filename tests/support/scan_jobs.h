/* The scans of files as jobs of an engine. */
#ifndef TESTS_SUPPORT_SCAN_JOBS_H
#define TESTS_SUPPORT_SCAN_JOBS_H

#include "codecs/base/bytes.h"
#include "codecs/jpeg/entropy/sequential.h"
#include "cuda/jpeg/scan_engine.h"

/* Returns whether an engine finds a device. If not, the test is skipped, or has
 * failed where CUDA_REQUIRED=1. */
bool scan_has_device(const struct scan_engine_type *type);

/* Turns the data of a scan, and appends what `to` becomes, whose tables may be
 * replaced. Returns false where a device refuses: the data is damaged, or
 * memory has run out. `data` need not have a marker behind it. */
bool host_turn(struct bytes *made, struct entropy_scan *to,
               const struct entropy_scan *from, enum xform turn, bool optimize,
               struct bytes data);

/* What the coder of codecs/jpeg/entropy makes of a scan: its data and tables,
 * or that it is refused. */
struct scan_want {
    bool turned;
    struct bytes data;
    struct entropy_scan to;
};

/* A batch for an engine. {0}, but for type and engine, is empty. */
struct scan_batch {
    const struct scan_engine_type *type;
    struct scan_engine *engine;
    struct scan_job *job;
    struct scan_want *want; /* of each job: what the CPU makes */
    size_t jobs;
    size_t used; /* of the engine's input */
};

/* Opens an engine with so much room for data. Ends the test if it fails. */
struct scan_batch scan_batch_open(const struct scan_engine_type *type,
                                  size_t input);

void scan_batch_close(struct scan_batch *batch);

/* Adds the scans of a file, as far as their headers suit, their data ends and
 * there is room for it. Returns whether there was one. */
bool scan_batch_add(struct scan_batch *batch, struct bytes file,
                    enum xform turn, bool optimize);

/* Runs it. Ends the test if that fails. */
void scan_batch_run(struct scan_batch *batch);

/* Empties it, for the next one. */
void scan_batch_clear(struct scan_batch *batch);

/* Whether the engine made what the CPU makes of a job: refused it, or turned it
 * to the same data and the same tables. */
bool scan_batch_is_right(const struct scan_batch *batch, size_t job);

#endif
