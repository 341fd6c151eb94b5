/* A manifest in a directory of its own, and the files that it describes, for
 * the tests of manifests. */
#ifndef TESTS_SUPPORT_MANIFEST_LOG_H
#define TESTS_SUPPORT_MANIFEST_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "cli/manifest/resume.h"

/* The manifest. */
#define LOG "log.jsonl"

/* When files of the tests were written. */
extern const struct timespec then;

/* Enters a directory that is made for the test, and leaves and removes it, with
 * the manifest and a.ppm. */
void manifest_log_enter(void);
void manifest_log_leave(void);

/* Ends the test with errno and a name if it does not hold. */
void need(bool holds, const char *what);

/* Writes a file with this time. */
void put_file(const char *name, const char *text, struct timespec mtime);

/* The text of a file with its size, to be freed. */
char *get_file(const char *name, size_t *size);

/* Appends a text to the manifest. */
void append_log(const char *text);

/* Appends a record to the manifest as a job does. */
void note(const struct record *record);

/* What the manifest says of a job. */
enum verdict verdict_of(const struct record *job);

/* Cuts the last line of the manifest after each of its bytes but the last two,
 * its bracket and newline, whose loss does no harm. Returns how often the
 * verdict on the job is another one than this. */
size_t wrong_when_cut(const struct record *job, enum verdict verdict);

/* A job on this file as it is. */
struct record job_of(const char *input, const char *output);

/* The job with a status and, unless it is NULL, the text that was written. */
struct record with_status(struct record job, enum manifest_status status,
                          const char *written);

#endif
