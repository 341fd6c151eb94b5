/* The line on the terminal that shows progress. */
#include "cli/report/progress_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool progress_line_is_shown(const struct options *opts)
{
    const char *term = getenv("TERM");
    return !opts->quiet && isatty(STDERR_FILENO) && term &&
           strcmp(term, "dumb") != 0;
}

const char *progress_line_time(double seconds, char text[32])
{
    unsigned long s = (unsigned long)(seconds + 0.5);
    if (s < 3600)
        snprintf(text, 32, "%lu:%02lu", s / 60, s % 60);
    else
        snprintf(text, 32, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
    return text;
}

static unsigned columns(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
        return size.ws_col;
    return 80;
}

/* Bytes are at least as many as columns. */
void progress_line_put(const char *const *fields, size_t n)
{
    size_t room = columns() - 1;
    fputs("\r\033[K", stderr);
    for (size_t i = 0; i < n; i++)
        if (strlen(fields[i]) <= room) {
            room -= strlen(fields[i]);
            fputs(fields[i], stderr);
        }
    fflush(stderr);
}

void progress_line_wipe(void)
{
    fputs("\r\033[K", stderr);
    fflush(stderr); /* what follows may go to stdout, to the same terminal */
}
