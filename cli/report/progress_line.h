/* The line on the terminal that shows progress: of a batch, or of one picture
 * that takes long. */
#ifndef CLI_REPORT_PROGRESS_LINE_H
#define CLI_REPORT_PROGRESS_LINE_H

#include "cli/options/options.h"

/* Returns whether standard error is a terminal where a line can be drawn, and
 * one is wanted. */
bool progress_line_is_shown(const struct options *opts);

/* Draws a line in place of the last one, of n fields, each with what stands before
 * it. Those that the terminal has no room for are left out: the more important
 * ones come first. */
void progress_line_put(const char *const *fields, size_t n);

/* Removes the line. */
void progress_line_wipe(void);

/* Writes "0:42" or "1:02:03", and returns it. */
const char *progress_line_time(double seconds, char text[32]);

#endif
