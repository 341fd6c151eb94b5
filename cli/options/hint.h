/* What somebody meant who wrote something else: an operation, an option, a
 * format. Each says that the word is wrong and what is to be written instead;
 * nothing is guessed in silence. All return -1. */
#ifndef CLI_OPTIONS_HINT_H
#define CLI_OPTIONS_HINT_H

#include <stdbool.h>
#include <stddef.h>

#include "codecs/base/err.h"

/* Of a word where an operation is expected. `command`: or "info" and its like.
 */
int hint_operation(const char *word, bool command, struct err *err);

/* Of an option as it was written, dashes and value included: one that does not
 * exist, or that begins as several do. `longs` are those that exist. */
struct option;
int hint_option(const char *word, const struct option *longs, struct err *err);

/* Whether a word with one dash is a long option, or an operation of other
 * programs as -rotate or -90, and not letters put together. */
bool hint_is_word(const char *word, const struct option *longs);

/* Of a format that --format names. */
int hint_format(const char *name, struct err *err);

/* Of an output whose name says no format that is written. */
int hint_output(const char *output, struct err *err);

#endif
