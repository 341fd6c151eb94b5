/* Points in time as exact text: "2026-11-21T20:07:21.123456789Z". */
#ifndef CLI_MANIFEST_TIMESTAMP_H
#define CLI_MANIFEST_TIMESTAMP_H

#include <stdbool.h>
#include <time.h>

enum { TIMESTAMP_SIZE = 64 };

/* Writes a time; one that no calendar reaches, as a file may have it, as
 * "@SECONDS.NANOSECONDS" since 1970. */
void timestamp_write(char text[TIMESTAMP_SIZE], struct timespec time);

/* Returns false if the text is not what timestamp_write() writes. */
bool timestamp_read(const char *text, struct timespec *time);

/* Returns below 0, 0 or above 0 if a is before b, the same, or after. */
int timestamp_compare(struct timespec a, struct timespec b);

#endif
