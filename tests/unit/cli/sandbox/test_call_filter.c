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

static void check_call(const char *name, long number, unsigned argument,
                       uint64_t value, uint32_t want)
{
    struct seccomp_data call = { .nr = (int)number, .arch = native };
    call.args[argument] = value;
    uint32_t found = run_filter(&call);
    CHECK(found == want, "%s, argument %u is %#llx: %#x, not %#x", name,
          argument, (unsigned long long)value, found, want);
}

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

#define CALL(name) #name, SYS_##name

TEST(calls)
{
    if (!make_filter(CALLS_OF_PICTURES))
        return;
    check_call(CALL(read), 0, 0, SECCOMP_RET_ALLOW);
    check_call(CALL(openat), 0, 0, SECCOMP_RET_ALLOW);
    check_call(CALL(renameat2), 0, 0, SECCOMP_RET_ALLOW);
    check_call(CALL(futex), 0, 0, SECCOMP_RET_ALLOW);
    check_call(CALL(exit_group), 0, 0, SECCOMP_RET_ALLOW);
    check_call(CALL(execve), 0, 0, SECCOMP_RET_KILL_PROCESS);
    check_call(CALL(execveat), 0, 0, SECCOMP_RET_KILL_PROCESS);
    check_call(CALL(socket), 0, 0, SECCOMP_RET_KILL_PROCESS);
    check_call(CALL(ptrace), 0, 0, SECCOMP_RET_KILL_PROCESS);
    check_call(CALL(bpf), 0, 0, SECCOMP_RET_KILL_PROCESS);
    check_call(CALL(clone3), 0, 0, UNKNOWN);
    check_call(CALL(chroot), 0, 0, UNKNOWN);
    check_call("the last number", 511, 0, 0, UNKNOWN);
    check_call("one more", 512, 0, 0, UNKNOWN);
    check_call("no number", -1, 0, 0, UNKNOWN);
}

TEST(arguments)
{
    const uint64_t high = (uint64_t)1 << 32, self = (uint64_t)getpid();
    if (!make_filter(CALLS_OF_PICTURES | CALLS_OF_ATTRIBUTES))
        return;
    check_call(CALL(mmap), 2, PROT_READ | PROT_WRITE, SECCOMP_RET_ALLOW);
    check_call(CALL(mmap), 2, PROT_READ | PROT_EXEC, REFUSED);
    check_call(CALL(mprotect), 2, PROT_READ, SECCOMP_RET_ALLOW);
    check_call(CALL(mprotect), 2, PROT_EXEC, REFUSED);
    check_call(CALL(clone), 0, CLONE_VM | CLONE_THREAD, SECCOMP_RET_ALLOW);
    check_call(CALL(clone), 0, CLONE_VM, SECCOMP_RET_KILL_PROCESS);
    check_call(CALL(ioctl), 1, TCGETS, SECCOMP_RET_ALLOW);
    check_call(CALL(ioctl), 1, TIOCGWINSZ, SECCOMP_RET_ALLOW);
    check_call(CALL(ioctl), 1, TIOCSTI, REFUSED);
    check_call(CALL(ioctl), 1, high | TCGETS, REFUSED);
    check_call(CALL(fcntl), 1, F_DUPFD_CLOEXEC, SECCOMP_RET_ALLOW);
    check_call(CALL(fcntl), 1, F_GETFL, SECCOMP_RET_ALLOW);
    check_call(CALL(fcntl), 1, F_SETFL, REFUSED);
    check_call(CALL(fcntl), 1, F_SETOWN, REFUSED);
    check_call(CALL(fcntl), 1, F_SETOWN_EX, REFUSED);
    check_call(CALL(fcntl), 1, F_SETSIG, REFUSED);
    check_call(CALL(fcntl), 1, F_NOTIFY, REFUSED);
    check_call(CALL(fcntl), 1, high | F_GETFD, REFUSED);
    check_call(CALL(sched_setaffinity), 0, 0, SECCOMP_RET_ALLOW);
    check_call(CALL(sched_setaffinity), 0, self + 1, REFUSED);
    check_call(CALL(prctl), 0, PR_SET_NAME, SECCOMP_RET_ALLOW);
    check_call(CALL(prctl), 0, PR_SET_DUMPABLE, REFUSED);
    check_call(CALL(utimensat), 1, 0, SECCOMP_RET_ALLOW);
    check_call(CALL(utimensat), 1, high, REFUSED);
    check_call(CALL(prlimit64), 2, 0, SECCOMP_RET_ALLOW);
    check_call(CALL(prlimit64), 2, 16, REFUSED);
    check_call(CALL(kill), 0, self, SECCOMP_RET_ALLOW);
    check_call(CALL(kill), 0, self + 1, REFUSED);
    check_call(CALL(tgkill), 0, self, SECCOMP_RET_ALLOW);
    check_call(CALL(tgkill), 0, high | self, REFUSED);
}

TEST(calls_of_attributes)
{
    const unsigned calls_of[] = { CALLS_OF_PICTURES, CALLS_OF_DRIVER };
    for (size_t i = 0; i < 2; i++)
        for (unsigned with = 0; with <= CALLS_OF_ATTRIBUTES;
             with += CALLS_OF_ATTRIBUTES) {
            const uint32_t want = with ? SECCOMP_RET_ALLOW : REFUSED;
            if (!make_filter(calls_of[i] | with))
                return;
            check_call(CALL(fchmod), 0, 0, want);
            check_call(CALL(fchown), 0, 0, want);
            check_call(CALL(fsetxattr), 0, 0, want);
            check_call(CALL(fremovexattr), 0, 0, want);
            check_call(CALL(utimensat), 1, 0, want);
            check_call(CALL(fgetxattr), 0, 0, SECCOMP_RET_ALLOW);
        }
}

TEST(calls_of_a_driver)
{
    const uint64_t high = (uint64_t)1 << 32, self = (uint64_t)getpid();
    if (!make_filter(CALLS_OF_DRIVER))
        return;
    check_call(CALL(openat), 0, 0, SECCOMP_RET_ALLOW);
    check_call(CALL(pipe2), 0, 0, SECCOMP_RET_ALLOW);
    check_call(CALL(bind), 0, 0, SECCOMP_RET_ALLOW);
    check_call(CALL(mmap), 2, PROT_READ | PROT_EXEC, SECCOMP_RET_ALLOW);
    check_call(CALL(execve), 0, 0, REFUSED);
    check_call(CALL(ptrace), 0, 0, REFUSED);
    check_call(CALL(connect), 0, 0, SECCOMP_RET_ERRNO | ECONNREFUSED);
    check_call(CALL(io_uring_setup), 0, 0, REFUSED);
    check_call(CALL(bpf), 0, 0, REFUSED);
    check_call(CALL(clone3), 0, 0, UNKNOWN);
    check_call("fchmodat2", 452, 0, 0, UNKNOWN);
    check_call("the last number", 511, 0, 0, UNKNOWN);
    check_call("one more", 512, 0, 0, UNKNOWN);
    check_call("no number", -1, 0, 0, UNKNOWN);
    check_call(CALL(clone), 0, CLONE_VM | CLONE_THREAD, SECCOMP_RET_ALLOW);
    check_call(CALL(clone), 0, CLONE_VM, REFUSED);
    check_call(CALL(socket), 0, AF_UNIX, SECCOMP_RET_ALLOW);
    check_call(CALL(socket), 0, AF_INET, REFUSED);
    check_call(CALL(socket), 0, AF_INET6, REFUSED);
    check_call(CALL(sendto), 4, 0, SECCOMP_RET_ALLOW);
    check_call(CALL(sendto), 4, high, REFUSED);
    check_call(CALL(ioctl), 1, 0xc0104600, SECCOMP_RET_ALLOW);
    check_call(CALL(ioctl), 1, TIOCSTI, REFUSED);
    check_call(CALL(ioctl), 1, high | TIOCSTI, REFUSED);
    check_call(CALL(ioctl), 1, TIOCLINUX, REFUSED);
    check_call(CALL(ioctl), 1, FIOSETOWN, REFUSED);
    check_call(CALL(ioctl), 1, SIOCSPGRP, REFUSED);
    check_call(CALL(fcntl), 1, F_SETFL, SECCOMP_RET_ALLOW);
    check_call(CALL(fcntl), 1, F_SETOWN, REFUSED);
    check_call(CALL(fcntl), 1, high | F_SETOWN, REFUSED);
    check_call(CALL(fcntl), 1, F_SETOWN_EX, REFUSED);
    check_call(CALL(kill), 0, self, SECCOMP_RET_ALLOW);
    check_call(CALL(kill), 0, self + 1, REFUSED);
}

/* The numbers of another processor mean other calls: not one is let through. */
static void check_another_processor(unsigned calls_of)
{
    if (!make_filter(calls_of))
        return;
    for (int number = 0; number < 600; number++) {
        struct seccomp_data call = { .nr = number, .arch = AUDIT_ARCH_I386 };
        uint32_t found = run_filter(&call);
        CHECK(found == SECCOMP_RET_KILL_PROCESS, "call %d: %#x", number, found);
    }
}

TEST(another_processor)
{
    check_another_processor(CALLS_OF_PICTURES);
    check_another_processor(CALLS_OF_DRIVER);
}
