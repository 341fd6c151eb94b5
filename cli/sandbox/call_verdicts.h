/* What becomes of each system call, on processors of which the calls are known.
 *
 * CALLS_OF_PICTURES are what the program and the C library need on the way of a
 * picture: memory that is never code, files by their descriptors and names,
 * threads, time, and signals to the process itself. A call that starts another
 * program or process, traces one, or opens a socket ends the process by SIGSYS,
 * since the program never makes one. All others fail as they do in a kernel
 * that lacks them, for which the C library has another way.
 *
 * CALLS_OF_DRIVER are those with the driver of a GPU, of which nobody knows all
 * that it calls. What no driver needs is refused with EPERM, since it may try
 * and go on without: the same as above, to change the mode and owner of files
 * by their names, and what only an administrator does. It can map code and make
 * local sockets, but connect to none.
 *
 * CALLS_OF_ATTRIBUTES give an open file its mode, owner, access control list,
 * extended attributes and times, as an output that replaces a file gets them.
 * The kernel lets them do so to a file that is open for reading, such as an
 * input, so they are refused where nothing is written. */
#ifndef CLI_SANDBOX_CALL_VERDICTS_H
#define CLI_SANDBOX_CALL_VERDICTS_H

#include <linux/audit.h>
#include <stdint.h>

#if defined(__x86_64__) && !defined(__ILP32__)
#define CALL_VERDICTS_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__) && !defined(__ILP32__)
#define CALL_VERDICTS_ARCH AUDIT_ARCH_AARCH64
#endif

/* Whose calls can be made; or-ed. */
enum {
    CALLS_OF_PICTURES = 0,
    CALLS_OF_DRIVER = 1,
    CALLS_OF_ATTRIBUTES = 2,
};

/* A call that is allowed by one of its arguments. */
struct call_rule {
    unsigned call, argument;
    enum {
        TEST_EQUAL,  /* it is one of so many values, */
        TEST_OTHER,  /* its lower half is none of them, */
        TEST_HAS,    /* it has a bit of the first one, */
        TEST_HAS_NO, /* or none */
    } test;
    unsigned values;
    uint32_t value[4];
    uint32_t otherwise; /* what becomes of the call: SECCOMP_RET_* */
};

struct call_verdict {
    const struct call_rule *rule; /* or, if that is NULL, */
    uint32_t action;              /* SECCOMP_RET_* */
};

/* All numbers of calls are smaller. */
enum { CALL_VERDICTS = 512 };

struct call_verdicts {
    struct call_verdict of[CALL_VERDICTS];
    struct call_rule to_itself[2]; /* kill() and tgkill() */
};

/* Sets what becomes of each call of this process. */
void call_verdicts_choose(struct call_verdicts *verdicts, unsigned calls_of);

#endif
