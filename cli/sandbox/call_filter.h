/* Which system calls the process can make: a filter of seccomp. */
#ifndef CLI_SANDBOX_CALL_FILTER_H
#define CLI_SANDBOX_CALL_FILTER_H

#include "codecs/base/err.h"

/* Whose calls can be made; or-ed. */
enum {
    CALLS_OF_PICTURES = 0,
    CALLS_OF_DRIVER = 1,
    CALLS_OF_ATTRIBUTES = 2,
};

/* Installs the filter of these calls for this thread and those that it starts.
 * The process must have no way to gain privileges (PR_SET_NO_NEW_PRIVS).
 * Returns 0, or -1 with the reason. */
int call_filter_install(unsigned calls_of, struct err *err);

#endif
