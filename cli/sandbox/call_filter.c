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
 * input, so they are refused where nothing is written.
 *
 * The program of the filter is made here, not by libseccomp: that has no way to
 * say that a call is allowed for one of several values and fails otherwise in
 * another way than calls that are not named. It also takes 0.5 ms for the first
 * list and 2.6 ms for the second, where this takes 0.1 ms; a small picture
 * takes 3 ms in all. */
#include "cli/sandbox/sandbox.h"

#include <errno.h>
#include <linux/audit.h>
#include <stdint.h>

#if defined(__x86_64__) && !defined(__ILP32__)
#define FILTER_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__) && !defined(__ILP32__)
#define FILTER_ARCH AUDIT_ARCH_AARCH64
#endif

#ifdef FILTER_ARCH

#include <asm/sockios.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- Verdicts ------------------------------------------------------------ */

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

enum {
    REFUSE = SECCOMP_RET_ERRNO | EPERM,
    UNKNOWN = SECCOMP_RET_ERRNO | ENOSYS,
    UNHEARD = SECCOMP_RET_ERRNO | ECONNREFUSED,
};

/* ---- For pictures -------------------------------------------------------- */

static const unsigned allowed[] = {
    /* Memory. */
    SYS_brk, SYS_munmap, SYS_mremap, SYS_madvise, SYS_membarrier,
    /* What is open. */
    SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_pwrite64,
    SYS_lseek, SYS_close, SYS_fstat, SYS_fstatfs, SYS_dup, SYS_dup3,
    SYS_ftruncate, SYS_fallocate, SYS_fadvise64, SYS_fsync, SYS_fdatasync,
    SYS_flock, SYS_fchmod, SYS_fchown, SYS_fgetxattr, SYS_flistxattr,
    SYS_fsetxattr, SYS_fremovexattr, SYS_getdents64, SYS_ppoll, SYS_pselect6,
    SYS_sendto, SYS_recvfrom, SYS_shutdown,
    /* Names, as far as the rules about files allow. */
    SYS_openat, SYS_newfstatat, SYS_statx, SYS_statfs, SYS_readlinkat,
    SYS_faccessat, SYS_faccessat2, SYS_getcwd, SYS_getxattr, SYS_listxattr,
    SYS_mkdirat, SYS_linkat, SYS_unlinkat, SYS_renameat, SYS_renameat2,
    /* Threads. */
    SYS_futex, SYS_set_robust_list, SYS_rseq, SYS_gettid, SYS_exit,
    SYS_exit_group, SYS_sched_yield, SYS_sched_getaffinity, SYS_getcpu,
    /* Time, chance, and who this is. */
    SYS_clock_gettime, SYS_clock_getres, SYS_clock_nanosleep, SYS_nanosleep,
    SYS_gettimeofday, SYS_getrandom, SYS_getpid, SYS_getppid, SYS_getuid,
    SYS_geteuid, SYS_getgid, SYS_getegid, SYS_getrusage, SYS_sysinfo, SYS_uname,
    SYS_umask,
    /* Signals to the process. */
    SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_rt_sigsuspend,
    SYS_rt_sigtimedwait, SYS_sigaltstack, SYS_restart_syscall,
#ifdef SYS_open /* The same by their older numbers. */
    SYS_open, SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_mkdir,
    SYS_unlink, SYS_rename, SYS_link, SYS_poll, SYS_select, SYS_dup2, SYS_time
#endif
};

static const unsigned fatal[] = {
    /* Programs and processes. */
    SYS_execve, SYS_execveat, SYS_ptrace, SYS_process_vm_readv,
    SYS_process_vm_writev, SYS_mount, SYS_unshare, SYS_setns,
    /* What reaches others, or the kernel. */
    SYS_socket, SYS_socketpair, SYS_connect, SYS_bind, SYS_accept4, SYS_bpf,
    SYS_keyctl,
#ifdef SYS_fork
    SYS_fork, SYS_vfork
#endif
};

static const struct call_rule rules[] = {
    { SYS_mmap, 2, TEST_HAS_NO, 1, { PROT_EXEC }, REFUSE },
    { SYS_mprotect, 2, TEST_HAS_NO, 1, { PROT_EXEC }, REFUSE },
    { SYS_clone, 0, TEST_HAS, 1, { CLONE_THREAD }, SECCOMP_RET_KILL_PROCESS },
    { SYS_ioctl, 1, TEST_EQUAL, 2, { TCGETS, TIOCGWINSZ }, REFUSE },
    /* Not who gets a signal when a descriptor is ready, or a directory has
     * changed: any process of the user can be named. */
    { SYS_fcntl,
      1,
      TEST_EQUAL,
      4,
      { F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL },
      REFUSE },
    { SYS_prctl, 0, TEST_EQUAL, 1, { PR_SET_NAME }, REFUSE },
    /* Of its own threads, not of another process. */
    { SYS_sched_setaffinity, 0, TEST_EQUAL, 1, { 0 }, REFUSE },
    /* futimens() alone: no name, the descriptor is the file. */
    { SYS_utimensat, 1, TEST_EQUAL, 1, { 0 }, REFUSE },
    /* getrlimit() alone: no new limit. */
    { SYS_prlimit64, 2, TEST_EQUAL, 1, { 0 }, REFUSE },
};

/* ---- For the driver of a GPU --------------------------------------------- */

/* What a driver calls changes with its version, so this is a list of what it
 * does without: other programs and processes, what reaches them, what changes
 * files by their names, which no rule about files covers, and what only an
 * administrator does. */
static const unsigned refused[] = {
    /* Programs and processes. */
    SYS_execve, SYS_execveat, SYS_ptrace, SYS_process_vm_readv,
    SYS_process_vm_writev, SYS_process_madvise, SYS_kcmp, SYS_pidfd_open,
    SYS_pidfd_getfd, SYS_pidfd_send_signal, SYS_tkill, SYS_rt_sigqueueinfo,
    SYS_rt_tgsigqueueinfo, SYS_setpgid, SYS_setpriority, SYS_ioprio_set,
    SYS_move_pages, SYS_migrate_pages,
    /* What reaches others. */
    SYS_sendmsg, SYS_sendmmsg, SYS_shmget, SYS_shmat, SYS_shmctl, SYS_msgget,
    SYS_msgsnd, SYS_msgrcv, SYS_msgctl, SYS_semget, SYS_semop, SYS_semtimedop,
    SYS_semctl, SYS_mq_open, SYS_mq_unlink,
    /* Files by their names, or by none. */
    SYS_fchmodat, SYS_fchownat, SYS_truncate, SYS_setxattr, SYS_lsetxattr,
    SYS_removexattr, SYS_lremovexattr, SYS_name_to_handle_at,
    SYS_open_by_handle_at, SYS_fanotify_init,
    /* Ways around this filter. */
    SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register, SYS_bpf,
    SYS_perf_event_open, SYS_userfaultfd, SYS_personality,
    /* The system. */
    SYS_unshare, SYS_setns, SYS_chroot, SYS_pivot_root, SYS_mount, SYS_umount2,
    SYS_open_tree, SYS_move_mount, SYS_fsopen, SYS_fsconfig, SYS_fsmount,
    SYS_fspick, SYS_mount_setattr, SYS_quotactl, SYS_quotactl_fd, SYS_swapon,
    SYS_swapoff, SYS_acct, SYS_add_key, SYS_request_key, SYS_keyctl,
    SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load,
    SYS_kexec_file_load, SYS_reboot, SYS_syslog, SYS_vhangup, SYS_settimeofday,
    SYS_clock_settime, SYS_adjtimex, SYS_clock_adjtime, SYS_sethostname,
    SYS_setdomainname, SYS_setuid, SYS_setgid, SYS_setreuid, SYS_setregid,
    SYS_setresuid, SYS_setresgid, SYS_setfsuid, SYS_setfsgid, SYS_setgroups,
    SYS_capset,
#ifdef SYS_fork
    SYS_fork, SYS_vfork, SYS_chmod, SYS_chown, SYS_lchown, SYS_utime,
    SYS_utimes, SYS_futimesat, SYS_modify_ldt, SYS_ioperm, SYS_iopl
#endif
};

static const struct call_rule driver_rules[] = {
    { SYS_clone, 0, TEST_HAS, 1, { CLONE_THREAD }, REFUSE },
    /* It makes sockets to be found by, and connects to none. */
    { SYS_socket, 0, TEST_EQUAL, 1, { AF_UNIX }, REFUSE },
    { SYS_sendto, 4, TEST_EQUAL, 1, { 0 }, REFUSE },
    /* Not what types into the user's terminal, and not who gets a signal when
     * a descriptor is ready. */
    { SYS_ioctl,
      1,
      TEST_OTHER,
      4,
      { TIOCSTI, TIOCLINUX, FIOSETOWN, SIOCSPGRP },
      REFUSE },
    { SYS_fcntl, 1, TEST_OTHER, 2, { F_SETOWN, F_SETOWN_EX }, REFUSE },
    { SYS_utimensat, 1, TEST_EQUAL, 1, { 0 }, REFUSE },
    { SYS_prlimit64, 2, TEST_EQUAL, 1, { 0 }, REFUSE },
};

/* ---- For attributes ------------------------------------------------------ */

static const unsigned of_attributes[] = { SYS_fchmod, SYS_fchown, SYS_fsetxattr,
                                          SYS_fremovexattr, SYS_utimensat };

/* ---- The choice ---------------------------------------------------------- */

/* Those whose first argument is a process: this one. */
static const unsigned to_itself[] = { SYS_kill, SYS_tgkill };

enum { LATEST = 450 }; /* the latest call of which it was asked who needs it */

#define EACH(list) list, sizeof(list) / sizeof *(list)

static void set(struct call_verdicts *verdicts, unsigned call, uint32_t action,
                const struct call_rule *rule)
{
    if (call < CALL_VERDICTS)
        verdicts->of[call] = (struct call_verdict){ rule, action };
}

static void set_all(struct call_verdicts *verdicts, const unsigned *call,
                    unsigned n, uint32_t action)
{
    for (unsigned i = 0; i < n; i++)
        set(verdicts, call[i], action, NULL);
}

static void set_rules(struct call_verdicts *verdicts,
                      const struct call_rule *rule, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        set(verdicts, rule[i].call, 0, &rule[i]);
}

/* Sets what becomes of each call of this process. */
static void choose(struct call_verdicts *verdicts, unsigned calls_of)
{
    const uint32_t self = (uint32_t)getpid();
    if (calls_of & CALLS_OF_DRIVER) {
        /* Threads are started by clone(), whose argument tells them from
         * processes; that of clone3() is in memory. A driver asks whether a
         * program that shares the GPU listens, and takes another error than
         * that for its own failure. */
        for (unsigned i = 0; i < CALL_VERDICTS; i++)
            set(verdicts, i, i <= LATEST ? SECCOMP_RET_ALLOW : UNKNOWN, NULL);
        set(verdicts, SYS_clone3, UNKNOWN, NULL);
        set(verdicts, SYS_connect, UNHEARD, NULL);
        set_all(verdicts, EACH(refused), REFUSE);
        set_rules(verdicts, EACH(driver_rules));
    } else {
        for (unsigned i = 0; i < CALL_VERDICTS; i++)
            set(verdicts, i, UNKNOWN, NULL);
        set_all(verdicts, EACH(allowed), SECCOMP_RET_ALLOW);
        set_all(verdicts, EACH(fatal), SECCOMP_RET_KILL_PROCESS);
        set_rules(verdicts, EACH(rules));
    }
    if (!(calls_of & CALLS_OF_ATTRIBUTES))
        set_all(verdicts, EACH(of_attributes), REFUSE);
    for (unsigned i = 0; i < sizeof to_itself / sizeof *to_itself; i++) {
        struct call_rule *rule = &verdicts->to_itself[i];
        *rule = (struct call_rule){ to_itself[i], 0,     TEST_EQUAL, 1,
                                    { self },     REFUSE };
        set(verdicts, rule->call, 0, rule);
    }
}

/* ---- The program --------------------------------------------------------- */

struct program {
    struct sock_filter code[4 * CALL_VERDICTS];
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
static void put_rule(struct program *program, const struct call_rule *rule)
{
    const size_t low = offsetof(struct seccomp_data, args[rule->argument]);
    if (rule->test == TEST_EQUAL) {
        put_load(program, low + 4);
        put_if(program, BPF_JEQ, 0, 0, rule->values + 2);
        put_load(program, low);
        for (unsigned i = 0, left = rule->values; left-- > 0; i++)
            put_if(program, BPF_JEQ, rule->value[i], left, left == 0);
    } else if (rule->test == TEST_OTHER) {
        put_load(program, low);
        for (unsigned i = 0, left = rule->values; left-- > 0; i++)
            put_if(program, BPF_JEQ, rule->value[i], left + 1, 0);
    } else {
        put_load(program, low);
        put_if(program, BPF_JSET, rule->value[0], rule->test == TEST_HAS_NO,
               rule->test == TEST_HAS);
    }
    put_end(program, SECCOMP_RET_ALLOW);
    put_end(program, rule->otherwise);
}

static bool is_alike(struct call_verdict a, struct call_verdict b)
{
    return a.rule == b.rule && a.action == b.action;
}

/* Returns the first call of another verdict behind this one. */
static unsigned next_verdict(const struct call_verdicts *verdicts,
                             unsigned call)
{
    unsigned next = call + 1;
    while (next < CALL_VERDICTS &&
           is_alike(verdicts->of[next], verdicts->of[call]))
        next++;
    return next;
}

/* Decides about the calls from `first` up to `end`, by halves: when a filter is
 * installed, the kernel runs it once for every call. */
static void put_tree(struct program *program,
                     const struct call_verdicts *verdicts, unsigned first,
                     unsigned end)
{
    const struct call_verdict verdict = verdicts->of[first];
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

/* Without the first flag, kernels before 5.16 slow the process down against
 * attacks on speculation, which is of use where several programs share a
 * process. */
int call_filter_install(unsigned calls_of, struct err *err)
{
    struct program program;
    struct call_verdicts verdicts;
    choose(&verdicts, calls_of);
    program.length = 0;
    program.too_far = false;
    put_load(&program, offsetof(struct seccomp_data, arch));
    put_if(&program, BPF_JEQ, FILTER_ARCH, 1, 0);
    put_end(&program, SECCOMP_RET_KILL_PROCESS);
    put_load(&program, offsetof(struct seccomp_data, nr));
    put_if(&program, BPF_JGE, CALL_VERDICTS, 0, 1);
    put_end(&program, SECCOMP_RET_ERRNO | ENOSYS);
    put_tree(&program, &verdicts, 0, CALL_VERDICTS);
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

int call_filter_install(unsigned calls_of, struct err *err)
{
    (void)calls_of;
    return fail(err, "on this processor they are not filtered");
}

#endif
