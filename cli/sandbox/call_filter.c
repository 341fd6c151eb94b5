/* Which system calls the process can make: a filter of seccomp. */
#include "cli/sandbox/call_filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__) && !defined(__ILP32__)
#define NATIVE AUDIT_ARCH_X86_64
#elif defined(__aarch64__) && !defined(__ILP32__)
#define NATIVE AUDIT_ARCH_AARCH64
#endif

#ifdef NATIVE

/* ---- The calls ----------------------------------------------------------- */

static const unsigned allowed[] = {
    /* Memory. */
    SYS_brk,
    SYS_munmap,
    SYS_mremap,
    SYS_madvise,
    SYS_membarrier,
    /* What is open. */
    SYS_read,
    SYS_write,
    SYS_readv,
    SYS_writev,
    SYS_pread64,
    SYS_pwrite64,
    SYS_lseek,
    SYS_close,
    SYS_fstat,
    SYS_fstatfs,
    SYS_fcntl,
    SYS_dup,
    SYS_dup3,
    SYS_ftruncate,
    SYS_fallocate,
    SYS_fadvise64,
    SYS_fsync,
    SYS_fdatasync,
    SYS_flock,
    SYS_fchmod,
    SYS_fchown,
    SYS_fgetxattr,
    SYS_flistxattr,
    SYS_fsetxattr,
    SYS_fremovexattr,
    SYS_getdents64,
    SYS_ppoll,
    SYS_pselect6,
    SYS_sendto,
    SYS_recvfrom,
    SYS_shutdown,
    /* Names, as far as the rules about files allow. */
    SYS_openat,
    SYS_openat2,
    SYS_newfstatat,
    SYS_statx,
    SYS_statfs,
    SYS_readlinkat,
    SYS_faccessat,
    SYS_faccessat2,
    SYS_getcwd,
    SYS_getxattr,
    SYS_listxattr,
    SYS_mkdirat,
    SYS_linkat,
    SYS_unlinkat,
    SYS_renameat,
    SYS_renameat2,
    /* Threads. */
    SYS_futex,
    SYS_set_robust_list,
    SYS_rseq,
    SYS_gettid,
    SYS_exit,
    SYS_exit_group,
    SYS_sched_yield,
    SYS_sched_getaffinity,
    SYS_sched_setaffinity,
    SYS_getcpu,
    /* Time, chance, and who this is. */
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_clock_nanosleep,
    SYS_nanosleep,
    SYS_gettimeofday,
    SYS_getrandom,
    SYS_getpid,
    SYS_getppid,
    SYS_getuid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getegid,
    SYS_getrusage,
    SYS_sysinfo,
    SYS_uname,
    SYS_umask,
    /* Signals to the process. */
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_rt_sigsuspend,
    SYS_rt_sigtimedwait,
    SYS_sigaltstack,
    SYS_restart_syscall,
#ifdef SYS_open /* The same by their older numbers. */
    SYS_open,
    SYS_stat,
    SYS_lstat,
    SYS_access,
    SYS_readlink,
    SYS_mkdir,
    SYS_unlink,
    SYS_rename,
    SYS_link,
    SYS_poll,
    SYS_select,
    SYS_dup2,
    SYS_time,
#endif
};

static const unsigned fatal[] = {
    SYS_execve,
    SYS_execveat,
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_socket,
    SYS_socketpair,
    SYS_connect,
    SYS_bind,
    SYS_accept4,
    SYS_mount,
    SYS_unshare,
    SYS_setns,
    SYS_bpf,
    SYS_keyctl,
#ifdef SYS_fork
    SYS_fork,
    SYS_vfork,
#endif
};

/* A call that is allowed by one of its arguments. */
struct argument_rule {
    unsigned call, argument;
    enum {
        TEST_EQUAL,  /* it is one of the values, */
        TEST_HAS,    /* it has a bit of the first one, */
        TEST_HAS_NO, /* or none */
    } test;
    uint32_t value[2];
    uint32_t otherwise; /* what becomes of the call */
};

enum { REFUSE = SECCOMP_RET_ERRNO | EPERM };

static const struct argument_rule rules[] = {
    { SYS_mmap, 2, TEST_HAS_NO, { PROT_EXEC }, REFUSE },
    { SYS_mprotect, 2, TEST_HAS_NO, { PROT_EXEC }, REFUSE },
    { SYS_clone, 0, TEST_HAS, { CLONE_THREAD }, SECCOMP_RET_KILL_PROCESS },
    { SYS_ioctl, 1, TEST_EQUAL, { TCGETS, TIOCGWINSZ }, REFUSE },
    { SYS_prctl, 0, TEST_EQUAL, { PR_SET_NAME, PR_SET_NAME }, REFUSE },
    /* futimens() alone: no name, the descriptor is the file. */
    { SYS_utimensat, 1, TEST_EQUAL, { 0, 0 }, REFUSE },
    /* getrlimit() alone: no new limit. */
    { SYS_prlimit64, 2, TEST_EQUAL, { 0, 0 }, REFUSE },
};

/* Those whose first argument is a process: this one. */
static const unsigned to_itself[] = { SYS_kill, SYS_tgkill };

/* ---- What becomes of each call ------------------------------------------- */

enum {
    CALLS = 512, /* all numbers of calls are smaller */
    ALLOWED = sizeof allowed / sizeof *allowed,
    FATAL = sizeof fatal / sizeof *fatal,
    RULES = sizeof rules / sizeof *rules,
    TO_ITSELF = sizeof to_itself / sizeof *to_itself,
};

struct verdict {
    const struct argument_rule *rule; /* or, if that is NULL, */
    uint32_t action;
};

struct verdicts {
    struct verdict of[CALLS];
    struct argument_rule to_itself[TO_ITSELF];
};

static void set(struct verdicts *verdicts, unsigned call, uint32_t action,
                const struct argument_rule *rule)
{
    if (call < CALLS)
        verdicts->of[call] = (struct verdict){ rule, action };
}

static void choose(struct verdicts *verdicts)
{
    const uint32_t self = (uint32_t)getpid();
    for (unsigned i = 0; i < CALLS; i++)
        set(verdicts, i, SECCOMP_RET_ERRNO | ENOSYS, NULL);
    for (unsigned i = 0; i < ALLOWED; i++)
        set(verdicts, allowed[i], SECCOMP_RET_ALLOW, NULL);
    for (unsigned i = 0; i < FATAL; i++)
        set(verdicts, fatal[i], SECCOMP_RET_KILL_PROCESS, NULL);
    for (unsigned i = 0; i < RULES; i++)
        set(verdicts, rules[i].call, 0, &rules[i]);
    for (unsigned i = 0; i < TO_ITSELF; i++) {
        struct argument_rule *rule = &verdicts->to_itself[i];
        *rule = (struct argument_rule){
            to_itself[i], 0, TEST_EQUAL, { self, self }, REFUSE
        };
        set(verdicts, rule->call, 0, rule);
    }
}

/* ---- The program of the filter ------------------------------------------- */

struct program {
    struct sock_filter code[4 * CALLS];
    unsigned short length;
    bool too_far; /* a jump has no room for its distance */
};

static void put(struct program *program, unsigned code, uint32_t k)
{
    program->code[program->length++] =
        (struct sock_filter){ .code = (uint16_t)code, .k = k };
}

/* Compares, and skips so many instructions if it is true, or false. */
static void put_if(struct program *program, unsigned comparison, uint32_t k,
                   unsigned if_true, unsigned if_false)
{
    put(program, BPF_JMP | BPF_K | comparison, k);
    struct sock_filter *jump = &program->code[program->length - 1];
    jump->jt = (uint8_t)if_true;
    jump->jf = (uint8_t)if_false;
}

static void put_end(struct program *program, uint32_t action)
{
    put(program, BPF_RET | BPF_K, action);
}

static void put_load(struct program *program, size_t offset)
{
    put(program, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset);
}

/* Arguments have 64 bits, and both processors have the lower half first. */
static void put_rule(struct program *program, const struct argument_rule *rule)
{
    const size_t low = offsetof(struct seccomp_data, args[rule->argument]);
    if (rule->test == TEST_EQUAL) {
        put_load(program, low + 4);
        put_if(program, BPF_JEQ, 0, 0, 4);
        put_load(program, low);
        put_if(program, BPF_JEQ, rule->value[0], 1, 0);
        put_if(program, BPF_JEQ, rule->value[1], 0, 1);
    } else {
        put_load(program, low);
        put_if(program, BPF_JSET, rule->value[0], rule->test == TEST_HAS_NO,
               rule->test == TEST_HAS);
    }
    put_end(program, SECCOMP_RET_ALLOW);
    put_end(program, rule->otherwise);
}

static bool is_alike(struct verdict a, struct verdict b)
{
    return a.rule == b.rule && a.action == b.action;
}

/* Returns the first call of another verdict behind this one. */
static unsigned next_verdict(const struct verdicts *verdicts, unsigned call)
{
    unsigned next = call + 1;
    while (next < CALLS && is_alike(verdicts->of[next], verdicts->of[call]))
        next++;
    return next;
}

/* Decides about the calls from `first` up to `end`, by halves: when a filter is
 * installed, the kernel runs it once for every call. */
static void put_tree(struct program *program, const struct verdicts *verdicts,
                     unsigned first, unsigned end)
{
    const struct verdict verdict = verdicts->of[first];
    unsigned middle = first + (end - first) / 2;
    if (next_verdict(verdicts, first) >= end) {
        if (verdict.rule)
            put_rule(program, verdict.rule);
        else
            put_end(program, verdict.action);
        return;
    }
    /* Not within calls that are treated alike. */
    while (middle > first + 1 &&
           is_alike(verdicts->of[middle - 1], verdicts->of[middle]))
        middle--;
    if (is_alike(verdicts->of[middle - 1], verdicts->of[middle]))
        middle = next_verdict(verdicts, first);
    const unsigned short at = program->length;
    put_if(program, BPF_JGE, middle, 0, 0);
    put_tree(program, verdicts, first, middle);
    const unsigned distance = program->length - at - 1u;
    program->code[at].jt = (uint8_t)distance;
    program->too_far = program->too_far || distance > UINT8_MAX;
    put_tree(program, verdicts, middle, end);
}

static void make_program(struct program *program)
{
    struct verdicts verdicts;
    choose(&verdicts);
    program->length = 0;
    program->too_far = false;
    put_load(program, offsetof(struct seccomp_data, arch));
    put_if(program, BPF_JEQ, NATIVE, 1, 0);
    put_end(program, SECCOMP_RET_KILL_PROCESS);
    put_load(program, offsetof(struct seccomp_data, nr));
    put_if(program, BPF_JGE, CALLS, 0, 1);
    put_end(program, SECCOMP_RET_ERRNO | ENOSYS);
    put_tree(program, &verdicts, 0, CALLS);
}

/* Without the flag, kernels before 5.16 slow the process down against attacks
 * on speculation, which is of use where several programs share a process. */
int call_filter_install(struct err *err)
{
    struct program program;
    make_program(&program);
    if (program.too_far)
        return fail(err, "the filter of system calls is too long");
    const struct sock_fprog prog = { program.length, program.code };
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                SECCOMP_FILTER_FLAG_SPEC_ALLOW, &prog) == 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) == 0)
        return 0;
    return fail(err,
                errno == ENOSYS || errno == EINVAL
                    ? "this kernel has no seccomp"
                    : "seccomp: %s",
                strerror(errno));
}

#else /* Other processors have other calls, with other arguments. */

int call_filter_install(struct err *err)
{
    return fail(err, "on this processor they are not filtered");
}

#endif
