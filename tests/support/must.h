/* What has to hold for a test to go on, and is not under test: memory, files,
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
