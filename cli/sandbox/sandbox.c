/* Confines the process to what its pictures need. */
#include "cli/sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/files/path.h"
#include "cli/files/scratch_file.h"
#include "cli/job/job.h"
#include "cli/report/report.h"
#include "codecs/codec.h"

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
    const bool device = calls_of & CALLS_OF_DRIVER;
    *sandbox = (struct sandbox){ .opts = opts, .calls_of = calls_of };
    sandbox->off = opts->sandbox == SANDBOX_OFF || !HAVE_SANDBOX;
    if (opts->sandbox != SANDBOX_OFF && !HAVE_SANDBOX)
        report_unconfined(opts, all, "this build has sanitizers");
    if (sandbox->off)
        return false;
    if (device)
        file_rules_make_devices();
    sandbox->has_files =
        file_rules_begin(&sandbox->files, &sandbox->lacks) == 0;
    if (sandbox->has_files && device)
        file_rules_allow_driver(&sandbox->files);
    return sandbox->has_files;
}

static void enter(struct sandbox *sandbox)
{
    struct err why;
    if (sandbox->off)
        return;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) {
        report_unconfined(sandbox->opts, all, strerror(errno));
        return;
    }
    if (!sandbox->has_files ||
        file_rules_enforce(&sandbox->files, &sandbox->lacks))
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
        file_rules_allow(&sandbox->files, fd, what);
        close(fd);
    } else if (!is_out_of_reach(errno)) {
        file_rules_give_up(&sandbox->files, errno);
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

/* Allows this in the directory of a file. Lists have many files of one
 * directory, one after the other. */
static void allow_beside(struct sandbox *sandbox, const char *name,
                         unsigned what)
{
    char directory[PATH_MAX];
    const struct path path = path_split(name, strlen(name));
    if ((sandbox->latest && is_beside(name, sandbox->latest)) ||
        path.ndirectory >= PATH_MAX)
        return;
    sandbox->latest = name;
    snprintf(directory, sizeof directory, "%.*s", (int)path.ndirectory,
             path.directory);
    allow(sandbox, path.ndirectory ? directory : ".", what);
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
    if (resolve_nearest(NULL, name, &location, &err) == 0) {
        file_rules_allow(&sandbox->files, location.directory, what);
        close(location.directory);
    } else if (!is_out_of_reach(errno)) {
        file_rules_give_up(&sandbox->files, errno);
    }
}

/* What is found in a directory stays there, but for links to files, which an
 * input may be. */
static void allow_inputs(struct sandbox *sandbox, const struct inputs *inputs)
{
    const struct root *latest = NULL;
    for (uint32_t i = 0; i < inputs->count; i++) {
        const struct input *input = &inputs->list[i];
        const struct root *root = input->root;
        if (strcmp(input->name, "-") == 0) /* standard input, which is open */
            continue;
        if (!root)
            allow_beside(sandbox, input->name, IN_INPUTS);
        else if (root != latest)
            allow(sandbox, root->name, IN_INPUTS);
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
    if (plan->folder) {
        struct path_text inside;
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

/* Returns the codec of a file; NULL if that is not known. */
static const struct codec *codec_of(const char *name)
{
    uint8_t head[HEAD];
    int fd = strcmp(name, "-") == 0
                 ? -1
                 : open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    const ssize_t size = pread(fd, head, sizeof head, 0);
    close(fd);
    return size > 0 ? codec_probe(
                          (struct bytes){ .data = head, .size = (size_t)size })
                    : NULL;
}

static void load_for(const struct inputs *inputs)
{
    const struct codec *codec;
    codec_load(NULL);
    for (uint32_t i = 0; i < inputs->count; i++) {
        codec = codec_by_name(path_suffix(inputs->list[i].name));
        if (codec && codec->load_slow)
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
        if (opts->stack)
            allow_output(&sandbox, opts->stack, IN_OUTPUTS);
        else
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
    codec_load(&codec_jxl);
    if (begin(&sandbox, opts, calls_to_write(device)))
        allow(&sandbox, root ? root : "/", IN_OUTPUTS);
    enter(&sandbox);
}
