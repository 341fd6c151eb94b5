/* Which system calls the process can make: a filter of seccomp.
 *
 * It allows what the program and the C library need on the way of a picture:
 * memory that is never code, files by their descriptors and names, threads,
 * time, and signals to the process itself. A call that starts another program
 * or process, traces one, or opens a socket ends the process by SIGSYS, since
 * the program never makes one. All others fail as they do in a kernel that
 * lacks them, for which the C library has another way. */
#ifndef CLI_SANDBOX_CALL_FILTER_H
#define CLI_SANDBOX_CALL_FILTER_H

#include "codecs/base/err.h"

/* Installs the filter for this thread and those that it starts. The process
 * must have no way to gain privileges (PR_SET_NO_NEW_PRIVS). Returns 0, or -1
 * with the reason. */
int call_filter_install(struct err *err);

#endif
