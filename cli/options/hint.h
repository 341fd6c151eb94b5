/* Messages for wrong words: an operation, an option, a format. Each says
 * that the word is wrong and what was probably meant; nothing is guessed in
 * silence. What returns an int returns -1 with the message in `err`. */
#ifndef CLI_OPTIONS_HINT_H
#define CLI_OPTIONS_HINT_H

#include <stdbool.h>
#include <stddef.h>

#include "codecs/base/err.h"

/* For a word that should be one of n `names`: lists all, and suggests the
 * nearest. */
int hint_choice(const char *word, const char *const *names, size_t n,
                struct err *err);

/* For a word that should be an operation; with `command`, also "info" or
 * another command. */
int hint_operation(const char *word, bool command, struct err *err);

/* For an option as it was written, with dashes and value: it does not exist, or
 * several begin so. `longs` are the options that exist, for getopt_long(). */
struct option;
int hint_option(const char *word, const struct option *longs, struct err *err);

/* Returns whether a word is probably the name of a file. */
bool hint_is_file(const char *word);

/* For the name of a format, or the suffix of an output. */
int hint_format(const char *name, struct err *err);

#endif
