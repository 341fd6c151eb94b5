/* The lines of a file, or the pieces between NULs, as long as they are no longer
 * than they may be: who writes them is not always who runs this program. */
#ifndef CLI_LINES_H
#define CLI_LINES_H

#include <stdbool.h>
#include <stddef.h>

/* {.fd, .end, .most} at first, and `wait` if it is to be asked before each
 * read(), which may block: false ends the lines. */
struct lines {
    int fd;
    char end;    /* '\n' or '\0' */
    size_t most; /* bytes of a line */
    bool (*wait)(int fd);
    char *data;
    size_t at, size, room;
    bool ended;
};

enum line {
    LINE_READ,
    LINE_TOO_LONG, /* passed over; others may follow */
    LINE_NONE,     /* there are no more */
    LINE_FAILED,   /* by errno */
};

/* Gives the next line without its end, which the last one may lack, and a NUL
 * behind it. It lives until the next call. */
enum line lines_next(struct lines *lines, char **line, size_t *size);

void lines_free(struct lines *lines);

#endif
