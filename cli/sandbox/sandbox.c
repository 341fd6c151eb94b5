/* Confines the process to what its pictures need. */
#include "cli/sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/files/path.h"
#include "cli/files/scratch_file.h"
#include "cli/job/job.h"
#include "cli/report/report.h"
#include "codecs/codec.h"

/* ---- Which files can be opened: rules of Landlock --------------------------
 *
 * What is open already stays usable, and names can still be looked up and
 * looked at; but nothing is opened, made, renamed or removed that no rule
 * allows. Where the kernel knows how, the process also opens no network
 * connections and reaches no sockets or processes outside. */

/* What a rule allows; or-ed. */
enum {
    FILES_READ = 1,  /* read files */
    FILES_LIST = 2,  /* read directories */
    FILES_WRITE = 4, /* write to files that exist */
    FILES_MAKE = 8,  /* make, rename and remove files, and make directories; and
                        move files between those where this is allowed */
    FILES_CONTROL = 16, /* control devices, by ioctl() */
};

/* Rules that do not hold yet. */
struct file_rules {
    int fd;
    uint64_t handled; /* what this kernel can forbid */
    int lacking;      /* why a rule could not be made, so that nobody can say
                         whether its file is allowed: an errno; or 0 */
};

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

/* Begins without rules. Returns 0, or -1 with the reason. */
static int begin_rules(struct file_rules *rules, struct err *err)
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

/* Allows this with an open file, or with an open directory and all below it;
 * O_PATH is enough. What is no part of a file system, such as a pipe, needs no
 * rule and gets none. */
static void allow_open(struct file_rules *rules, int fd, unsigned what)
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
        rules->lacking = errno;
        return;
    }
    if (!S_ISDIR(st.st_mode))
        access &= ACCESS_OF_FILES;
    const struct path_beneath_attr rule = { access & rules->handled, fd };
    if (rule.access &&
        syscall(SYS_landlock_add_rule, rules->fd, RULE_PATH_BENEATH, &rule,
                0) &&
        errno != EBADFD) /* it is in no file system */
        rules->lacking = errno;
}

/* ---- The driver of a GPU ------------------------------------------------- */

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

static void allow_name(struct file_rules *rules, const char *name,
                       unsigned what)
{
    int fd = open(name, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return;
    allow_open(rules, fd, what);
    close(fd);
}

/* What the driver of a GPU needs of files, so far as a user can tell: to write
 * to its devices and to control them, and to read what the kernel says of them,
 * and its libraries, which it loads when they are needed. */
static void allow_driver(struct file_rules *rules)
{
    char name[PATH_MAX];
    for (size_t i = 0; i < sizeof driver_needs / sizeof *driver_needs; i++) {
        glob_t found;
        if (glob(driver_needs[i].pattern, GLOB_NOSORT, NULL, &found) == 0)
            for (size_t k = 0; k < found.gl_pathc; k++)
                allow_name(rules, found.gl_pathv[k], driver_needs[i].what);
        globfree(&found);
    }
    /* Where the user has libraries looked for. */
    const char *path = getenv("LD_LIBRARY_PATH");
    for (size_t n; path && *path; path += n + (path[n] != '\0')) {
        n = strcspn(path, ":;");
        if (n && n < sizeof name) {
            memcpy(name, path, n);
            name[n] = '\0';
            allow_name(rules, name, TO_READ);
        }
    }
    /* What it has compiled for this GPU before. That is not written to: other
     * programs take it for what to run. */
    const char *compiled = getenv("CUDA_CACHE_PATH"), *home = getenv("HOME");
    if (!compiled && home) {
        snprintf(name, sizeof name, "%s/.nv", home);
        compiled = name;
    }
    if (compiled)
        allow_name(rules, compiled, TO_READ);
}

/* ---- A sandbox ----------------------------------------------------------- */

struct sandbox {
    const struct options *opts;
    struct file_rules files;
    bool off, has_files;
    unsigned calls_of;  /* CALLS_OF_..., or-ed */
    struct err lacks;   /* why it has no files */
    const char *latest; /* the name of which the directory was allowed last */
};

/* What a run does in directories of inputs, and of outputs. The outputs of an
 * earlier run are read for --resume, those that are replaced for their
 * attributes, and files without a name for pictures larger than memory: any of
 * a batch may be one, which is not known before it is read. */
enum {
    IN_INPUTS = FILES_READ | FILES_LIST,
    IN_OUTPUTS = FILES_READ | FILES_LIST | FILES_WRITE | FILES_MAKE,
};

/* ---- On and off ---------------------------------------------------------- */

static void report_unconfined(const struct options *opts, const char *to,
                              const char *why)
{
    struct err text;
    fail(&text, "not confined to %s: %s", to, why);
    if (opts->verbose)
        report_error(NULL, text.text);
}

static const char all[] = "its files and to few system calls";

/* Returns the calls of a command that writes outputs, which get attributes of
 * what they are made of, or replace: which file is there then, nobody knows
 * before. `device` says that a GPU may be used. */
static unsigned calls_to_write(bool device)
{
    return CALLS_OF_ATTRIBUTES | (device ? CALLS_OF_DRIVER : 0);
}

/* Returns whether there are rules about files, which are to be made. */
static bool begin(struct sandbox *sandbox, const struct options *opts,
                  unsigned calls_of)
{
    /* After a start of the system the devices are made when a program first
     * uses them, by another program that the driver runs: that of the first
     * GPU, and that of the memory which all share. */
    char name[] = "nvidia-modprobe", of[] = "-c", first[] = "0", too[] = "-u";
    char *const make[] = { name, of, first, too, NULL };
    const bool device = calls_of & CALLS_OF_DRIVER;
    pid_t process;
    *sandbox = (struct sandbox){ .opts = opts, .calls_of = calls_of };
    sandbox->off = opts->sandbox == SANDBOX_OFF || !HAVE_SANDBOX;
    if (opts->sandbox != SANDBOX_OFF && !HAVE_SANDBOX)
        report_unconfined(opts, all, "this build has sanitizers");
    if (sandbox->off)
        return false;
    if (device && access("/dev/nvidia-uvm", F_OK) &&
        posix_spawnp(&process, make[0], NULL, NULL, make, environ) == 0)
        waitpid(process, NULL, 0);
    sandbox->has_files = begin_rules(&sandbox->files, &sandbox->lacks) == 0;
    if (sandbox->has_files && device)
        allow_driver(&sandbox->files);
    return sandbox->has_files;
}

/* Has the rules hold for this thread and those that it starts, unless not all
 * could be made: half of them would refuse files that were asked for. */
static void enter(struct sandbox *sandbox)
{
    struct file_rules *rules = &sandbox->files;
    struct err why;
    int lacks = !sandbox->has_files;
    if (sandbox->off)
        return;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) {
        report_unconfined(sandbox->opts, all, strerror(errno));
        return;
    }
    if (!lacks && rules->lacking)
        lacks = fail(&sandbox->lacks, "a rule cannot be made: %s",
                     strerror(rules->lacking));
    else if (!lacks && syscall(SYS_landlock_restrict_self, rules->fd, 0))
        lacks = fail(&sandbox->lacks, "Landlock: %s", strerror(errno));
    if (sandbox->has_files)
        close(rules->fd);
    if (lacks)
        report_unconfined(sandbox->opts, "its files", sandbox->lacks.text);
    if (call_filter_install(sandbox->calls_of, &why))
        report_unconfined(sandbox->opts, "few system calls", why.text);
    else if (sandbox->calls_of & CALLS_OF_DRIVER && sandbox->opts->verbose)
        report_error(NULL, "confined, with what the driver of a GPU needs");
}

/* ---- Files --------------------------------------------------------------- */

/* Returns whether a file that cannot be opened is none that a job could open:
 * else it is the system that lacks something. */
static bool is_out_of_reach(int why)
{
    return why == ENOENT || why == ENOTDIR || why == EACCES || why == ELOOP ||
           why == ENAMETOOLONG;
}

/* Allows this with a file, or with a directory and all below it. Returns false
 * if there is none of this name, with errno. */
static bool allow(struct sandbox *sandbox, const char *name, unsigned what)
{
    int fd = open(name, O_PATH | O_CLOEXEC);
    if (fd >= 0) {
        allow_open(&sandbox->files, fd, what);
        close(fd);
    } else if (!is_out_of_reach(errno)) {
        sandbox->files.lacking = errno;
    }
    return fd >= 0;
}

/* Returns whether two names have the same directory, by the bytes. */
static bool is_beside(const char *name, const char *other)
{
    const struct path a = path_split(name, strlen(name));
    const struct path b = path_split(other, strlen(other));
    return a.ndirectory == b.ndirectory &&
           memcmp(a.directory, b.directory, a.ndirectory) == 0;
}

static bool is_link(const char *name)
{
    struct stat st;
    return lstat(name, &st) == 0 && S_ISLNK(st.st_mode);
}

/* Allows to write a file, which may be a link to one elsewhere, with `what` in
 * its directory; if that is to be made, in the one where it begins. */
static void allow_output(struct sandbox *sandbox, const char *name,
                         unsigned what)
{
    struct location location;
    struct err err;
    if (sandbox->latest && is_beside(name, sandbox->latest) && !is_link(name))
        return;
    sandbox->latest = is_link(name) ? NULL : name;
    if (resolve_file(NULL, name, RESOLVE_NEAREST, &location, &err) == 0) {
        allow_open(&sandbox->files, location.directory, what);
        close(location.directory);
    } else if (!is_out_of_reach(errno)) {
        sandbox->files.lacking = errno;
    }
}

/* Allows to read in the directories of inputs: lists have many files of one,
 * one after the other. What is found in a directory stays there, but for links
 * to files, which an input may be. */
static void allow_inputs(struct sandbox *sandbox, const struct inputs *inputs)
{
    const struct root *latest = NULL;
    char directory[PATH_MAX];
    for (uint32_t i = 0; i < inputs->count; i++) {
        const struct input *input = &inputs->list[i];
        const struct root *root = input->root;
        if (strcmp(input->name, "-") == 0) /* standard input, which is open */
            continue;
        const struct path path = path_split(input->name, strlen(input->name));
        const bool again =
            root ? root == latest
                 : sandbox->latest && is_beside(input->name, sandbox->latest);
        if (!again && root) {
            allow(sandbox, root->name, IN_INPUTS);
        } else if (!again && path.ndirectory < PATH_MAX) {
            sandbox->latest = input->name;
            snprintf(directory, sizeof directory, "%.*s", (int)path.ndirectory,
                     path.directory);
            allow(sandbox, path.ndirectory ? directory : ".", IN_INPUTS);
        }
        latest = root;
        if ((!root || root->links == ROOT_LINKS_TO_FILE) &&
            is_link(input->name))
            allow(sandbox, input->name, FILES_READ);
    }
    sandbox->latest = NULL;
}

static void allow_outputs(struct sandbox *sandbox, const struct file_plan *plan,
                          const struct options *opts)
{
    const struct root *latest = NULL;
    struct path_text inside;
    if (opts->stack) {
        allow_output(sandbox, opts->stack, IN_OUTPUTS);
        return;
    }
    if (plan->folder) {
        path_text_set(&inside, plan->folder);
        path_text_add(&inside, "/.", 2);
        allow_output(sandbox, inside.text, IN_OUTPUTS);
        sandbox->latest = NULL; /* this name is not kept */
        return;
    }
    for (uint32_t i = 0; i < plan->inputs.count; i++) {
        const struct root *root =
            opts->in_place ? plan->inputs.list[i].root : NULL;
        if (!root)
            allow_output(sandbox, plan->output[i], IN_OUTPUTS);
        if (root && root != latest)
            allow(sandbox, root->name, IN_OUTPUTS);
        latest = root;
    }
}

/* ---- Each command -------------------------------------------------------- */

/* What tells the format of a file. */
enum { HEAD = 64 };

/* Returns the codec of a file; NULL if that is not known. The beginning of what
 * comes through a pipe is read and left there. */
static const struct codec *codec_of(const char *name)
{
    uint8_t head[HEAD];
    int copy[2];
    const bool given = strcmp(name, "-") == 0;
    const int fd =
        given ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t size = pread(fd, head, sizeof head, lseek(fd, 0, SEEK_CUR));
    if (given && size < 0 && pipe2(copy, O_CLOEXEC) == 0) {
        size = tee(fd, copy[1], HEAD, 0);
        if (size > 0)
            size = read(copy[0], head, (size_t)size);
        close(copy[0]);
        close(copy[1]);
        if (size < HEAD)
            return NULL; /* more may come */
    }
    if (!given && fd >= 0)
        close(fd);
    return size > 0 ? codec_probe(
                          (struct bytes){ .data = head, .size = (size_t)size })
                    : NULL;
}

/* A library that takes long is loaded for files whose names say that they need
 * it, or nothing. */
static void load_for(const struct inputs *inputs)
{
    const struct codec *codec;
    codec_load_quick();
    for (uint32_t i = 0; i < inputs->count; i++) {
        codec = codec_by_name(path_suffix(inputs->list[i].name));
        if (!codec || codec->load_slow)
            codec_load(codec);
    }
}

/* What is no regular file is written to where it stands. Without the right to
 * read beside it, a JPEG that becomes a large file of another format is encoded
 * in memory, and then copied: the right to a file without a name is that to all
 * files of its directory. That takes no longer (100 megapixels to PPM: 1.2 s
 * with the right and without). */
void sandbox_enter_for_job(const struct job *job, bool device)
{
    const struct codec *codec = codec_of(job->input);
    /* Pictures of some formats, such as JPEG, never go through a file that is
     * written and read. */
    const unsigned beside = !codec || codec->stores
                                ? IN_OUTPUTS
                                : IN_OUTPUTS & ~(unsigned)FILES_READ;
    codec_load(codec);
    if (job->format)
        codec_load(job->format);
    struct sandbox sandbox;
    struct stat st;
    bool there = stat(job->output, &st) == 0;
    bool is_made_beside =
        strcmp(job->output, "-") != 0 && (!there || S_ISREG(st.st_mode));
    const bool rules = begin(&sandbox, job->opts, calls_to_write(device));
    if (rules && strcmp(job->input, "-") != 0)
        allow(&sandbox, job->input, FILES_READ);
    if (rules && there && strcmp(job->output, "-") != 0)
        allow(&sandbox, job->output, FILES_READ | FILES_WRITE);
    if (rules && is_made_beside) {
        allow_output(&sandbox, job->output, beside);
    } else if (rules) {
        allow(&sandbox, scratch_file_apart(),
              FILES_READ | FILES_WRITE | FILES_MAKE);
    }
    enter(&sandbox);
}

void sandbox_enter_for_batch(const struct file_plan *plan,
                             const struct options *opts, bool device)
{
    struct sandbox sandbox;
    load_for(&plan->inputs);
    if (begin(&sandbox, opts, calls_to_write(device))) {
        allow_inputs(&sandbox, &plan->inputs);
        allow_outputs(&sandbox, plan, opts);
        if (opts->manifest) /* whose directory is synced */
            allow_output(&sandbox, opts->manifest, FILES_LIST);
    }
    enter(&sandbox);
}

void sandbox_enter_for_files(const char *const *name, int count,
                             const struct options *opts)
{
    struct sandbox sandbox;
    for (int i = 0; i < count; i++)
        codec_load(codec_of(name[i]));
    const bool rules = begin(&sandbox, opts, CALLS_OF_PICTURES);
    for (int i = 0; rules && i < count; i++)
        if (strcmp(name[i], "-") != 0)
            allow(&sandbox, name[i], IN_INPUTS);
    enter(&sandbox);
}

void sandbox_enter_for_inputs(const struct inputs *inputs,
                              const struct options *opts)
{
    struct sandbox sandbox;
    if (inputs->count == 1)
        codec_load(codec_of(inputs->list->name));
    else
        load_for(inputs);
    if (begin(&sandbox, opts, CALLS_OF_PICTURES))
        allow_inputs(&sandbox, inputs);
    enter(&sandbox);
}

void sandbox_enter_for_jobs(const char *root, const struct options *opts,
                            bool device)
{
    struct sandbox sandbox;
    codec_load(NULL);
    if (begin(&sandbox, opts, calls_to_write(device)))
        allow(&sandbox, root ? root : "/", IN_OUTPUTS);
    enter(&sandbox);
}
