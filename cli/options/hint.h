/* Messages for wrong words: an operation, an option, a format. Each says
 * that the word is wrong and what was probably meant; nothing is guessed in
 * silence. What returns an int returns -1 with the message in `err`. */
#ifndef CLI_OPTIONS_HINT_H
#define CLI_OPTIONS_HINT_H

#include <stdbool.h>
#include <stddef.h>

#include "codecs/base/err.h"

/* A word that stands first on the command line, and what it does. Operations
 * come first, then commands; a NULL name ends them. */
struct hint_word {
    const char *name, *what;
};
enum { HINT_OPERATIONS = 18 };
extern const struct hint_word hint_words[];

/* For a word that should be one of n `names`: lists all, and suggests the
 * nearest. */
int hint_choice(const char *word, const char *const *names, size_t n,
                struct err *err);

/* For a word that should be an operation; with `command`, also "info" or
 * another command. */
int hint_operation(const char *word, bool command, struct err *err);

/* For an option as it was written, with dashes and value: it does not exist,
 * or several begin so. `letter` is what getopt does not know in it, or 0 if it
 * is the whole word. `longs` are the options that exist, for getopt_long(). */
struct option;
int hint_option(const char *word, char letter, const struct option *longs,
                struct err *err);

/* Returns whether a word with one dash is a long option, or an operation or
 * option of other programs, as -rotate, rather than letters put together. */
bool hint_is_word(const char *word, const struct option *longs);

/* Refuses operations that are several words, of the n that there are, or one
 * with spaces: "rotate180, flip", "rotate180 flip". A file may be called as an
 * operation is. Returns 0 if there are none. */
int hint_operations(const char *const *word, int n, struct err *err);

/* Returns whether a word is probably the name of a file. */
bool hint_is_file(const char *word);

/* For a format that --format names. */
int hint_format(const char *name, struct err *err);

/* For an output whose name has no suffix of a format that is written. */
int hint_output(const char *output, struct err *err);

#endif
