/* Files that are not whole yet, and those that never will be. */
#include "cli/files/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <pthread.h>
#include <search.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "codecs/base/clock.h"

#define PREFIX ".gimgxf-"
static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";

enum { NPREFIX = sizeof PREFIX - 1, NLETTERS = 12 };

/* ---- Names that a signal has to remove ----------------------------------- */

/* Entries are never freed, so that a signal handler can follow the list at any
 * time; there are as many as files were written at once. */
struct temporary {
    struct temporary *next;
    atomic_flag taken;
    atomic_flag locked; /* only while signals are blocked: whoever waits for it,
                           even in a handler, waits for another thread */
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

/* What this thread had blocked before. */
static _Thread_local sigset_t before;

struct temporary_place *temporary_lock(struct temporary *temporary)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    while (atomic_flag_test_and_set(&temporary->locked))
        continue;
    return &temporary->place;
}

void temporary_unlock(struct temporary *temporary)
{
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

bool temporary_is_name(const char *base)
{
    return strncmp(base, PREFIX, NPREFIX) == 0 &&
           strspn(base + NPREFIX, letters) == NLETTERS &&
           base[NPREFIX + NLETTERS] == '\0';
}

/* Makes a name that no file has. Returns 0, or -1 and sets errno. */
static int make_name(char *name)
{
    uint8_t random[NLETTERS];
    if (getrandom(random, sizeof random, 0) != sizeof random)
        return -1;
    name = stpcpy(name, PREFIX);
    for (size_t i = 0; i < NLETTERS; i++)
        *name++ = letters[random[i] & 31];
    *name = '\0';
    return 0;
}

/* Locks a file that was just made. Before that, another run may take it for one
 * that was left: returns false if that has removed it or is about to. Where
 * files cannot be locked, no run takes one for that. */
static bool lock_new(int fd)
{
    struct stat st;
    if (flock(fd, LOCK_EX | LOCK_NB))
        return errno != EWOULDBLOCK;
    return fstat(fd, &st) || st.st_nlink > 0;
}

bool temporary_give_name(int unnamed, int directory, const char *name)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", unnamed);
    return linkat(AT_FDCWD, link, directory, name, AT_SYMLINK_FOLLOW) == 0;
}

/* How a file comes to be. */
struct origin {
    int unnamed; /* it is this one, which gets a name; -1: it is made */
    int access;
    mode_t mode;
};

/* What cannot be opened gets no name: nobody would remove it. */
static int open_named(const struct origin *from, int directory,
                      const char *name)
{
    if (from->unnamed < 0)
        return openat(directory, name,
                      from->access | O_CREAT | O_EXCL | O_CLOEXEC, from->mode);
    int fd = fcntl(from->unnamed, F_DUPFD_CLOEXEC, 0);
    if (fd < 0 || temporary_give_name(from->unnamed, directory, name))
        return fd;
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

/* Makes and locks a file. Returns a descriptor, or -1 and sets errno. */
static int make_file(struct temporary *temporary, int directory,
                     const struct origin *from)
{
    for (int tries = 0; tries < 100; tries++) {
        char name[NAME_MAX + 1];
        if (make_name(name))
            return -1;
        struct temporary_place *place = temporary_lock(temporary);
        int fd = open_named(from, directory, name);
        bool taken = fd >= 0 && !lock_new(fd);
        if (fd >= 0 && !taken) {
            place->directory = directory;
            strcpy(place->name, name);
        }
        if (taken)
            unlinkat(directory, name, 0);
        temporary_unlock(temporary);
        if (fd >= 0 ? !taken : errno != EEXIST)
            return fd;
        if (taken)
            close(fd);
    }
    return -1;
}

static struct temporary *open_from(const struct origin *from, int directory,
                                   int *fd)
{
    struct temporary *temporary = take_entry();
    if (!temporary)
        return NULL;
    *fd = make_file(temporary, directory, from);
    if (*fd >= 0)
        return temporary;
    int why = errno;
    temporary_end(temporary);
    errno = why;
    return NULL;
}

struct temporary *temporary_open(int directory, int access, mode_t mode,
                                 int *fd)
{
    return open_from(&(struct origin){ -1, access, mode }, directory, fd);
}

struct temporary *temporary_link(int directory, int unnamed, int *fd)
{
    return open_from(&(struct origin){ .unnamed = unnamed }, directory, fd);
}

/* ---- Left behind --------------------------------------------------------- */

/* Returns whether all processes that may write to a file see each other's
 * locks, since they run on this machine. */
static bool is_local(int fd)
{
    static const unsigned long local[] = {
        EXT4_SUPER_MAGIC,     XFS_SUPER_MAGIC,           BTRFS_SUPER_MAGIC,
        TMPFS_MAGIC,          OVERLAYFS_SUPER_MAGIC,     F2FS_SUPER_MAGIC,
        RAMFS_MAGIC,          MSDOS_SUPER_MAGIC,         EXFAT_SUPER_MAGIC,
        0x2fc12fc1 /* ZFS */, 0xca451a4e /* bcachefs */, 0x7366746e /* NTFS */,
    };
    struct statfs fs;
    if (fstatfs(fd, &fs))
        return false;
    for (size_t i = 0; i < sizeof local / sizeof *local; i++)
        if ((unsigned long)fs.f_type == local[i])
            return true;
    return false;
}

/* Locks an open file. Returns whether nobody else writes to it. */
static bool is_left(int fd, int directory, const char *base)
{
    enum { HOUR = 3600 };
    struct stat st, named;
    time_t now = clock_read(CLOCK_REALTIME).tv_sec;
    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
           st.st_uid == geteuid() &&
           /* Nobody can set the time of change. */
           (is_local(fd) || now - st.st_ctime > HOUR) &&
           flock(fd, LOCK_EX | LOCK_NB) == 0 &&
           fstatat(directory, base, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           named.st_dev == st.st_dev && named.st_ino == st.st_ino;
}

/* Some network file systems lock only files that are open for writing. */
static int open_to_lock(int directory, const char *base)
{
    int flags = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    int fd = openat(directory, base, O_WRONLY | flags);
    return fd < 0 && errno == EACCES ? openat(directory, base, O_RDONLY | flags)
                                     : fd;
}

void temporary_remove_left(int directory, const char *base)
{
    struct stat st;
    if (!temporary_is_name(base) ||
        fstatat(directory, base, &st, AT_SYMLINK_NOFOLLOW) ||
        !S_ISREG(st.st_mode) || st.st_uid != geteuid())
        return;
    int fd = open_to_lock(directory, base);
    if (fd < 0)
        return;
    if (is_left(fd, directory, base))
        unlinkat(directory, base, 0);
    close(fd);
}

/* ---- Directories that were searched ---------------------------------------
 */

struct searched_directory {
    dev_t device;
    ino_t inode;
};

struct left_behind {
    size_t most;
    pthread_mutex_t lock;
    void *searched; /* a tree of tsearch(), of struct searched_directory */
};

struct left_behind *left_behind_open(size_t most)
{
    struct left_behind *left = calloc(1, sizeof *left);
    if (!left)
        return NULL;
    left->most = most;
    pthread_mutex_init(&left->lock, NULL);
    return left;
}

void left_behind_close(struct left_behind *left)
{
    if (!left)
        return;
    pthread_mutex_destroy(&left->lock);
    tdestroy(left->searched, free);
    free(left);
}

static int compare(const void *left, const void *right)
{
    const struct searched_directory *a = left, *b = right;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    return a->inode < b->inode ? -1 : a->inode > b->inode;
}

/* Notes a directory. Returns whether it is a new one; without memory it is not:
 * what is left there waits for the next run. */
static bool add_directory(struct left_behind *left, const struct stat *st)
{
    struct searched_directory key = { st->st_dev, st->st_ino }, *added = NULL;
    if (tfind(&key, &left->searched, compare) ||
        !(added = malloc(sizeof *added)))
        return false;
    *added = key;
    if (tsearch(added, &left->searched, compare))
        return true;
    free(added);
    return false;
}

/* Removes what was left among the first `most` entries of a directory. */
static void search(int directory, size_t most)
{
    int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    if (!stream && fd >= 0)
        close(fd);
    while (stream && most-- && (entry = readdir(stream)))
        temporary_remove_left(directory, entry->d_name);
    if (stream)
        closedir(stream);
}

void left_behind_remove(struct left_behind *left, int directory)
{
    struct stat st;
    if (!left || fstat(directory, &st))
        return;
    pthread_mutex_lock(&left->lock);
    bool added = add_directory(left, &st);
    pthread_mutex_unlock(&left->lock);
    if (added)
        search(directory, left->most);
}
