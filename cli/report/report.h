/* Prints messages and the results of jobs.
 *
 * Names and texts that came from outside are printed with their control
 * characters escaped, so that the name of a file cannot steer a terminal. */
#ifndef CLI_REPORT_REPORT_H
#define CLI_REPORT_REPORT_H

#include <stdio.h>

#include "cli/job/job.h"
#include "cli/select/inputs.h"

/* Prints a line on standard error: "gimgxf: FILE: TEXT"; `file` may be NULL. */
void report_error(const char *file, const char *text);

/* Warns that not all threads could be started, for the reason `why`, an errno;
 * unless that is 0. */
void report_refused_threads(int why, const struct options *opts);

/* Prints why the program does not begin: a line on standard error, and with
 * --json an object on standard output, or on standard error if the picture
 * would go to standard output. `status` is "usage", "no_device" or "failed". */
void report_refusal(const char *status, const char *text,
                    const struct options *opts);

/* Prints the result of a job: its warnings, its error if `err` is not NULL,
 * and, as the options ask, a description in words or in JSON. `why_backend`
 * says why the backend was chosen. */
void report_job(const struct job *job, const struct result *result,
                const struct err *err, const char *why_backend);

/* Returns whether report_job() would print anything. */
bool report_is_due(const struct job *job, const struct result *result,
                   const struct err *err);

/* Prints the result of a job in JSON on `out`, with the members that were
 * understood if the job was not; `id` is what a client of serve knows it by, or
 * NULL. A job that was done, but of which no more is known, has no
 * result->from. */
struct json_value;
void report_answer(FILE *out, const struct json_value *id,
                   const struct job *job, const struct result *result,
                   const struct err *err);

/* Prints how many files of each format a walk did not take, unless there are
 * none. */
void report_passed_over(const struct passed_over *passed,
                        const struct options *opts);

/* Prints what a job would become, on standard output. One that would be
 * skipped, or is refused for the reason `refusal` unless that is NULL, is
 * printed in JSON only. */
void report_plan(const struct job *job, enum skipped skipped,
                 const struct err *refusal);

/* ---- For others that print ---- */

void report_put_escaped(FILE *out, const char *text);

/* Prints all warnings but number `except`, from 1; 0: all. */
void report_warnings(const char *file, const struct options *opts,
                     const struct warnings *warnings, unsigned except);

/* Adds the member "warnings" to an object, but for the one of this number, from
 * 1, if any. */
struct json_writer;
void report_json_warnings(struct json_writer *json,
                          const struct warnings *warnings, unsigned except);

#endif
