/* How a batch goes: what it has done so far, a line of progress on a terminal,
 * and the summary at its end. */
#ifndef CLI_BATCH_PROGRESS_H
#define CLI_BATCH_PROGRESS_H

#include "cli/job/job.h"

struct progress {
    size_t all;                /* files that are to be done */
    size_t done, skipped, failed;
    size_t how[HOWS];
    size_t anew;            /* reencoded only since a turn was not exact */
    const char **anew_name; /* of these files, as many as could be kept */
    size_t anew_names, anew_room;
    uint64_t bytes_in, bytes_out;
    double seconds[STAGES];    /* of all workers together */
    double waited;             /* the same, for memory */
    double begin;
    bool shown;                /* on a terminal, and wanted */
    double drawn;              /* when */
    bool visible;              /* it stands on the terminal */
};

void progress_begin(struct progress *progress, size_t all,
                    const struct options *opts);

/* Counts what became of a file, whose name stays until the end. */
void progress_count(struct progress *progress, const struct job *job,
                    const struct result *result, bool failed);

/* Draws the line, if it is time to. */
void progress_draw(struct progress *progress);

/* Takes it away, for something else to be printed. */
void progress_clear(struct progress *progress);

/* Prints on standard error how many of all files would be done. */
void progress_plan(size_t planned, size_t all);

/* How many files were not begun. */
size_t progress_left(const struct progress *progress);

/* Prints the summary on standard error, and frees what was kept for it.
 * `ended`: before all files were begun. `stages`: and how long each took. */
void progress_summary(struct progress *progress, bool ended, bool stages);

#endif
