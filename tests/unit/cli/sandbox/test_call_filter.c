/* What the filter of system calls says of a call, by an interpreter of it: the
 * kernel is not asked, so that this also runs where qemu takes its place. */
#include "cli/sandbox/sandbox.h"

#include <asm/sockios.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/support/test.h"

enum { ROOM = 4096 };
static struct sock_filter code[ROOM];
static unsigned length;

/* In place of the C library's: keeps what is to be installed. */
long syscall(long number, ...)
{
    va_list arguments;
    va_start(arguments, number);
    if (number == SYS_seccomp) {
        (void)va_arg(arguments, long);
        (void)va_arg(arguments, long);
        const struct sock_fprog *program =
            va_arg(arguments, const struct sock_fprog *);
        length = program->len < ROOM ? program->len : 0;
        memcpy(code, program->filter, length * sizeof *code);
    }
    va_end(arguments);
    errno = ENOSYS;
    return number == SYS_seccomp ? 0 : -1;
}

enum { UNFINISHED = 0x12345678 };

/* Runs the filter as the kernel does. */
static uint32_t run_filter(const struct seccomp_data *call)
{
    uint32_t value = 0;
    for (unsigned at = 0; at < length; at++) {
        const struct sock_filter *step = &code[at];
        bool yes = false;
        switch (step->code) {
        case BPF_LD | BPF_W | BPF_ABS:
            if (step->k % 4 || step->k + 4 > sizeof *call)
                return UNFINISHED;
            memcpy(&value, (const char *)call + step->k, 4);
            continue;
        case BPF_RET | BPF_K:
            return step->k;
        case BPF_JMP | BPF_K | BPF_JEQ:
            yes = value == step->k;
            break;
        case BPF_JMP | BPF_K | BPF_JGE:
            yes = value >= step->k;
            break;
        case BPF_JMP | BPF_K | BPF_JSET:
            yes = (value & step->k) != 0;
            break;
        default:
            return UNFINISHED;
        }
        at += yes ? step->jt : step->jf;
    }
    return UNFINISHED;
}

#if defined(__x86_64__) && !defined(__ILP32__)
enum { HAS_FILTER = 1 };
static const uint32_t native = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__) && !defined(__ILP32__)
enum { HAS_FILTER = 1 };
static const uint32_t native = AUDIT_ARCH_AARCH64;
#else
enum { HAS_FILTER = 0 };
static const uint32_t native;
#endif

enum {
    REFUSED = SECCOMP_RET_ERRNO | EPERM,
    UNKNOWN = SECCOMP_RET_ERRNO | ENOSYS,
};
#define ALLOWED SECCOMP_RET_ALLOW
#define KILLED  SECCOMP_RET_KILL_PROCESS

/* A call with one argument that is not 0, or none. */
struct call {
    const char *name;
    long number;
    unsigned argument;
    uint64_t value;
};
#define WITH(name, argument, value)                                            \
    {                                                                          \
#name, SYS_##name, argument, value                                     \
    }
#define CALL(name) WITH(name, 0, 0)

static void check_calls(uint32_t want, const struct call *calls, size_t count)
{
    for (const struct call *c = calls; c < calls + count; c++) {
        struct seccomp_data call = { .nr = (int)c->number, .arch = native };
        call.args[c->argument] = c->value;
        uint32_t found = run_filter(&call);
        CHECK(found == want, "%s, argument %u is %#llx: %#x, not %#x", c->name,
              c->argument, (unsigned long long)c->value, found, want);
    }
}
#define ARE(want, ...)                                                         \
    check_calls(want, (const struct call[]){ __VA_ARGS__ },                    \
                sizeof((const struct call[]){ __VA_ARGS__ }) /                 \
                    sizeof(struct call))

/* Returns whether there is a filter, which `code` then holds. */
static bool make_filter(unsigned calls_of)
{
    struct err err = { 0 };
    length = 0;
    int status = call_filter_install(calls_of, &err);
    if (HAS_FILTER)
        CHECK(status == 0 && length > 0, "%s", err.text);
    else
        test_skip("this processor's calls are not filtered");
    return HAS_FILTER && length > 0;
}

TEST(calls)
{
    if (!make_filter(CALLS_OF_PICTURES))
        return;
    ARE(ALLOWED, CALL(read), CALL(openat), CALL(renameat2), CALL(futex),
        CALL(exit_group));
    ARE(KILLED, CALL(execve), CALL(execveat), CALL(socket), CALL(ptrace),
        CALL(bpf));
    ARE(UNKNOWN, CALL(clone3), CALL(chroot), { "the last number", 511, 0, 0 },
        { "one more", 512, 0, 0 }, { "no number", -1, 0, 0 });
}

TEST(arguments)
{
    const uint64_t high = (uint64_t)1 << 32, self = (uint64_t)getpid();
    if (!make_filter(CALLS_OF_PICTURES | CALLS_OF_ATTRIBUTES))
        return;
    ARE(ALLOWED, WITH(mmap, 2, PROT_READ | PROT_WRITE),
        WITH(mprotect, 2, PROT_READ), WITH(clone, 0, CLONE_VM | CLONE_THREAD),
        WITH(ioctl, 1, TCGETS), WITH(ioctl, 1, TIOCGWINSZ),
        WITH(fcntl, 1, F_DUPFD_CLOEXEC), WITH(fcntl, 1, F_GETFL),
        CALL(sched_setaffinity), WITH(prctl, 0, PR_SET_NAME),
        WITH(utimensat, 1, 0), WITH(prlimit64, 2, 0), WITH(kill, 0, self),
        WITH(tgkill, 0, self));
    ARE(REFUSED, WITH(mmap, 2, PROT_READ | PROT_EXEC),
        WITH(mprotect, 2, PROT_EXEC), WITH(ioctl, 1, TIOCSTI),
        WITH(ioctl, 1, high | TCGETS), WITH(fcntl, 1, F_SETFL),
        WITH(fcntl, 1, F_SETOWN), WITH(fcntl, 1, F_SETOWN_EX),
        WITH(fcntl, 1, F_SETSIG), WITH(fcntl, 1, F_NOTIFY),
        WITH(fcntl, 1, high | F_GETFD), WITH(sched_setaffinity, 0, self + 1),
        WITH(prctl, 0, PR_SET_DUMPABLE), WITH(utimensat, 1, high),
        WITH(prlimit64, 2, 16), WITH(kill, 0, self + 1),
        WITH(tgkill, 0, high | self));
    ARE(KILLED, WITH(clone, 0, CLONE_VM));
}

TEST(calls_of_attributes)
{
    const unsigned calls_of[] = { CALLS_OF_PICTURES, CALLS_OF_DRIVER };
    for (size_t i = 0; i < 2; i++)
        for (unsigned with = 0; with <= CALLS_OF_ATTRIBUTES;
             with += CALLS_OF_ATTRIBUTES) {
            const uint32_t want = with ? ALLOWED : REFUSED;
            if (!make_filter(calls_of[i] | with))
                return;
            ARE(want, CALL(fchmod), CALL(fchown), CALL(fsetxattr),
                CALL(fremovexattr), WITH(utimensat, 1, 0));
            ARE(ALLOWED, CALL(fgetxattr));
        }
}

TEST(calls_of_a_driver)
{
    const uint64_t high = (uint64_t)1 << 32, self = (uint64_t)getpid();
    if (!make_filter(CALLS_OF_DRIVER))
        return;
    ARE(ALLOWED, CALL(openat), CALL(pipe2), CALL(bind),
        WITH(mmap, 2, PROT_READ | PROT_EXEC),
        WITH(clone, 0, CLONE_VM | CLONE_THREAD), WITH(socket, 0, AF_UNIX),
        WITH(sendto, 4, 0), WITH(ioctl, 1, 0xc0104600), WITH(fcntl, 1, F_SETFL),
        WITH(kill, 0, self));
    ARE(REFUSED, CALL(execve), CALL(ptrace), CALL(io_uring_setup), CALL(bpf),
        WITH(clone, 0, CLONE_VM), WITH(socket, 0, AF_INET),
        WITH(socket, 0, AF_INET6), WITH(sendto, 4, high),
        WITH(ioctl, 1, TIOCSTI), WITH(ioctl, 1, high | TIOCSTI),
        WITH(ioctl, 1, TIOCLINUX), WITH(ioctl, 1, FIOSETOWN),
        WITH(ioctl, 1, SIOCSPGRP), WITH(fcntl, 1, F_SETOWN),
        WITH(fcntl, 1, high | F_SETOWN), WITH(fcntl, 1, F_SETOWN_EX),
        WITH(kill, 0, self + 1));
    ARE(SECCOMP_RET_ERRNO | ECONNREFUSED, CALL(connect));
    ARE(UNKNOWN, CALL(clone3), { "fchmodat2", 452, 0, 0 },
        { "the last number", 511, 0, 0 }, { "one more", 512, 0, 0 },
        { "no number", -1, 0, 0 });
}

/* The numbers of another processor mean other calls: not one is let through. */
TEST(another_processor)
{
    static const unsigned calls_of[] = { CALLS_OF_PICTURES, CALLS_OF_DRIVER };
    for (unsigned i = 0; i < 2 && make_filter(calls_of[i]); i++)
        for (int number = 0; number < 600; number++) {
            struct seccomp_data call = { .nr = number,
                                         .arch = AUDIT_ARCH_I386 };
            uint32_t found = run_filter(&call);
            CHECK(found == KILLED, "call %d: %#x", number, found);
        }
}
