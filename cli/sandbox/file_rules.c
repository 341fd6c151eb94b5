/* Which files the process can open: rules of Landlock. */
#include "cli/sandbox/file_rules.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As in <linux/landlock.h>, of which the header of the system may know less
 * than the kernel, or nothing. */
enum access {
    ACCESS_WRITE_FILE = 1 << 1,
    ACCESS_READ_FILE = 1 << 2,
    ACCESS_READ_DIR = 1 << 3,
    ACCESS_REMOVE_DIR = 1 << 4,
    ACCESS_REMOVE_FILE = 1 << 5,
    ACCESS_MAKE_DIR = 1 << 7,
    ACCESS_MAKE_REG = 1 << 8,
    ACCESS_REFER = 1 << 13,
    ACCESS_TRUNCATE = 1 << 14,
    ACCESS_IOCTL_DEV = 1 << 15,
    ACCESS_OF_FILES = ACCESS_WRITE_FILE | ACCESS_READ_FILE | ACCESS_TRUNCATE |
                      ACCESS_IOCTL_DEV,
};

struct ruleset_attr {
    uint64_t files, network, scope;
};

struct path_beneath_attr {
    uint64_t access;
    int32_t fd;
} __attribute__((packed));

enum { CREATE_VERSION = 1, RULE_PATH_BENEATH = 1 };

/* What each version of the interface has learned to forbid, from version 1 on.
 * Later ones forbid no less. */
static const struct ruleset_attr versions[] = {
    { 0x1fff, 0, 0 }, /* 13 kinds of access to files */
    { 0x3fff, 0, 0 }, /* links and renames between directories */
    { 0x7fff, 0, 0 }, /* truncation */
    { 0x7fff, 3, 0 }, /* binding and connecting of TCP */
    { 0xffff, 3, 0 }, /* control of devices */
    { 0xffff, 3, 3 }, /* abstract sockets and signals */
};
enum { VERSIONS = sizeof versions / sizeof *versions };

int file_rules_begin(struct file_rules *rules, struct err *err)
{
    long version =
        syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_VERSION);
    rules->fd = -1;
    rules->lacking = 0;
    if (version < 1)
        return fail(err, "this kernel has no Landlock");
    if (version > VERSIONS)
        version = VERSIONS;
    struct ruleset_attr attr = versions[version - 1];
    rules->handled = attr.files;
    rules->fd =
        (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0);
    return rules->fd < 0 ? fail(err, "Landlock: %s", strerror(errno)) : 0;
}

void file_rules_allow(struct file_rules *rules, int fd, unsigned what)
{
    struct stat st;
    uint64_t access =
        (what & FILES_READ ? ACCESS_READ_FILE : 0) |
        (what & FILES_LIST ? ACCESS_READ_DIR : 0) |
        (what & FILES_WRITE ? ACCESS_WRITE_FILE | ACCESS_TRUNCATE : 0) |
        (what & FILES_MAKE
             ? ACCESS_MAKE_REG | ACCESS_MAKE_DIR | ACCESS_REMOVE_DIR |
                   ACCESS_REMOVE_FILE | ACCESS_REFER
             : 0) |
        (what & FILES_CONTROL ? ACCESS_IOCTL_DEV : 0);
    if (fstat(fd, &st)) {
        file_rules_give_up(rules, errno);
        return;
    }
    if (!S_ISDIR(st.st_mode))
        access &= ACCESS_OF_FILES;
    const struct path_beneath_attr rule = { access & rules->handled, fd };
    if (rule.access &&
        syscall(SYS_landlock_add_rule, rules->fd, RULE_PATH_BENEATH, &rule,
                0) &&
        errno != EBADFD) /* it is in no file system */
        file_rules_give_up(rules, errno);
}

void file_rules_give_up(struct file_rules *rules, int why)
{
    rules->lacking = why;
}

int file_rules_enforce(struct file_rules *rules, struct err *err)
{
    int status = 0;
    if (rules->lacking)
        status =
            fail(err, "a rule cannot be made: %s", strerror(rules->lacking));
    else if (syscall(SYS_landlock_restrict_self, rules->fd, 0))
        status = fail(err, "Landlock: %s", strerror(errno));
    close(rules->fd);
    rules->fd = -1;
    return status;
}
