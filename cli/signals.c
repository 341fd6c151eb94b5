/* What a signal that ends us does. */
#include "cli/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

/* Places are never freed, so that a handler can follow the list at any time;
 * there are as many as files were written at once. */
struct pending {
    struct pending *next;
    atomic_flag taken;
    atomic_flag locked; /* only while the signals are blocked: whoever waits
                           for it, be it a handler, waits for another thread */
    struct pending_file file;
};
static struct pending *_Atomic places;

static const int ending[] = {
    SIGHUP,  SIGINT,  SIGQUIT,   SIGTERM, SIGALRM, SIGUSR1,
    SIGUSR2, SIGXCPU, SIGVTALRM, SIGPROF, SIGPOLL,
};
enum { ENDING = sizeof ending / sizeof *ending };

static atomic_bool asking;
static atomic_int asked;

static bool only_asks(int number)
{
    int none = 0;
    return atomic_load(&asking) &&
           (number == SIGHUP || number == SIGINT || number == SIGTERM) &&
           atomic_compare_exchange_strong(&asked, &none, number);
}

/* The locks are kept: from here on no file is made and none is put in place. */
static void remove_pending(void)
{
    for (struct pending *p = atomic_load(&places); p; p = p->next) {
        while (atomic_flag_test_and_set(&p->locked))
            continue;
        if (*p->file.name)
            unlinkat(p->file.directory, p->file.name, 0);
    }
}

static void on_signal(int number)
{
    if (only_asks(number))
        return;
    remove_pending();
    signals_end(number);
}

/* Blocks them in this thread; *before is what was blocked. */
static void block(sigset_t *before)
{
    sigset_t set;
    sigemptyset(&set);
    for (int i = 0; i < ENDING; i++)
        sigaddset(&set, ending[i]);
    pthread_sigmask(SIG_BLOCK, &set, before);
}

void signals_guard(void)
{
    /* Opened the wrong way round: to use one that was closed stays an error. */
    static const int modes[] = { O_WRONLY, O_RDONLY, O_RDWR };
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", modes[fd]) != fd)
            _exit(1);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    for (int i = 0; i < ENDING; i++) {
        struct sigaction action = { .sa_handler = on_signal }, old;
        sigfillset(&action.sa_mask);
        /* What our parent had us ignore, as nohup does, stays ignored. */
        if (sigaction(ending[i], NULL, &old) == 0 &&
            old.sa_handler != SIG_IGN)
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

bool signals_wait(int fd)
{
    struct pollfd readable = { .fd = fd, .events = POLLIN };
    sigset_t before;
    block(&before);
    while (!signals_asked() && ppoll(&readable, 1, NULL, &before) < 0 &&
           errno == EINTR)
        continue;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return !signals_asked();
}

void signals_elsewhere(void)
{
    block(NULL);
}

/* ---- Files that are not whole yet --------------------------------------- */

struct pending *pending_take(void)
{
    struct pending *place;
    for (place = atomic_load(&places); place; place = place->next)
        if (!atomic_flag_test_and_set(&place->taken))
            return place;
    place = calloc(1, sizeof *place);
    if (!place)
        return NULL;
    atomic_flag_test_and_set(&place->taken);
    place->next = atomic_load(&places);
    while (!atomic_compare_exchange_weak(&places, &place->next, place))
        continue;
    return place;
}

/* Which signals were blocked before is kept by thread: in a worker all are, and
 * stay so. */
static _Thread_local sigset_t before;

struct pending_file *pending_lock(struct pending *pending)
{
    block(&before);
    while (atomic_flag_test_and_set(&pending->locked))
        continue;
    return &pending->file;
}

void pending_unlock(struct pending *pending)
{
    atomic_flag_clear(&pending->locked);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void pending_give(struct pending *pending)
{
    pending_lock(pending);
    *pending->file.name = '\0';
    pending_unlock(pending);
    atomic_flag_clear(&pending->taken);
}
