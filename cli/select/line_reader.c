/* Reads lines into one buffer that holds the longest. */
#include "cli/select/line_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEP = 1 << 16 };

/* Makes room for a step behind what is there, and for a NUL. */
static bool make_room(struct line_reader *lines)
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

/* Returns LINE_READ if there is more than before, or the end was reached. */
static enum line read_more(struct line_reader *lines)
{
    ssize_t n;
    if (lines->polled && !lines->readable)
        return LINE_LATER;
    if (!lines->data && !(lines->data = malloc(lines->room = 2 * STEP)))
        return LINE_FAILED;
    if (!make_room(lines))
        return LINE_FAILED;
    lines->readable = false;
    do
        n = read(lines->fd, lines->data + lines->size, STEP);
    while (n < 0 && (errno == EINTR || (errno == EAGAIN && !lines->polled)));
    if (n < 0)
        return lines->polled && errno == EAGAIN ? LINE_LATER : LINE_FAILED;
    lines->size += (size_t)n;
    lines->ended = n == 0;
    return LINE_READ;
}

enum line line_reader_next(struct line_reader *lines, char **line, size_t *size)
{
    for (;;) {
        size_t left = lines->size - lines->at;
        char *begin = lines->data ? lines->data + lines->at : NULL;
        char *end = left > lines->looked
                        ? memchr(begin + lines->looked, lines->end,
                                 left - lines->looked)
                        : NULL;
        bool whole = end || (lines->ended && left), dropped = lines->dropping;
        if (lines->ended && !left)
            return LINE_NONE;
        lines->looked = whole ? 0 : left;
        if (whole || dropped || left > lines->most) {
            *line = begin;
            *size = end ? (size_t)(end - begin) : left;
            begin[*size] = '\0';
            lines->at += *size + (end != NULL);
            lines->looked = 0;
            lines->dropping = !whole;
            if (!dropped)
                return *size > lines->most ? LINE_TOO_LONG : LINE_READ;
        }
        enum line status = whole ? LINE_READ : read_more(lines);
        if (status != LINE_READ)
            return status;
    }
}

void line_reader_free(struct line_reader *lines)
{
    free(lines->data);
    lines->data = NULL;
}
