/* Points in time as text. */
#include "cli/manifest/timestamp.h"

#include <stdio.h>
#include <string.h>

void timestamp_write(char text[TIMESTAMP_SIZE], struct timespec time)
{
    struct tm tm;
    if (!gmtime_r(&time.tv_sec, &tm)) {
        snprintf(text, TIMESTAMP_SIZE, "@%lld.%09ld", (long long)time.tv_sec,
                 time.tv_nsec);
        return;
    }
    snprintf(text, TIMESTAMP_SIZE, "%04lld-%02d-%02dT%02d:%02d:%02d.%09ldZ",
             tm.tm_year + 1900LL, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour,
             tm.tm_min, tm.tm_sec, time.tv_nsec);
}

/* sscanf() accepts much; what it reads must be written as the same text. */
bool timestamp_read(const char *text, struct timespec *time)
{
    struct tm tm = { 0 };
    char again[TIMESTAMP_SIZE];
    long long seconds, year;
    if (sscanf(text, "@%18lld.%9ld", &seconds, &time->tv_nsec) == 2) {
        time->tv_sec = (time_t)seconds;
    } else {
        if (sscanf(text, "%11lld-%2d-%2dT%2d:%2d:%2d.%9ldZ", &year, &tm.tm_mon,
                   &tm.tm_mday, &tm.tm_hour, &tm.tm_min, &tm.tm_sec,
                   &time->tv_nsec) != 7)
            return false;
        tm.tm_year = (int)(year - 1900);
        tm.tm_mon--;
        time->tv_sec = timegm(&tm);
    }
    timestamp_write(again, *time);
    return strcmp(text, again) == 0;
}

int timestamp_compare(struct timespec a, struct timespec b)
{
    if (a.tv_sec != b.tv_sec)
        return a.tv_sec < b.tv_sec ? -1 : 1;
    return a.tv_nsec < b.tv_nsec ? -1 : a.tv_nsec > b.tv_nsec;
}
