/* Files that are read and written in pieces, and threads that cannot be
 * started, for tests: a library for LD_PRELOAD.
 *
 *   FAULTS_MOST=N     a read or write moves at most N bytes
 *   FAULTS_EINTR=1    every second one is interrupted before it begins
 *   FAULTS_THREAD=N   the Nth thread cannot be started, for want of resources
 *   FAULTS_THREADS=1  nor can any after it
 *   FAULTS_LOCKS=1    the file system has no locks */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_ulong calls, threads;

static unsigned long number(const char *name)
{
    const char *value = getenv(name);
    return value ? strtoul(value, NULL, 10) : 0;
}

static void *next(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found)
        abort();
    return found;
}

static bool is_interrupted(void)
{
    if (!number("FAULTS_EINTR") || atomic_fetch_add(&calls, 1) % 2)
        return false;
    errno = EINTR;
    return true;
}

static size_t at_most(size_t size)
{
    const size_t most = number("FAULTS_MOST");
    return most && size > most ? most : size;
}

/* Defines one of the calls that move bytes, and that of FORTIFY, which knows
 * the room there is. */
#define MOVES(name, parameters, arguments)                                     \
    ssize_t name parameters                                                    \
    {                                                                          \
        ssize_t(*real) parameters;                                             \
        *(void **)&real = next(#name);                                         \
        if (is_interrupted())                                                  \
            return -1;                                                         \
        size = at_most(size);                                                  \
        return real arguments;                                                 \
    }
MOVES(read, (int fd, void *data, size_t size), (fd, data, size))
MOVES(write, (int fd, const void *data, size_t size), (fd, data, size))
MOVES(pread64, (int fd, void *data, size_t size, off64_t at),
      (fd, data, size, at))
MOVES(pwrite64, (int fd, const void *data, size_t size, off64_t at),
      (fd, data, size, at))
ssize_t __read_chk(int fd, void *data, size_t size, size_t room);
MOVES(__read_chk, (int fd, void *data, size_t size, size_t room),
      (fd, data, size, room))
ssize_t __pread64_chk(int fd, void *data, size_t size, off64_t at, size_t room);
MOVES(__pread64_chk, (int fd, void *data, size_t size, off64_t at, size_t room),
      (fd, data, size, at, room))

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                   void *(*run)(void *), void *context)
{
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    const unsigned long at = number("FAULTS_THREAD");
    const unsigned long n = atomic_fetch_add(&threads, 1) + 1;
    *(void **)&real = next("pthread_create");
    if (at && (n == at || (n > at && number("FAULTS_THREADS"))))
        return EAGAIN;
    return real(thread, attributes, run, context);
}

int flock(int fd, int how)
{
    int (*real)(int, int);
    *(void **)&real = next("flock");
    if (!number("FAULTS_LOCKS"))
        return real(fd, how);
    errno = ENOLCK;
    return -1;
}
