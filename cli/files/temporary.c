/* Files that are not whole yet, and those that never became it. */
#include "cli/files/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "cli/select/hash.h"

#define PREFIX ".gimgxf-"
static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";

enum { NPREFIX = sizeof PREFIX - 1, NLETTERS = 12 };

/* ---- Ours ---------------------------------------------------------------- */

bool temporary_is_name(const char *base)
{
    return strncmp(base, PREFIX, NPREFIX) == 0 &&
           strspn(base + NPREFIX, letters) == NLETTERS &&
           base[NPREFIX + NLETTERS] == '\0';
}

/* A name that nothing has. */
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

/* Between its making and its locking a file may be taken for one that was left.
 * Returns false if it was, and is removed or about to be. Where files cannot be
 * locked, none are taken for that. */
static bool lock_new(int fd)
{
    struct stat st;
    if (flock(fd, LOCK_EX | LOCK_NB))
        return errno != EWOULDBLOCK;
    return fstat(fd, &st) || st.st_nlink > 0;
}

int temporary_open(int directory, mode_t mode, struct pending *pending)
{
    int fd = -1;
    for (int tries = 0; tries < 100; tries++) {
        char name[NAME_MAX + 1];
        bool taken = false;
        if (make_name(name))
            break;
        struct pending_file *file = pending_lock(pending);
        fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                    mode);
        taken = fd >= 0 && !lock_new(fd);
        if (fd >= 0 && !taken) {
            file->directory = directory;
            strcpy(file->name, name);
        }
        if (taken)
            unlinkat(directory, name, 0);
        pending_unlock(pending);
        if (fd >= 0 ? !taken : errno != EEXIST)
            break;
        if (taken)
            close(fd);
        fd = -1;
    }
    return fd;
}

void temporary_remove(struct pending *pending)
{
    struct pending_file *file = pending_lock(pending);
    unlinkat(file->directory, file->name, 0);
    *file->name = '\0';
    pending_unlock(pending);
}

/* ---- Left behind --------------------------------------------------------- */

/* Whether all who may write to a file see each other's locks, being on this
 * machine. */
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

/* A file's time of change is nobody's to set, unlike the others. */
static bool is_old(const struct stat *st)
{
    enum { HOUR = 3600 };
    return time(NULL) - st->st_ctime > HOUR;
}

/* Whether nobody writes to an opened file; it is locked then. */
static bool is_left(int fd, int directory, const char *base)
{
    struct stat st, now;
    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
           st.st_uid == geteuid() && (is_local(fd) || is_old(&st)) &&
           flock(fd, LOCK_EX | LOCK_NB) == 0 &&
           fstatat(directory, base, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
           now.st_dev == st.st_dev && now.st_ino == st.st_ino;
}

/* Some file systems of a network lock only what is open for writing. */
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

/* ---- Directories --------------------------------------------------------- */

struct seen {
    dev_t device;
    ino_t inode; /* 0: the slot is free */
};

struct left_behind {
    size_t most;
    pthread_mutex_t lock;
    struct seen *slot;
    size_t count, slots; /* a power of two */
};

struct left_behind *left_behind_open(size_t most)
{
    struct left_behind *left = calloc(1, sizeof *left);
    if (!left)
        return NULL;
    left->most = most;
    left->slots = 16;
    left->slot = calloc(left->slots, sizeof *left->slot);
    pthread_mutex_init(&left->lock, NULL);
    if (left->slot)
        return left;
    left_behind_close(left);
    return NULL;
}

void left_behind_close(struct left_behind *left)
{
    if (!left)
        return;
    pthread_mutex_destroy(&left->lock);
    free(left->slot);
    free(left);
}

static struct seen *slot_of(const struct left_behind *left, struct seen seen)
{
    size_t i = hash_pair(seen.device, seen.inode) & (left->slots - 1);
    while (left->slot[i].inode && (left->slot[i].device != seen.device ||
                                   left->slot[i].inode != seen.inode))
        i = (i + 1) & (left->slots - 1);
    return &left->slot[i];
}

static bool widen(struct left_behind *left)
{
    struct left_behind wider = *left;
    wider.slots *= 2;
    wider.slot = calloc(wider.slots, sizeof *wider.slot);
    if (!wider.slot)
        return false;
    for (size_t i = 0; i < left->slots; i++)
        if (left->slot[i].inode)
            *slot_of(&wider, left->slot[i]) = left->slot[i];
    free(left->slot);
    left->slot = wider.slot;
    left->slots = wider.slots;
    return true;
}

/* Whether a directory was not looked into yet. Without memory it is not either:
 * what is left there waits for the next run. */
static bool is_new(struct left_behind *left, const struct stat *st)
{
    struct seen seen = { st->st_dev, st->st_ino };
    struct seen *slot = slot_of(left, seen);
    if (slot->inode || (left->count >= left->slots / 2 && !widen(left)))
        return false;
    *slot_of(left, seen) = seen;
    left->count++;
    return true;
}

static void look_through(int directory, size_t most)
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
    bool new = is_new(left, &st);
    pthread_mutex_unlock(&left->lock);
    if (new)
        look_through(directory, left->most);
}
