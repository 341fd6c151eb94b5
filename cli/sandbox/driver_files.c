/* What the driver of a GPU needs of files. */
#include "cli/sandbox/driver_files.h"

#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* After a start of the system the devices are made when a program first uses
 * them, by another program that the driver runs: that of the first GPU, and
 * that of the memory which all share. */
void driver_files_make(void)
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
} needs[] = {
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

/* Where the user has libraries looked for. */
static void allow_libraries(struct file_rules *rules)
{
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

void driver_files_allow(struct file_rules *rules)
{
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        allow_all(rules, needs[i].pattern, needs[i].what);
    allow_libraries(rules);
    allow_compiled(rules);
}
