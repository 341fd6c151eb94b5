/* Conditions of a test that are not under test themselves: memory, files,
 * libraries. */
#ifndef TESTS_SUPPORT_MUST_H
#define TESTS_SUPPORT_MUST_H

#include <stdbool.h>
#include <stdlib.h>

/* Ends the test if it does not hold. */
static inline void must(bool holds)
{
    if (!holds)
        abort();
}

#endif
