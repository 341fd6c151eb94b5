/* The values of options. */
#include "cli/options/value.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options/spelling.h"

int value_read_int(const char *text, int least, int most, int *value,
                   struct err *err)
{
    char *end;
    errno = 0;
    long n = strtol(text, &end, 10);
    if (!*text || text[strspn(text, "-0123456789")] || *end || end == text)
        return fail(err, "'%s' is not a number; expected %d to %d", text, least,
                    most);
    if (errno || n < least || n > most)
        return fail(err, "%s is out of range; expected %d to %d", text, least,
                    most);
    *value = (int)n;
    return 0;
}

/* The locale is that of C, whose decimal point is a dot. */
int value_read_seconds(const char *text, double *value, struct err *err)
{
    const double least = 0.001, most = 1000000000;
    char *end;
    const double n = strtod(text, &end);
    if (!*text || text[strspn(text, "0123456789.")] || *end)
        return fail(err, "'%s' is not a number of seconds, such as 60 or 0.5",
                    text);
    if (!(n >= least && n <= most))
        return fail(err, "%s is out of range; expected %g to %.0f", text, least,
                    most);
    *value = n;
    return 0;
}

int value_read_amount(const char *text, unsigned base, uint64_t *value,
                      struct err *err)
{
    static const char units[] = "KMG";
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    const char *unit = *end >= 'A' ? strchr(units, *end & ~0x20) : NULL;
    if (*text < '0' || *text > '9' || end[unit != NULL])
        return fail(err,
                    "'%s' is not a number; expected one as 500000, or "
                    "with K, M or G as 500M",
                    text);
    for (int i = unit ? (int)(unit - units) + 1 : 0; i > 0; i--)
        if (__builtin_mul_overflow(n, base, &n))
            errno = ERANGE;
    if (errno || n == 0)
        return fail(err,
                    "%s is out of range; expected 1 or more, and less "
                    "than 2^64",
                    text);
    *value = n;
    return 0;
}

void value_list_names(char *text, size_t size, const char *const *names,
                      size_t nnames)
{
    size_t length = 0;
    for (size_t i = 0; i < nnames && length < size; i++)
        length += (size_t)snprintf(text + length, size - length, "%s%s",
                                   i == 0            ? ""
                                   : i + 1 == nnames ? " or "
                                                     : ", ",
                                   names[i]);
}

int value_read_choice(const char *text, const char *const *names, size_t nnames,
                      struct err *err)
{
    char list[256];
    for (size_t i = 0; i < nnames; i++)
        if (strcmp(text, names[i]) == 0)
            return (int)i;
    const char *nearest = spelling_nearest(text, names, nnames);
    value_list_names(list, sizeof list, names, nnames);
    return fail(err, "'%s' is not known; expected %s%s%s%s", text, list,
                nearest ? "; did you mean '" : "", nearest ? nearest : "",
                nearest ? "'?" : "");
}
