/* Lines, read into one buffer that holds the longest. */
#include "cli/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEP = 1 << 16 };

/* Makes room for a step behind what is there, and for a NUL. */
static bool make_room(struct lines *lines)
{
    memmove(lines->data, lines->data + lines->at, lines->size - lines->at);
    lines->size -= lines->at;
    lines->at = 0;
    if (lines->room - lines->size > STEP)
        return true;
    size_t room = 2 * lines->room + 2 * STEP;
    char *data = realloc(lines->data, room);
    if (!data)
        return false;
    lines->data = data;
    lines->room = room;
    return true;
}

/* LINE_READ: there is more than before, or the end was seen. */
static enum line read_more(struct lines *lines)
{
    ssize_t n;
    if (!lines->data && !(lines->data = malloc(lines->room = 2 * STEP)))
        return LINE_FAILED;
    if (!make_room(lines))
        return LINE_FAILED;
    do {
        if (lines->wait && !lines->wait(lines->fd))
            return LINE_NONE;
        n = read(lines->fd, lines->data + lines->size, STEP);
    } while (n < 0 && (errno == EINTR || errno == EAGAIN));
    if (n < 0)
        return LINE_FAILED;
    lines->size += (size_t)n;
    lines->ended = n == 0;
    return LINE_READ;
}

enum line lines_next(struct lines *lines, char **line, size_t *size)
{
    size_t looked = 0; /* bytes of this line that hold no end */
    bool too_long = false;
    for (;;) {
        size_t left = lines->size - lines->at;
        char *begin = lines->data ? lines->data + lines->at : NULL;
        char *end = left > looked ? memchr(begin + looked, lines->end,
                                           left - looked)
                                  : NULL;
        if (end || (lines->ended && left)) {
            *line = begin;
            *size = end ? (size_t)(end - begin) : left;
            begin[*size] = '\0';
            lines->at += *size + (end != NULL);
            return too_long || *size > lines->most ? LINE_TOO_LONG : LINE_READ;
        }
        if (lines->ended)
            return too_long ? LINE_TOO_LONG : LINE_NONE;
        looked = left;
        if (left > lines->most) { /* only its end is of interest */
            too_long = true;
            lines->at = lines->size;
            looked = 0;
        }
        enum line status = read_more(lines);
        if (status != LINE_READ)
            return status;
    }
}

void lines_free(struct lines *lines)
{
    free(lines->data);
    lines->data = NULL;
}
