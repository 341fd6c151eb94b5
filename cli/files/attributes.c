/* Permissions and extended attributes of files. */
#include "cli/files/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

/* A POSIX list as Linux stores it. libacl would read its entries; here it is
 * kept as it is, or not at all. */
#define ACL "system.posix_acl_access"

/* A file that may not be read is opened with O_PATH, and its attributes can
 * only be read by the name that /proc has for the descriptor (EBADF). */
static ssize_t get(int fd, const char *name, void *value, size_t size)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t n = fgetxattr(fd, name, value, size);
    return n < 0 && errno == EBADF ? getxattr(path, name, value, size) : n;
}

static ssize_t list(int fd, char *names, size_t size)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t n = flistxattr(fd, names, size);
    return n < 0 && errno == EBADF ? listxattr(path, names, size) : n;
}

static bool means_absent(int why)
{
    return why == ENODATA || why == EOPNOTSUPP || why == ENOSYS;
}

/* ---- Permissions -------------------------------------------------------- */

int permissions_read_acl(struct permissions *permissions, int fd,
                         struct err *err)
{
    enum { MOST = 1 << 16 }; /* XATTR_SIZE_MAX */
    ssize_t n = get(fd, ACL, NULL, 0);
    if (n <= 0 || n > MOST) {
        permissions->acl_unknown = n > 0 || (n < 0 && !means_absent(errno));
        return 0;
    }
    permissions->acl = malloc((size_t)n);
    if (!permissions->acl)
        return fail(err, "no memory for an access control list");
    permissions->nacl = (size_t)n;
    if (get(fd, ACL, permissions->acl, (size_t)n) == n)
        return 0;
    permissions_free(permissions);
    permissions->acl_unknown = true;
    return 0;
}

void permissions_free(struct permissions *permissions)
{
    free(permissions->acl);
    permissions->acl = NULL;
    permissions->nacl = 0;
}

int permissions_give(const struct permissions *permissions, int fd,
                     enum permissions_keep keep, struct warnings *warnings,
                     struct err *err)
{
    const struct stat *to = &permissions->st;
    struct stat st = { 0 };
    const bool known = fstat(fd, &st) == 0;
    const bool group = known && (st.st_gid == to->st_gid ||
                                 fchown(fd, (uid_t)-1, to->st_gid) == 0);
    const bool both =
        known &&
        (st.st_uid == to->st_uid || fchown(fd, to->st_uid, (gid_t)-1) == 0) &&
        group;
    const bool left = !group && keep == PERMISSIONS_NARROW;
    const bool listed =
        permissions->nacl && !left &&
        fsetxattr(fd, ACL, permissions->acl, permissions->nacl, 0) == 0;
    if (permissions->nacl && !listed && warnings)
        warn(warnings,
             "the access control list of the output cannot be kept: %s",
             left ? "its group cannot be given" : strerror(errno));
    mode_t mode = to->st_mode & 0777;
    if (!listed) {
        /* Where the list is lost, or the group, nobody knows whom the rest
         * would allow more than before. */
        const mode_t shared = mode >> 3 & mode & 7;
        if (permissions->nacl)
            mode &= S_IRWXU;
        else if (left || permissions->acl_unknown)
            mode = (mode & S_IRWXU) | shared << 3 | shared;
        /* A list that it has inherited from its directory goes: the group bits
         * of its mode would be the mask of that list. */
        if ((fgetxattr(fd, ACL, NULL, 0) >= 0 || !means_absent(errno)) &&
            fremovexattr(fd, ACL) && !means_absent(errno))
            mode &= ~(mode_t)S_IRWXG;
    }
    if (fstat(fd, &st))
        return fail(err, "its mode cannot be read: %s", strerror(errno));
    if (listed) /* which has set the mode, too */
        mode = st.st_mode & 0777;
    mode |= to->st_mode & (both ? 07000 : S_ISVTX);
    return (st.st_mode & 07777) == mode || fchmod(fd, mode) == 0
               ? 0
               : fail(err, "its mode cannot be kept: %s", strerror(errno));
}

/* ---- Extended attributes ------------------------------------------------ */

/* Access control lists are copied above. The others vouch for the old bytes: a
 * write drops them, as it drops set-user-ID bits. */
static const char *const not_copied[] = {
    ACL,
    "system.posix_acl_default",
    "security.capability",
    "security.ima",
    "security.evm",
};

/* An attribute that the file has already, like a label of SELinux that the
 * system sets itself, is left as it is. */
static int copy_all(int from, int to, struct warnings *warnings,
                    struct err *err)
{
    struct {
        char names[1 << 16];  /* XATTR_LIST_MAX */
        uint8_t old[1 << 16]; /* XATTR_SIZE_MAX */
        uint8_t fresh[1 << 16];
    } * room;
    if (list(from, NULL, 0) <= 0)
        return 0;
    room = malloc(sizeof *room);
    if (!room)
        return fail(err, "no memory for extended attributes");
    const ssize_t all = list(from, room->names, sizeof room->names);
    for (const char *at = room->names; all > 0 && at < room->names + all;
         at += strlen(at) + 1) {
        size_t i = 0;
        while (i < sizeof not_copied / sizeof *not_copied &&
               strcmp(at, not_copied[i]) != 0)
            i++;
        if (i < sizeof not_copied / sizeof *not_copied)
            continue;
        const ssize_t n = get(from, at, room->old, sizeof room->old);
        if ((n < 0 && errno == ENODATA) ||
            (n >= 0 &&
             fgetxattr(to, at, room->fresh, sizeof room->fresh) == n &&
             memcmp(room->fresh, room->old, (size_t)n) == 0))
            continue;
        if ((n < 0 || fsetxattr(to, at, room->old, (size_t)n, 0)) && warnings)
            warn(warnings,
                 "the extended attribute %s of the output cannot be kept: %s",
                 at, strerror(errno));
    }
    free(room);
    return 0;
}

int attributes_copy(int directory, const char *base, int to,
                    struct permissions *permissions, struct warnings *warnings,
                    struct err *err)
{
    int flags = O_NOFOLLOW | O_CLOEXEC, status = -1;
    int from =
        openat(directory, base, flags | O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (from < 0)
        from = openat(directory, base, flags | O_PATH);
    if (from < 0 || fstat(from, &permissions->st))
        fail(err, "its attributes cannot be read: %s", strerror(errno));
    else if (permissions_read_acl(permissions, from, err) == 0)
        status = copy_all(from, to, warnings, err);
    if (from >= 0)
        close(from);
    return status;
}
