/* Permissions and extended attributes of files. */
#include "cli/files/attributes.h"

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

/* The name that /proc has for a descriptor. A file that may not be read is
 * opened with O_PATH, and its attributes can only be read by this name (EBADF).
 */
struct proc_path {
    char text[32];
};

static struct proc_path path_of(int fd)
{
    struct proc_path path;
    snprintf(path.text, sizeof path.text, "/proc/self/fd/%d", fd);
    return path;
}

static ssize_t get(int fd, const char *name, void *value, size_t size)
{
    ssize_t n = fgetxattr(fd, name, value, size);
    return n < 0 && errno == EBADF
               ? getxattr(path_of(fd).text, name, value, size)
               : n;
}

static ssize_t list(int fd, char *names, size_t size)
{
    ssize_t n = flistxattr(fd, names, size);
    return n < 0 && errno == EBADF ? listxattr(path_of(fd).text, names, size)
                                   : n;
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

/* Gives a file its owner and group. Returns whether it has both. */
static bool give_owner(const struct stat *to, int fd, bool *group)
{
    struct stat st;
    *group = false;
    if (fstat(fd, &st))
        return false;
    *group = st.st_gid == to->st_gid || fchown(fd, (uid_t)-1, to->st_gid) == 0;
    return (st.st_uid == to->st_uid ||
            fchown(fd, to->st_uid, (gid_t)-1) == 0) &&
           *group;
}

/* Removes the list that a file may have inherited from its directory: the group
 * bits of its mode would be the mask of that list. Returns false if it still
 * has one. */
static bool drop_acl(int fd)
{
    if (fgetxattr(fd, ACL, NULL, 0) < 0 && means_absent(errno))
        return true;
    return fremovexattr(fd, ACL) == 0 || means_absent(errno);
}

/* Returns the nine bits of a file that replaces another one, without its list.
 * Where the list is lost, or the group, nobody knows whom the rest would allow
 * more than before. */
static mode_t mode_without_acl(const struct permissions *permissions, bool left,
                               int fd)
{
    mode_t mode = permissions->st.st_mode & 0777;
    const mode_t both = mode >> 3 & mode & 7;
    if (permissions->nacl)
        mode &= S_IRWXU;
    else if (left || permissions->acl_unknown)
        mode = (mode & S_IRWXU) | both << 3 | both;
    return drop_acl(fd) ? mode : mode & ~(mode_t)S_IRWXG;
}

int permissions_give(const struct permissions *permissions, int fd,
                     enum permissions_keep keep, struct warnings *warnings,
                     struct err *err)
{
    struct stat st;
    bool group, both = give_owner(&permissions->st, fd, &group);
    const bool left = !group && keep == PERMISSIONS_NARROW;
    const bool listed =
        permissions->nacl && !left &&
        fsetxattr(fd, ACL, permissions->acl, permissions->nacl, 0) == 0;
    if (permissions->nacl && !listed && warnings)
        warn(warnings,
             "the access control list of the output cannot be kept: %s",
             left ? "its group cannot be given" : strerror(errno));
    mode_t mode = listed ? 0 : mode_without_acl(permissions, left, fd);
    if (fstat(fd, &st))
        return fail(err, "its mode cannot be read: %s", strerror(errno));
    if (listed) /* which has set the mode, too */
        mode = st.st_mode & 0777;
    mode |= permissions->st.st_mode & (both ? 07000 : S_ISVTX);
    if ((st.st_mode & 07777) == mode)
        return 0;
    return fchmod(fd, mode)
               ? fail(err, "its mode cannot be kept: %s", strerror(errno))
               : 0;
}

/* ---- Extended attributes ------------------------------------------------ */

/* Access control lists are copied above. The others below vouch for the old
 * bytes: a write drops them, as it drops set-user-ID bits. */
static bool is_copied(const char *name)
{
    static const char *const others[] = {
        ACL,
        "system.posix_acl_default",
        "security.capability",
        "security.ima",
        "security.evm",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(name, others[i]) == 0)
            return false;
    return true;
}

/* Room for the names of all attributes, and for a value of two files. */
struct attribute_buffers {
    char names[1 << 16];  /* XATTR_LIST_MAX */
    uint8_t old[1 << 16]; /* XATTR_SIZE_MAX */
    uint8_t fresh[1 << 16];
};

/* Copies an attribute, unless the file has it already, like a label of SELinux
 * that the system sets itself. Returns 0, or an errno. */
static int copy_one(int from, const char *name, int to,
                    struct attribute_buffers *buffers)
{
    ssize_t n = get(from, name, buffers->old, sizeof buffers->old);
    if (n < 0)
        return errno == ENODATA ? 0 : errno;
    if (fgetxattr(to, name, buffers->fresh, sizeof buffers->fresh) == n &&
        memcmp(buffers->fresh, buffers->old, (size_t)n) == 0)
        return 0;
    return fsetxattr(to, name, buffers->old, (size_t)n, 0) ? errno : 0;
}

static int copy_all(int from, int to, struct warnings *warnings,
                    struct err *err)
{
    if (list(from, NULL, 0) <= 0)
        return 0;
    struct attribute_buffers *buffers = malloc(sizeof *buffers);
    if (!buffers)
        return fail(err, "no memory for extended attributes");
    ssize_t n = list(from, buffers->names, sizeof buffers->names);
    for (const char *at = buffers->names; n > 0 && at < buffers->names + n;
         at += strlen(at) + 1) {
        int why = is_copied(at) ? copy_one(from, at, to, buffers) : 0;
        if (why && warnings)
            warn(warnings,
                 "the extended attribute %s of the output cannot be "
                 "kept: %s",
                 at, strerror(why));
    }
    free(buffers);
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
