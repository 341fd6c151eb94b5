/* Checks of what was given together: options that exclude or need each other,
 * and what each command takes. Every message says what is wrong and what to
 * give instead. */
#ifndef CLI_OPTIONS_CHECKS_H
#define CLI_OPTIONS_CHECKS_H

#include "cli/options/options.h"

/* Each returns 0; on failure -1, with the message in `err`. */

/* Checks the words that are not options: a command or an operation, in word[0],
 * and what follows. Sets the command, the operation and the files of `opts`. */
int checks_words(struct options *opts, const char *const *word, int n,
                 struct err *err);

/* Checks one job: an operation, an input and an output. Sets them. */
int checks_job(struct options *opts, const char *const *word, int n,
               struct err *err);

#endif
