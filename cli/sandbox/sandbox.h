/* Confines the process to what its pictures need: the main header of
 * cli/sandbox/.
 *
 * A decoder that is broken by a picture does what the picture says. So before
 * the first picture is read, when the names of all files are known, the process
 * gives up what it will not need. What comes in are these names; nothing goes
 * out. Two mechanisms of Linux do it, each where the kernel has it:
 *
 *   sandbox.c      Landlock: which files can be opened
 *   call_filter.c  seccomp: which system calls can be made
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

#endif
