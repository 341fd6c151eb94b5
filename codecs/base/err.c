/* Reasons of failure, and warnings. */
#include "codecs/base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void set_text(struct err *err, const char *format, va_list args)
{
    vsnprintf(err->text, sizeof err->text, format, args);
    err->memory = err->full = err->unread = false;
}

int fail(struct err *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_text(err, format, args);
    va_end(args);
    return -1;
}

int fail_unread(struct err *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_text(err, format, args);
    va_end(args);
    err->unread = true;
    return -1;
}

int fail_memory(struct err *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_text(err, format, args);
    va_end(args);
    err->memory = err->unread = true;
    return -1;
}

int fail_system(struct err *err, const char *what)
{
    int number = errno;
    fail_unread(err, "%s%s%s", what ? what : "", what ? ": " : "",
                strerror(number));
    err->full = number == ENOSPC || number == EDQUOT;
    return -1;
}

int fail_with(struct err *err, const struct err *other, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_text(err, format, args);
    va_end(args);
    err->memory = other->memory;
    err->full = other->full;
    err->unread = other->unread;
    return -1;
}

void warn(struct warnings *warnings, const char *format, ...)
{
    if (warnings->count < WARNINGS_MAX) {
        va_list args;
        va_start(args, format);
        set_text(&warnings->list[warnings->count], format, args);
        va_end(args);
    }
    warnings->count++;
}
