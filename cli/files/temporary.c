/* Files that are not whole yet, and those that never will be. */
#include "cli/files/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/files/path.h"

static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";

enum { LETTERS = 12 };

/* ---- Names that a signal has to remove ----------------------------------- */

/* Entries are never freed, so that a signal handler can follow the list at any
 * time; there are as many as files were written at once. */
struct temporary {
    struct temporary *next;
    atomic_flag taken;
    atomic_flag locked; /* only while signals are blocked: whoever waits for it,
                           even in a handler, waits for another thread */
    sigset_t blocked;   /* before, by the thread that has it locked */
    struct temporary_place place;
};

static struct temporary *_Atomic entries;

/* Returns an entry without a name; NULL if there is no memory. */
static struct temporary *take_entry(void)
{
    struct temporary *entry;
    for (entry = atomic_load(&entries); entry; entry = entry->next)
        if (!atomic_flag_test_and_set(&entry->taken))
            return entry;
    entry = calloc(1, sizeof *entry);
    if (!entry)
        return NULL;
    atomic_flag_test_and_set(&entry->taken);
    entry->next = atomic_load(&entries);
    while (!atomic_compare_exchange_weak(&entries, &entry->next, entry))
        continue;
    return entry;
}

struct temporary_place *temporary_lock(struct temporary *temporary)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    while (atomic_flag_test_and_set(&temporary->locked))
        continue;
    temporary->blocked = before;
    return &temporary->place;
}

void temporary_unlock(struct temporary *temporary)
{
    const sigset_t before = temporary->blocked;
    atomic_flag_clear(&temporary->locked);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void temporary_end(struct temporary *temporary)
{
    struct temporary_place *place = temporary_lock(temporary);
    if (*place->name)
        unlinkat(place->directory, place->name, 0);
    *place->name = '\0';
    temporary_unlock(temporary);
    atomic_flag_clear(&temporary->taken);
}

/* The locks are kept. */
void temporary_remove_all(void)
{
    for (struct temporary *t = atomic_load(&entries); t; t = t->next) {
        while (atomic_flag_test_and_set(&t->locked))
            continue;
        if (*t->place.name)
            unlinkat(t->place.directory, t->place.name, 0);
    }
}

/* ---- Files of this run --------------------------------------------------- */

bool temporary_give_name(int unnamed, int directory, const char *name)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", unnamed);
    return linkat(AT_FDCWD, link, directory, name, AT_SYMLINK_FOLLOW) == 0;
}

/* Makes a file, or gives one without a name this one; what cannot be opened
 * gets none, as nobody would remove it. Returns a descriptor, or -1 and sets
 * errno. */
static int open_named(int directory, const char *name, int unnamed, int access,
                      mode_t mode)
{
    if (unnamed < 0)
        return openat(directory, name, access | O_CREAT | O_EXCL | O_CLOEXEC,
                      mode);
    int fd = fcntl(unnamed, F_DUPFD_CLOEXEC, 0);
    if (fd < 0 || temporary_give_name(unnamed, directory, name))
        return fd;
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

/* Returns whether a file still has its name; if that cannot be told, `unknown`.
 */
static bool is_named(int directory, const char *name, int fd, bool unknown)
{
    struct stat one, two;
    if (fstat(fd, &one) || fstatat(directory, name, &two, AT_SYMLINK_NOFOLLOW))
        return unknown && errno != ENOENT;
    return one.st_dev == two.st_dev && one.st_ino == two.st_ino;
}

/* A name that is taken is that of a file which an earlier run has left, or else
 * the next one is any. Until a file is locked another run may take it for one
 * that was left: whoever lost it must not rename what has its name now. */
struct temporary *temporary_open(int directory, const char *base, int unnamed,
                                 int access, mode_t mode, int *fd)
{
    struct temporary *temporary = take_entry();
    int why = ENOMEM;
    if (!temporary)
        return NULL;
    for (int tries = 0; tries < 100; tries++) {
        char name[sizeof TEMPORARY_PREFIX + LETTERS] = TEMPORARY_PREFIX;
        uint64_t letter = base ? hash_bytes(base, strlen(base)) : 0;
        if (!base && getrandom(&letter, sizeof letter, 0) != sizeof letter) {
            why = errno;
            break;
        }
        for (size_t i = 0; i < LETTERS; i++, letter >>= 5)
            name[sizeof TEMPORARY_PREFIX - 1 + i] = letters[letter & 31];
        struct temporary_place *place = temporary_lock(temporary);
        *fd = open_named(directory, name, unnamed, access, mode);
        why = errno;
        const bool own =
            *fd >= 0 && /* not all file systems have locks */
            (flock(*fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) &&
            is_named(directory, name, *fd, true);
        if (own) {
            place->directory = directory;
            strcpy(place->name, name);
        }
        temporary_unlock(temporary);
        if (own)
            return temporary;
        if (*fd >= 0) {
            close(*fd);
            why = EEXIST;
            continue;
        }
        if (why != EEXIST)
            break;
        if (!base)
            continue;
        /* Of a run that is alive it is locked. */
        const int left = openat(directory, name,
                                O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (left < 0 || flock(left, LOCK_EX | LOCK_NB) ||
            !is_named(directory, name, left, false) ||
            unlinkat(directory, name, 0))
            base = NULL;
        if (left >= 0)
            close(left);
    }
    temporary_end(temporary);
    errno = why;
    return NULL;
}
