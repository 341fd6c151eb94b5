/* What the signals do that end the program. */
#include "cli/files/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/files/temporary.h"

static const int ending[] = {
    SIGHUP,  SIGINT,  SIGQUIT,   SIGTERM, SIGALRM, SIGUSR1,
    SIGUSR2, SIGXCPU, SIGVTALRM, SIGPROF, SIGPOLL, SIGBUS,
};
enum { ENDING = sizeof ending / sizeof *ending };

/* Tells a child to end at once. */
enum { SIGNAL_OF_PARENT = SIGUSR1 };

/* The child processes, which end before this one; 0: there is none. */
static _Atomic pid_t children[SIGNALS_CHILDREN_MAX];

static atomic_bool asking;
static atomic_int asked;

/* How long the children may take to remove their files. */
enum { CHILD_MILLISECONDS = 5000 };

static void on_signal(int number)
{
    int none = 0;
    if (atomic_load(&asking) &&
        (number == SIGHUP || number == SIGINT || number == SIGTERM) &&
        atomic_compare_exchange_strong(&asked, &none, number))
        return;
    const struct timespec millisecond = { .tv_nsec = 1000000 };
    int left = CHILD_MILLISECONDS;
    for (int i = 0; i < SIGNALS_CHILDREN_MAX; i++) {
        const pid_t pid = atomic_load(&children[i]);
        if (pid)
            kill(pid, SIGNAL_OF_PARENT);
    }
    for (int i = 0; i < SIGNALS_CHILDREN_MAX; i++) {
        const pid_t pid = atomic_exchange(&children[i], 0);
        while (pid && left && waitpid(pid, NULL, WNOHANG) == 0) {
            nanosleep(&millisecond, NULL);
            left--;
        }
        if (pid && left == 0 && kill(pid, SIGKILL) == 0)
            waitpid(pid, NULL, 0);
    }
    temporary_remove_all();
    signals_end(number);
}

/* Blocks or unblocks the signals in this thread; *before gets what was blocked
 * before. */
static void mask(int how, sigset_t *before)
{
    sigset_t set;
    sigemptyset(&set);
    for (int i = 0; i < ENDING; i++)
        sigaddset(&set, ending[i]);
    pthread_sigmask(how, &set, before);
}

void signals_guard(void)
{
    /* Each is opened the wrong way round, so to use it stays an error. */
    static const int modes[] = { O_WRONLY, O_RDONLY, O_RDWR };
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", modes[fd]) != fd)
            _exit(1);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    for (int i = 0; i < ENDING; i++) {
        struct sigaction action = { .sa_handler = on_signal }, old;
        sigfillset(&action.sa_mask);
        /* What the parent had ignored, as nohup does, stays ignored. */
        if (sigaction(ending[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(ending[i], &action, NULL);
    }
}

void signals_ask(void)
{
    atomic_store(&asking, true);
}

int signals_asked(void)
{
    return atomic_load(&asked);
}

void signals_end(int number)
{
    sigset_t set;
    signal(number, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, number);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    raise(number);
    _exit(128 + number);
}

int signals_poll(struct pollfd *fds, unsigned n, int known, int milliseconds)
{
    const struct timespec limit = { .tv_sec = milliseconds / 1000,
                                    .tv_nsec = milliseconds % 1000 * 1000000 };
    sigset_t before;
    int ready = 0;
    mask(SIG_BLOCK, &before);
    if (signals_asked() == known)
        ready = ppoll(fds, n, milliseconds < 0 ? NULL : &limit, &before);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ready < 0 && errno == EINTR ? 0 : ready;
}

/* ---- Children that end with their parent --------------------------------- */

/* Puts one process id in the place of another. Returns whether that was there.
 */
static bool replace_child(pid_t old, pid_t pid)
{
    for (int i = 0; i < SIGNALS_CHILDREN_MAX; i++)
        if (atomic_load(&children[i]) == old) {
            atomic_store(&children[i], pid);
            return true;
        }
    return false;
}

pid_t signals_fork(void)
{
    sigset_t before;
    mask(SIG_BLOCK, &before);
    pid_t pid = fork();
    if (pid == 0)
        return 0; /* signals stay blocked until signals_follow() */
    int why = errno;
    if (pid > 0 && !replace_child(0, pid)) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        pid = -1;
        why = EAGAIN;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = why;
    return pid;
}

void signals_follow(pid_t parent)
{
    static const int shared[] = { SIGHUP, SIGINT, SIGTERM };
    struct sigaction action = { .sa_handler = on_signal };
    for (int i = 0; i < SIGNALS_CHILDREN_MAX; i++)
        atomic_store(&children[i], 0);
    atomic_store(&asking, false);
    for (int i = 0; i < 3; i++)
        signal(shared[i], SIG_IGN);
    sigfillset(&action.sa_mask);
    sigaction(SIGNAL_OF_PARENT, &action, NULL);
    prctl(PR_SET_PDEATHSIG, SIGNAL_OF_PARENT);
    if (getppid() != parent)
        _exit(1);
    mask(SIG_UNBLOCK, NULL);
}

int signals_wait_for(pid_t pid)
{
    sigset_t before;
    siginfo_t info;
    int status = 0;
    /* During this wait a signal may still end all processes. */
    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) && errno == EINTR)
        continue;
    mask(SIG_BLOCK, &before);
    (void)replace_child(pid, 0);
    waitpid(pid, &status, 0);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
}

void signals_block(void)
{
    mask(SIG_BLOCK, NULL);
}
