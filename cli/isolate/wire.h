/* What a supervisor and its worker process share: the messages on the socket
 * between them, and a table in memory that both see, with a note about each
 * job.
 *
 * The supervisor outlives the worker process, so it checks everything that the
 * worker may have written here: see cli/isolate/supervisor.h. */
#ifndef CLI_ISOLATE_WIRE_H
#define CLI_ISOLATE_WIRE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/job/job.h"

/* How far a job came. */
enum job_step {
    JOB_WAITS,   /* not begun */
    JOB_BEGUN,   /* the input is read or turned; the output is what it was */
    JOB_WRITES,  /* the output is what it was, or written */
    JOB_WRITTEN, /* the output is written */
    JOB_STEPS,
};

/* What stands under the name of an output: nothing, or a file. It is another
 * file if any of these numbers differs. */
struct output_stat {
    uint64_t exists; /* 1 or 0; as wide as the rest, to be compared as bytes */
    uint64_t device, inode, size;
    int64_t modified[2], changed[2]; /* seconds and nanoseconds */
};

/* What the worker process notes about a job. `before` is what stood under the
 * name of the output. It and what is below it count from JOB_WRITES on, and the
 * last two are for the worker process after this one only. */
struct job_note {
    atomic_uint step; /* an enum job_step */
    struct output_stat before;
    struct result result; /* as the output is about to be written */
    uint64_t mark;        /* a number of the client's */
};

/* A copy of a note, as far as it says whether the job was done. */
struct job_past {
    enum job_step step;
    struct output_stat before;
};

struct note_table {
    atomic_bool ending;     /* no more jobs are to be begun */
    struct job_note note[]; /* by slot */
};

/* Why a job has no text. */
enum job_trouble { JOB_IS_TEXT, JOB_TOO_LONG, JOB_NO_MEMORY };

/* From the supervisor: a job, followed by `size` bytes of text. */
struct job_message {
    uint32_t slot, size;
    uint32_t trouble;     /* an enum job_trouble */
    bool again;           /* a worker process ended while it did this job, */
    bool only_report;     /* and the job is not done again, */
    int32_t status;       /* this is the wait status of that process, */
    struct job_past past; /* and so far it had come */
};

/* To the supervisor: an answer, followed by `size` bytes of text. The first
 * message of all has no text and this slot: the worker process is ready. */
struct answer_message {
    uint32_t slot, size;
    uint32_t failed; /* 1 or 0 */
};
enum { ANSWER_READY = INT32_MAX };

/* An answer of serve repeats what the job said, with up to six bytes for one.
 */
enum { ANSWER_MAX = 16 << 20 };

#endif
