/* All that is printed: messages, results, descriptions.
 *
 * Names and texts that came from outside are printed with their control
 * characters escaped, so that a file's name cannot steer a terminal. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include <stdio.h>

#include "cli/job/job.h"
#include "cli/select/passed_over.h"

/* One line on stderr: "gimgxf: FILE: TEXT"; file may be NULL. */
void report_error(const char *file, const char *text);

/* What keeps the whole program from beginning: a line on stderr, and with --json
 * an object on stdout, or on stderr if the picture would go to stdout. `status`
 * is "usage" or "no_device". */
void report_refusal(const char *status, const char *text,
                    const struct options *opts);

/* "done", "skipped" or "failed". */
const char *report_status(const struct result *result, const struct err *err);

/* What became of a job: its warnings, its error if `err` is not NULL, and, as
 * the options ask, the story of it in words or in JSON. */
void report_job(const struct job *job, const struct result *result,
                const struct err *err, const char *why_backend);

/* Whether that is anything at all. */
bool report_is_due(const struct job *job, const struct result *result,
                   const struct err *err);

/* The same in JSON alone, on `out`; of a job that was not understood as far as
 * it was, and of one that is done without how, where result->from is NULL. */
void report_answer(FILE *out, const struct job *job,
                   const struct result *result, const struct err *err);

/* Of a file that a walk did not take: with -v a line, with --json an object. */
void report_passed(const struct passed_file *file, const struct options *opts);

/* What a job would do, on stdout, by what job_foresee() has found; `err` is
 * NULL if it is not known to fail. In JSON also of a job that is skipped. */
void report_plan(const struct job *job, const struct result *result, bool known,
                 const struct err *err);

/* Prints the first line of a table of pictures as CSV, the names of its columns.
 */
void report_csv_head(void);

/* Prints on stdout what a picture is: in words, or as the options ask in JSON or
 * as a line of CSV. If err is not NULL it says why that cannot be told. */
void report_picture(const char *file, const struct options *opts,
                    const struct image *img, const struct result *result,
                    const struct err *err);

#endif
