/* Reads the lines of a file, or the strings between NULs. Unlike getdelim() it
 * bounds their length, since their writer may not be trusted, and need not wait
 * for them. */
#ifndef CLI_SELECT_LINE_READER_H
#define CLI_SELECT_LINE_READER_H

#include <stdbool.h>
#include <stddef.h>

/* {.fd, .end, .most} at first. With `polled`, read() is called only once after
 * the caller has set `readable`, so that it never waits; until then the answer
 * is LINE_LATER. */
struct line_reader {
    int fd;
    char end;    /* '\n' or '\0' */
    size_t most; /* bytes of a line */
    bool polled, readable;
    char *data;
    size_t at, size, room;
    size_t looked; /* bytes of this line that were searched for its end */
    bool dropping; /* this line is too long, and was given already */
    bool ended;
};

enum line {
    LINE_READ,
    LINE_TOO_LONG, /* its beginning; others may follow */
    LINE_NONE,     /* there are no more */
    LINE_FAILED,   /* errno says why */
    LINE_LATER,    /* the next one has not arrived yet */
};

/* Gives the next line without its end, which the last one may lack, followed by
 * a NUL. The line is valid until the next call. */
enum line line_reader_next(struct line_reader *lines, char **line,
                           size_t *size);

void line_reader_free(struct line_reader *lines);

#endif
