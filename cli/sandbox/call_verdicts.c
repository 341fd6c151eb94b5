/* What becomes of each system call. */
#include "cli/sandbox/call_verdicts.h"

#ifdef CALL_VERDICTS_ARCH

#include <asm/sockios.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    REFUSE = SECCOMP_RET_ERRNO | EPERM,
    UNKNOWN = SECCOMP_RET_ERRNO | ENOSYS,
    UNHEARD = SECCOMP_RET_ERRNO | ECONNREFUSED,
};

/* ---- For pictures -------------------------------------------------------- */

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
    SYS_execve,
    SYS_execveat,
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_process_madvise,
    SYS_kcmp,
    SYS_pidfd_open,
    SYS_pidfd_getfd,
    SYS_pidfd_send_signal,
    SYS_tkill,
    SYS_rt_sigqueueinfo,
    SYS_rt_tgsigqueueinfo,
    SYS_setpgid,
    SYS_setpriority,
    SYS_ioprio_set,
    SYS_move_pages,
    SYS_migrate_pages,
    /* What reaches others. */
    SYS_sendmsg,
    SYS_sendmmsg,
    SYS_shmget,
    SYS_shmat,
    SYS_shmctl,
    SYS_msgget,
    SYS_msgsnd,
    SYS_msgrcv,
    SYS_msgctl,
    SYS_semget,
    SYS_semop,
    SYS_semtimedop,
    SYS_semctl,
    SYS_mq_open,
    SYS_mq_unlink,
    /* Files by their names, or by none. */
    SYS_fchmodat,
    SYS_fchownat,
    SYS_truncate,
    SYS_setxattr,
    SYS_lsetxattr,
    SYS_removexattr,
    SYS_lremovexattr,
    SYS_name_to_handle_at,
    SYS_open_by_handle_at,
    SYS_fanotify_init,
    /* Ways around this filter. */
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_personality,
    /* The system. */
    SYS_unshare,
    SYS_setns,
    SYS_chroot,
    SYS_pivot_root,
    SYS_mount,
    SYS_umount2,
    SYS_open_tree,
    SYS_move_mount,
    SYS_fsopen,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fspick,
    SYS_mount_setattr,
    SYS_quotactl,
    SYS_quotactl_fd,
    SYS_swapon,
    SYS_swapoff,
    SYS_acct,
    SYS_add_key,
    SYS_request_key,
    SYS_keyctl,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_kexec_file_load,
    SYS_reboot,
    SYS_syslog,
    SYS_vhangup,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_adjtimex,
    SYS_clock_adjtime,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_setuid,
    SYS_setgid,
    SYS_setreuid,
    SYS_setregid,
    SYS_setresuid,
    SYS_setresgid,
    SYS_setfsuid,
    SYS_setfsgid,
    SYS_setgroups,
    SYS_capset,
#ifdef SYS_fork
    SYS_fork,
    SYS_vfork,
    SYS_chmod,
    SYS_chown,
    SYS_lchown,
    SYS_utime,
    SYS_utimes,
    SYS_futimesat,
    SYS_modify_ldt,
    SYS_ioperm,
    SYS_iopl,
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

static const unsigned of_attributes[] = {
    SYS_fchmod, SYS_fchown, SYS_fsetxattr, SYS_fremovexattr, SYS_utimensat,
};

/* ---- The choice ---------------------------------------------------------- */

/* Those whose first argument is a process: this one. */
static const unsigned to_itself[] = { SYS_kill, SYS_tgkill };

enum {
    LATEST = 450, /* the latest call of which it was asked who needs it */
    ALLOWED = sizeof allowed / sizeof *allowed,
    FATAL = sizeof fatal / sizeof *fatal,
    RULES = sizeof rules / sizeof *rules,
    REFUSED = sizeof refused / sizeof *refused,
    DRIVER_RULES = sizeof driver_rules / sizeof *driver_rules,
    OF_ATTRIBUTES = sizeof of_attributes / sizeof *of_attributes,
    TO_ITSELF = sizeof to_itself / sizeof *to_itself,
};

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

static void choose_for_pictures(struct call_verdicts *verdicts)
{
    for (unsigned i = 0; i < CALL_VERDICTS; i++)
        set(verdicts, i, UNKNOWN, NULL);
    set_all(verdicts, allowed, ALLOWED, SECCOMP_RET_ALLOW);
    set_all(verdicts, fatal, FATAL, SECCOMP_RET_KILL_PROCESS);
    set_rules(verdicts, rules, RULES);
}

/* Threads are started by clone(), whose argument tells them from processes;
 * that of clone3() is in memory. A driver asks whether a program that shares
 * the GPU listens, and takes another error than that for its own failure. */
static void choose_for_driver(struct call_verdicts *verdicts)
{
    for (unsigned i = 0; i < CALL_VERDICTS; i++)
        set(verdicts, i, i <= LATEST ? SECCOMP_RET_ALLOW : UNKNOWN, NULL);
    set(verdicts, SYS_clone3, UNKNOWN, NULL);
    set(verdicts, SYS_connect, UNHEARD, NULL);
    set_all(verdicts, refused, REFUSED, REFUSE);
    set_rules(verdicts, driver_rules, DRIVER_RULES);
}

void call_verdicts_choose(struct call_verdicts *verdicts, unsigned calls_of)
{
    const uint32_t self = (uint32_t)getpid();
    if (calls_of & CALLS_OF_DRIVER)
        choose_for_driver(verdicts);
    else
        choose_for_pictures(verdicts);
    if (!(calls_of & CALLS_OF_ATTRIBUTES))
        set_all(verdicts, of_attributes, OF_ATTRIBUTES, REFUSE);
    for (unsigned i = 0; i < TO_ITSELF; i++) {
        struct call_rule *rule = &verdicts->to_itself[i];
        *rule = (struct call_rule){ to_itself[i], 0,     TEST_EQUAL, 1,
                                    { self },     REFUSE };
        set(verdicts, rule->call, 0, rule);
    }
}

#endif
