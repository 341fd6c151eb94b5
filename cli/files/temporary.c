/* Files that are not whole yet, and those that never will be. */
#include "cli/files/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdint.h>
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

/* Goes by the time of change, which nobody can set. */
static bool is_old(const struct stat *st)
{
    enum { HOUR = 3600 };
    return clock_read(CLOCK_REALTIME).tv_sec - st->st_ctime > HOUR;
}

/* Locks an open file. Returns whether nobody else writes to it. */
static bool is_left(int fd, int directory, const char *base)
{
    struct stat st, named;
    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
           st.st_uid == geteuid() && (is_local(fd) || is_old(&st)) &&
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
