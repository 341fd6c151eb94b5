/* What a file has beside its bytes. */
#include "cli/files/attributes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cli/files/acl.h"

#define ACL "system.posix_acl_access"

/* A file whose attributes are read: by its descriptor, or, if it was opened
 * with O_PATH since it may not be read, by the name that /proc has for that. */
struct old_file {
    int fd;
    char path[32]; /* "": by the descriptor */
};

static ssize_t get(const struct old_file *file, const char *name, void *value,
                   size_t size)
{
    return *file->path ? getxattr(file->path, name, value, size)
                       : fgetxattr(file->fd, name, value, size);
}

static ssize_t list(const struct old_file *file, char *names, size_t size)
{
    return *file->path ? listxattr(file->path, names, size)
                       : flistxattr(file->fd, names, size);
}

static bool has_no_such_thing(int why)
{
    return why == ENODATA || why == EOPNOTSUPP || why == ENOSYS;
}

/* ---- Who may do what ---------------------------------------------------- */

static int read_acl(struct permissions *access, const struct old_file *file,
                    struct err *err)
{
    enum { MOST = 1 << 16 }; /* XATTR_SIZE_MAX */
    ssize_t n = get(file, ACL, NULL, 0);
    if (n <= 0 || n > MOST) {
        access->acl_unknown = n > 0 || (n < 0 && !has_no_such_thing(errno));
        return 0;
    }
    access->acl = malloc((size_t)n);
    if (!access->acl)
        return fail(err, "no memory for an access control list");
    access->nacl = (size_t)n;
    if (get(file, ACL, access->acl, (size_t)n) == n &&
        acl_is_valid(access->acl, (size_t)n))
        return 0;
    permissions_free(access);
    access->acl_unknown = true;
    return 0;
}

int permissions_read_acl(struct permissions *access, int fd, struct err *err)
{
    return read_acl(access, &(struct old_file){ .fd = fd }, err);
}

void permissions_free(struct permissions *access)
{
    free(access->acl);
    access->acl = NULL;
    access->nacl = 0;
}

/* Returns whether the file has the owner and the group now. */
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

/* A file may have got a list from its directory, of which the group's bits of
 * its mode would be the mask. Returns false if it still has one. */
static bool drop_acl(int fd)
{
    if (fgetxattr(fd, ACL, NULL, 0) < 0 && has_no_such_thing(errno))
        return true;
    return fremovexattr(fd, ACL) == 0 || has_no_such_thing(errno);
}

/* The nine bits for a file without a list, in place of one that had one. */
static mode_t mode_without_acl(const struct permissions *access, bool left, int fd)
{
    mode_t mode = access->st.st_mode & 0777;
    if (access->nacl)
        mode = acl_mode_without(access->acl, access->nacl);
    if (left || access->acl_unknown)
        mode = acl_mode_leave_group(mode);
    return drop_acl(fd) ? mode : mode & ~(mode_t)S_IRWXG;
}

int permissions_give(const struct permissions *access, int fd, enum permissions_keep keep,
                struct warnings *warnings, struct err *err)
{
    struct stat st;
    bool group, both = give_owner(&access->st, fd, &group);
    bool left = !group && keep == PERMISSIONS_NARROW;
    mode_t special = access->st.st_mode & (both ? 07000 : S_ISVTX), mode;
    if (access->nacl && left)
        acl_leave_group(access->acl, access->nacl);
    if (access->nacl && fsetxattr(fd, ACL, access->acl, access->nacl, 0) == 0) {
        mode = acl_mode(access->acl, access->nacl);
    } else {
        if (access->nacl && warnings)
            warn(warnings,
                 "the access control list of the output cannot be kept: %s",
                 strerror(errno));
        mode = mode_without_acl(access, left, fd);
    }
    mode |= special;
    if (fstat(fd, &st) == 0 && (st.st_mode & 07777) == mode)
        return 0;
    return fchmod(fd, mode)
               ? fail(err, "its mode cannot be kept: %s", strerror(errno))
               : 0;
}

/* ---- Extended attributes ------------------------------------------------ */

/* Access control lists are handed on elsewhere; the others stand for the bytes
 * of a file, as set-user-ID bits that a write takes away. */
static bool is_handed_on(const char *name)
{
    static const char *const not [] = {
        ACL,
        "system.posix_acl_default",
        "security.capability",
        "security.ima",
        "security.evm",
    };
    for (size_t i = 0; i < sizeof not / sizeof *not ; i++)
        if (strcmp(name, not [i]) == 0)
            return false;
    return true;
}

/* Room for all of the attributes of a file, one at a time. */
struct buffer {
    uint8_t *data;
    size_t size;
};

static bool make_room(struct buffer *buffer, size_t size)
{
    if (size <= buffer->size)
        return true;
    uint8_t *data = realloc(buffer->data, size);
    if (!data)
        return false;
    *buffer = (struct buffer){ data, size };
    return true;
}

/* Whether a file has an attribute with this value, as one that the system
 * itself sets, like the label of SELinux. */
static bool has(int fd, const char *name, const uint8_t *value, size_t size)
{
    uint8_t *own = malloc(size + 1);
    bool same = own && fgetxattr(fd, name, own, size + 1) == (ssize_t)size &&
                memcmp(own, value, size) == 0;
    free(own);
    return same;
}

/* Hands on one attribute. Returns 0, or an errno. */
static int hand_on(const struct old_file *file, const char *name, int fd,
                   struct buffer *value)
{
    ssize_t n = get(file, name, NULL, 0);
    if (n < 0)
        return errno == ENODATA ? 0 : errno;
    if (!make_room(value, (size_t)n + 1))
        return ENOMEM;
    n = get(file, name, value->data, value->size);
    if (n < 0)
        return errno == ENODATA ? 0 : errno;
    if (has(fd, name, value->data, (size_t)n) ||
        fsetxattr(fd, name, value->data, (size_t)n, 0) == 0)
        return 0;
    return errno;
}

static int hand_on_all(const struct old_file *file, int fd,
                       struct warnings *warnings, struct err *err)
{
    enum { MOST = 1 << 16 }; /* XATTR_LIST_MAX */
    char few[256], *names = few;
    struct buffer value = { 0 };
    ssize_t n = list(file, few, sizeof few);
    if (n == 0 || (n < 0 && errno != ERANGE))
        return 0;
    if (n < 0) {
        names = malloc(MOST);
        if (!names)
            return fail(err, "no memory for extended attributes");
        n = list(file, names, MOST);
    }
    for (const char *at = names; n > 0 && at < names + n;
         at += strlen(at) + 1) {
        int why = is_handed_on(at) ? hand_on(file, at, fd, &value) : 0;
        if (why && warnings)
            warn(warnings,
                 "the extended attribute %s of the output cannot be "
                 "kept: %s",
                 at, strerror(why));
    }
    free(value.data);
    if (names != few)
        free(names);
    return 0;
}

static int open_old(struct old_file *file, int directory, const char *base)
{
    int flags = O_NOFOLLOW | O_CLOEXEC;
    *file->path = '\0';
    file->fd =
        openat(directory, base, flags | O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (file->fd >= 0)
        return 0;
    file->fd = openat(directory, base, flags | O_PATH);
    snprintf(file->path, sizeof file->path, "/proc/self/fd/%d", file->fd);
    return file->fd < 0 ? -1 : 0;
}

int attributes_hand_on(int directory, const char *base, int fd,
                       struct permissions *access, struct warnings *warnings,
                       struct err *err)
{
    struct old_file file;
    int status = -1;
    if (open_old(&file, directory, base) || fstat(file.fd, &access->st))
        fail(err, "its attributes cannot be read: %s", strerror(errno));
    else if (read_acl(access, &file, err) == 0)
        status = hand_on_all(&file, fd, warnings, err);
    if (file.fd >= 0)
        close(file.fd);
    return status;
}
