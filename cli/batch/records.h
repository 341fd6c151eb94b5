/* What a batch notes in its manifest (--manifest), and what it knows of the
 * runs before it (--resume). Without these options nothing is noted and nothing
 * is known.
 *
 * A manifest that cannot be written ends the batch, as `failed` says: what is
 * done from then on would be done again by the next run, which turns a file
 * that is replaced in place once too often. */
#ifndef CLI_BATCH_RECORDS_H
#define CLI_BATCH_RECORDS_H

#include <stdatomic.h>

#include "cli/job/job.h"
#include "cli/manifest/manifest.h"
#include "cli/manifest/resume.h"
#include "cli/select/inputs.h"

/* What is noted of a job when the file is there that it has a part in. */
struct kept_note;

struct records {
    struct resume resume;
    struct kept_note *kept;    /* of each job of a stack, or NULL */
    size_t count;              /* of the jobs */
    struct manifest *manifest; /* NULL: there is none */
    struct warnings warnings;  /* about it, once it is open */
    atomic_bool failed;        /* the manifest could not be written, */
    atomic_bool disk_full;     /* since the disk is full */
};

/* What was noted of an output before it was written. {0} at first. */
struct output_sum {
    bool known;
    uint32_t crc; /* CRC-32 (ISO 3309) */
};

/* Opens the manifest, and reads that of the runs before. `job` gives the i-th
 * of `count` jobs, with its names and its options. Returns 0, or -1 with the
 * reason; records_close() is needed after both. */
int records_open(struct records *records, const struct options *opts,
                 size_t count, struct job (*job)(void *context, size_t i),
                 void *context, struct err *err);

/* Returns 0, or -1 with the reason if the manifest could not be written. */
int records_close(struct records *records, struct err *err);

/* Asks whether a run before did the i-th job. *verdict is VERDICT_TODO,
 * VERDICT_DONE or VERDICT_CHANGED: nobody can tell. Returns 0. On failure, and
 * if nobody can tell, it returns -1 with the reason. */
int records_check(struct records *records, size_t i, const struct job *job,
                  enum verdict *verdict, struct err *err);

/* Notes that a job is about to replace its own input, and by what, so that the
 * next run knows after a sudden end whether it was replaced. Other jobs are not
 * noted.
 * Returns 0, or -1 with the reason. */
int records_note_ready(struct records *records, const struct job *job,
                       const struct result *result, struct bytes output,
                       struct output_sum *sum, struct err *err);

/* Notes what became of a job, unless that is not known: the input of one that
 * was done has bytes. `failure` is NULL if it did not fail.
 * Returns 0, or -1 with the reason. */
int records_note_result(struct records *records, const struct job *job,
                        const struct result *result, struct output_sum sum,
                        const struct err *failure, struct err *err);

/* Keeps what became of the i-th job, which was done, until records_note_kept().
 */
void records_keep_result(struct records *records, size_t i,
                         const struct result *result);

/* Notes what was kept of all jobs, whose outputs are one file of so many bytes.
 * Returns 0, or -1 with the reason. */
int records_note_kept(struct records *records, uint64_t written,
                      struct job (*job)(void *context, size_t i), void *context,
                      struct err *err);

/* Notes a file that was found and is not read.
 * Returns 0, or -1 with the reason. */
int records_note_passed_over(struct records *records,
                             const struct passed_file *file, struct err *err);

#endif
