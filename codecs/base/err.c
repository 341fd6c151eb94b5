/* The one way to say what went wrong, and what was lost on the way. */
#include "codecs/base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int fail(struct err *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    err->memory = false;
    err->full = false;
    return -1;
}

int fail_memory(struct err *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    err->memory = true;
    err->full = false;
    return -1;
}

int fail_system(struct err *err, const char *what)
{
    int number = errno;
    fail(err, "%s%s%s", what ? what : "", what ? ": " : "", strerror(number));
    err->full = number == ENOSPC || number == EDQUOT;
    return -1;
}

void warn(struct warnings *warnings, const char *format, ...)
{
    if (warnings->count < WARNINGS_MAX) {
        struct err *slot = &warnings->list[warnings->count];
        va_list args;
        va_start(args, format);
        vsnprintf(slot->text, sizeof slot->text, format, args);
        va_end(args);
    }
    warnings->count++;
}
