/* Conditions of a test that are not under test themselves: memory, files,
 * libraries. */
#ifndef TESTS_SUPPORT_MUST_H
#define TESTS_SUPPORT_MUST_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static inline void must_at(const char *file, int line, const char *condition,
                           bool holds)
{
    if (holds)
        return;
    fprintf(stderr, "%s:%d: must hold: %s\n", file, line, condition);
    abort();
}

/* Ends the test, and says where, if the condition does not hold. */
#define must(condition) must_at(__FILE__, __LINE__, #condition, condition)

#endif
