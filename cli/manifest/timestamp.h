/* A point of time as text, exactly: "2026-11-21T20:07:21.123456789Z". */
#ifndef CLI_MANIFEST_TIMESTAMP_H
#define CLI_MANIFEST_TIMESTAMP_H

#include <stdbool.h>
#include <time.h>

enum { TIMESTAMP_SIZE = 64 };

/* What no calendar reaches, as a file's time may, comes out as
 * "@SECONDS.NANOSECONDS" since 1970. */
void timestamp_write(char text[TIMESTAMP_SIZE], struct timespec time);

/* False: it is not what timestamp_write() writes. */
bool timestamp_read(const char *text, struct timespec *time);

/* Below 0, 0, above 0: a is before b, the same, after. */
int timestamp_compare(struct timespec a, struct timespec b);

#endif
