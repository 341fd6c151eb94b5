/* Confines the process to what its pictures need: the main header of
 * cli/sandbox/.
 *
 * A decoder that is broken by a picture does what the picture says. So before
 * the first picture is read, when the names of all files are known, the process
 * gives up what it will not need. What comes in are these names; nothing goes
 * out. Two mechanisms of Linux do it, each where the kernel has it:
 *
 *   file_rules   Landlock: which files can be opened
 *   call_filter  seccomp: which system calls can be made
 *
 * Both hold until the end, for all threads that are started afterwards, so each
 * function below is called before there are any. None fails: with -v a line
 * says what the kernel lacks. All do nothing with --sandbox=off and in a build
 * with sanitizers.
 *
 * Libraries of formats that few pictures have are loaded then, too, since they
 * cannot be opened afterwards (struct codec.load): of one picture only that of
 * its format, so that no other start waits for it.
 *
 * `device` says that a GPU may be used, whose driver needs more rules
 * and another filter. It is started afterwards, since it starts threads. */
#ifndef CLI_SANDBOX_SANDBOX_H
#define CLI_SANDBOX_SANDBOX_H

#include <stdint.h>

#include "cli/job/job.h"
#include "cli/select/plan.h"
#include "codecs/base/err.h"

/* For one picture: the input can be read, and files can be made and replaced in
 * the directory of the output, and below it. They can be read there, too, if
 * pictures of the input's format may go through a file. */
void sandbox_enter_for_job(const struct job *job, bool device);

/* For a batch: files can be read in the directories of the inputs, and made and
 * replaced in those of the outputs, and below all of these. */
void sandbox_enter_for_batch(const struct file_plan *plan,
                             const struct options *opts, bool device);

/* The same for a command that writes nothing: relate, which reads these files,
 * and info and check, whose files were found. "-" is standard input. */
void sandbox_enter_for_files(const char *const *name, int count,
                             const struct options *opts);
void sandbox_enter_for_inputs(const struct inputs *inputs,
                              const struct options *opts);

/* For jobs that are not known yet, below a root. Without a root they may be
 * about any file. */
void sandbox_enter_for_jobs(const char *root, const struct options *opts,
                            bool device);

/* ---- Within this room: which system calls the process can make, by a filter
 * of seccomp (call_filter.c) ---- */

/* Whose calls can be made; or-ed. */
enum {
    CALLS_OF_PICTURES = 0,
    CALLS_OF_DRIVER = 1,
    CALLS_OF_ATTRIBUTES = 2,
};

/* Installs the filter of these calls for this thread and those that it starts.
 * The process must have no way to gain privileges (PR_SET_NO_NEW_PRIVS).
 * Returns 0, or -1 with the reason. */
int call_filter_install(unsigned calls_of, struct err *err);

/* ---- Which files it can open, by rules of Landlock (file_rules.c) ----
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
    int lacking;      /* why a rule could not be made, an errno; or 0 */
};

/* Begins without rules. Returns 0, or -1 with the reason. */
int file_rules_begin(struct file_rules *rules, struct err *err);

/* Allows this with an open file, or with an open directory and all below it;
 * O_PATH is enough. What is no part of a file system, such as a pipe, needs no
 * rule and gets none. */
void file_rules_allow(struct file_rules *rules, int fd, unsigned what);

/* Has file_rules_enforce() fail for this errno, since there is a file of which
 * nobody can say whether it is allowed. */
void file_rules_give_up(struct file_rules *rules, int why);

/* Has the rules hold for this thread and those that it starts, and frees them.
 * The process must have no way to gain privileges (PR_SET_NO_NEW_PRIVS).
 * Returns 0; or -1 with the reason, among them that not all rules could be
 * made: half of them would refuse files that were asked for. */
int file_rules_enforce(struct file_rules *rules, struct err *err);

/* What the driver of a GPU needs of files, so far as a user can tell: its
 * devices, what the kernel says of them, and its libraries, which it loads when
 * they are needed. The first has the devices made, if they are not there yet;
 * the second allows to write to the devices and to control them, and to read
 * the rest, whole directories of libraries, /proc and /sys among it. */
void file_rules_make_devices(void);
void file_rules_allow_driver(struct file_rules *rules);

#endif
