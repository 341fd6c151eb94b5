/* Permissions and extended attributes of files. */
#include "cli/files/attributes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "codecs/base/byte_order.h"

/* ---- Access control lists ------------------------------------------------ */

/* A header of 4 bytes, the version; then entries of 8: tag and permissions, 16
 * bits each, and the number of a user or group, all little-endian. */

enum { HEADER = 4, ENTRY = 8, VERSION = 2 };

enum tag {
    TAG_OWNER = 0x01,
    TAG_USER = 0x02,
    TAG_OWNING_GROUP = 0x04,
    TAG_GROUP = 0x08,
    TAG_MASK = 0x10,
    TAG_OTHERS = 0x20,
};

static unsigned allowed_by(const uint8_t *entry)
{
    return entry[2] & 7u;
}

/* Returns the entry with a tag that stands once at most, or NULL. */
static uint8_t *find(const uint8_t *acl, size_t size, enum tag tag)
{
    for (size_t at = HEADER; at + ENTRY <= size; at += ENTRY)
        if (read_le16(acl + at) == tag)
            return (uint8_t *)acl + at;
    return NULL;
}

bool acl_is_valid(const uint8_t *acl, size_t size)
{
    return size >= HEADER && (size - HEADER) % ENTRY == 0 &&
           acl[0] == VERSION && !acl[1] && !acl[2] && !acl[3] &&
           find(acl, size, TAG_OWNER) && find(acl, size, TAG_OWNING_GROUP) &&
           find(acl, size, TAG_OTHERS);
}

static mode_t mode_of(unsigned owner, unsigned group, unsigned others)
{
    return (mode_t)(owner << 6 | group << 3 | others);
}

mode_t acl_mode(const uint8_t *acl, size_t size)
{
    const uint8_t *mask = find(acl, size, TAG_MASK);
    if (!mask)
        mask = find(acl, size, TAG_OWNING_GROUP);
    return mode_of(allowed_by(find(acl, size, TAG_OWNER)), allowed_by(mask),
                   allowed_by(find(acl, size, TAG_OTHERS)));
}

/* A user who has an entry may be in the owning group, and is one of the others
 * without it; so is a member of a group that has one. */
mode_t acl_mode_without(const uint8_t *acl, size_t size)
{
    const uint8_t *mask = find(acl, size, TAG_MASK);
    unsigned most = mask ? allowed_by(mask) : 7;
    unsigned group = allowed_by(find(acl, size, TAG_OWNING_GROUP)) & most;
    unsigned others = allowed_by(find(acl, size, TAG_OTHERS));
    for (size_t at = HEADER; at + ENTRY <= size; at += ENTRY) {
        unsigned tag = read_le16(acl + at),
                 allowed = allowed_by(acl + at) & most;
        if (tag == TAG_USER)
            group &= allowed;
        if (tag == TAG_USER || tag == TAG_GROUP)
            others &= allowed;
    }
    return mode_of(allowed_by(find(acl, size, TAG_OWNER)), group, others);
}

/* A member of the new owning group may be in one that has an entry, and was
 * allowed what that says, and no more. */
void acl_leave_group(uint8_t *acl, size_t size)
{
    const uint8_t *mask = find(acl, size, TAG_MASK);
    uint8_t *group = find(acl, size, TAG_OWNING_GROUP);
    uint8_t *others = find(acl, size, TAG_OTHERS);
    unsigned most = mask ? allowed_by(mask) : 7;
    unsigned both = allowed_by(group) & most & allowed_by(others);
    group[2] = others[2] = (uint8_t)both;
    for (size_t at = HEADER; at + ENTRY <= size; at += ENTRY)
        if (read_le16(acl + at) == TAG_GROUP)
            group[2] &= allowed_by(acl + at) & most;
}

mode_t acl_mode_leave_group(mode_t mode)
{
    mode_t both = mode >> 3 & mode & 7;
    return (mode & ~(mode_t)077) | both << 3 | both;
}

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
    if (get(fd, ACL, permissions->acl, (size_t)n) == n &&
        acl_is_valid(permissions->acl, (size_t)n))
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

/* Returns the nine bits of a file without a list that replaces one with it. */
static mode_t mode_without_acl(const struct permissions *permissions, bool left,
                               int fd)
{
    mode_t mode = permissions->st.st_mode & 0777;
    if (permissions->nacl)
        mode = acl_mode_without(permissions->acl, permissions->nacl);
    if (left || permissions->acl_unknown)
        mode = acl_mode_leave_group(mode);
    return drop_acl(fd) ? mode : mode & ~(mode_t)S_IRWXG;
}

int permissions_give(const struct permissions *permissions, int fd,
                     enum permissions_keep keep, struct warnings *warnings,
                     struct err *err)
{
    struct stat st;
    bool group, both = give_owner(&permissions->st, fd, &group);
    bool left = !group && keep == PERMISSIONS_NARROW;
    mode_t special = permissions->st.st_mode & (both ? 07000 : S_ISVTX), mode;
    if (permissions->nacl && left)
        acl_leave_group(permissions->acl, permissions->nacl);
    if (permissions->nacl &&
        fsetxattr(fd, ACL, permissions->acl, permissions->nacl, 0) == 0) {
        mode = acl_mode(permissions->acl, permissions->nacl);
    } else {
        if (permissions->nacl && warnings)
            warn(warnings,
                 "the access control list of the output cannot be kept: %s",
                 strerror(errno));
        mode = mode_without_acl(permissions, left, fd);
    }
    mode |= special;
    if (fstat(fd, &st) == 0 && (st.st_mode & 07777) == mode)
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
