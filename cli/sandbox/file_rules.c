/* Which files the process can open: rules of Landlock. */
#include "cli/sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
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

/* ---- The driver of a GPU ------------------------------------------------- */

/* After a start of the system the devices are made when a program first uses
 * them, by another program that the driver runs: that of the first GPU, and
 * that of the memory which all share. */
void file_rules_make_devices(void)
{
    char name[] = "nvidia-modprobe", of[] = "-c", first[] = "0", too[] = "-u";
    char *const make[] = { name, of, first, too, NULL };
    pid_t process;
    if (access("/dev/nvidia-uvm", F_OK) &&
        posix_spawnp(&process, make[0], NULL, NULL, make, environ) == 0)
        waitpid(process, NULL, 0);
}

enum {
    OF_DEVICES = FILES_READ | FILES_LIST | FILES_WRITE | FILES_CONTROL,
    TO_READ = FILES_READ | FILES_LIST,
};

static const struct {
    const char *pattern;
    unsigned what;
} driver_needs[] = {
    { "/dev/nvidia*", OF_DEVICES }, /* also a directory of capabilities */
    { "/dev/nvhost*", OF_DEVICES },
    { "/dev/nvmap", OF_DEVICES },
    { "/dev/dxg", OF_DEVICES },
    { "/dev/null", OF_DEVICES },
    { "/proc", TO_READ },
    { "/proc/self/task", TO_READ | FILES_WRITE }, /* their names */
    { "/sys", TO_READ },
    { "/usr", TO_READ },
    { "/lib*", TO_READ },
    { "/opt", TO_READ },
    { "/nix/store", TO_READ },
    { "/run/opengl-driver", TO_READ },
    { "/etc/ld.so.cache", TO_READ },
    { "/etc/nvidia*", TO_READ },
};

static void allow(struct file_rules *rules, const char *name, unsigned what)
{
    int fd = open(name, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return;
    file_rules_allow(rules, fd, what);
    close(fd);
}

static void allow_all(struct file_rules *rules, const char *pattern,
                      unsigned what)
{
    glob_t found;
    if (glob(pattern, GLOB_NOSORT, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++)
            allow(rules, found.gl_pathv[i], what);
    globfree(&found);
}

/* What it has compiled for this GPU before. That is not written to: other
 * programs take it for what to run. */
static void allow_compiled(struct file_rules *rules)
{
    const char *place = getenv("CUDA_CACHE_PATH"), *home = getenv("HOME");
    char name[PATH_MAX];
    if (!place && home) {
        snprintf(name, sizeof name, "%s/.nv", home);
        place = name;
    }
    if (place)
        allow(rules, place, TO_READ);
}

void file_rules_allow_driver(struct file_rules *rules)
{
    for (size_t i = 0; i < sizeof driver_needs / sizeof *driver_needs; i++)
        allow_all(rules, driver_needs[i].pattern, driver_needs[i].what);
    /* Where the user has libraries looked for. */
    const char *path = getenv("LD_LIBRARY_PATH");
    char name[PATH_MAX];
    for (size_t n; path && *path; path += n + (path[n] != '\0')) {
        n = strcspn(path, ":;");
        if (n && n < sizeof name) {
            memcpy(name, path, n);
            name[n] = '\0';
            allow(rules, name, TO_READ);
        }
    }
    allow_compiled(rules);
}
