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
 * `device` says that a GPU may be used, whose driver needs more: file_rules.h
 * and another filter. It is started afterwards, since it starts threads. */
#ifndef CLI_SANDBOX_SANDBOX_H
#define CLI_SANDBOX_SANDBOX_H

#include "cli/job/job.h"
#include "cli/select/plan.h"

/* For one picture: the input can be read, and files can be made and replaced in
 * the directory of the output, and below it. They can be read there, too, if
 * pictures of the input's format may go through a file. */
void sandbox_enter_for_job(const struct job *job, bool device);

/* For a batch: files can be read in the directories of the inputs, and made and
 * replaced in those of the outputs, and below all of these. */
void sandbox_enter_for_batch(const struct file_plan *plan,
                             const struct options *opts, bool device);

/* The same for a command that writes nothing: relate and manifest merge, which
 * read these files; info and check, whose files were found; and manifest check,
 * which reads whatever file a manifest names. "-" is standard input. */
void sandbox_enter_for_files(const char *const *name, int count,
                             const struct options *opts);
void sandbox_enter_for_inputs(const struct inputs *inputs,
                              const struct options *opts);

void sandbox_enter_to_read(const struct options *opts);

/* For jobs that are not known yet, below a root. Without a root they may be
 * about any file. */
void sandbox_enter_for_jobs(const char *root, const struct options *opts,
                            bool device);

#endif
