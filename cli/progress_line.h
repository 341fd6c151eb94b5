/* A line on the terminal that tells how the work goes: of a batch, or of one
 * picture that takes long. */
#ifndef CLI_PROGRESS_LINE_H
#define CLI_PROGRESS_LINE_H

#include "cli/options/options.h"

/* Whether stderr is a terminal where a line can be drawn, and one is wanted. */
bool progress_line_is_shown(const struct options *opts);

/* Draws a line in the place of the last one, or takes it away. */
void progress_line_put(const char *line);
void progress_line_wipe(void);

/* Writes "0:42" or "1:02:03", and returns it. */
const char *progress_line_time(double seconds, char text[32]);

#endif
