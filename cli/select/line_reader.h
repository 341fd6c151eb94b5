/* The lines of a file, or the pieces between NULs, as long as they are no
 * longer than they may be: who writes them is not always who runs this program.
 */
#ifndef CLI_SELECT_LINE_READER_H
#define CLI_SELECT_LINE_READER_H

#include <stdbool.h>
#include <stddef.h>

/* {.fd, .end, .most} at first. With `polled` nobody waits for a line: read() is
 * called once after each time that `readable` is set, and else the answer is
 * LINE_LATER. */
struct line_reader {
    int fd;
    char end;    /* '\n' or '\0' */
    size_t most; /* bytes of a line */
    bool polled, readable;
    char *data;
    size_t at, size, room;
    size_t looked; /* bytes of this line that hold no end */
    bool too_long; /* some bytes of this line are dropped already */
    bool ended;
};

enum line {
    LINE_READ,
    LINE_TOO_LONG, /* passed over; others may follow */
    LINE_NONE,     /* there are no more */
    LINE_FAILED,   /* by errno */
    LINE_LATER,    /* the next one is not here yet */
};

/* Gives the next line without its end, which the last one may lack, and a NUL
 * behind it. It lives until the next call. */
enum line line_reader_next(struct line_reader *lines, char **line,
                           size_t *size);

void line_reader_free(struct line_reader *lines);

#endif
