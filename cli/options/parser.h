/* One parser for the command lines of all commands. A command has a table of
 * its options; the parser and the command's help read that table. It knows
 * nothing of what the options mean. */
#ifndef CLI_OPTIONS_PARSER_H
#define CLI_OPTIONS_PARSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codecs/base/err.h"

/* A word that a value may be, and the number that it stands for. */
struct parser_choice {
    const char *name;
    int value;
};

struct parser_option;

/* Sets a field of a command's options to what `text`, the value on the command
 * line, says; `text` is NULL where no value was given. Returns 0; on failure
 * -1, with a reason in `err` that does not name the option. */
typedef int parser_setter(const struct parser_option *option, void *field,
                          const char *text, struct err *err);

struct parser_option {
    char letter;       /* of its short form; 0: it has none */
    const char *name;  /* its long form, without dashes */
    const char *value; /* what help calls its value; NULL: it takes none;
                          "[=x]": the value may be left out */
    unsigned groups;   /* bits, which mean what the command wants them to */
    const char *help;
    parser_setter *set;
    size_t offset;   /* of the field, in bytes from the start of the options */
    int least, most; /* of a number; as each setter says */
    const struct parser_choice *choices; /* ended by a NULL name; or NULL */
};

enum { PARSER_OPTIONS = 64 }; /* of a table, at most */

struct parser_table {
    const struct parser_option *option;
    size_t count;
    unsigned allowed;    /* groups of the options that may be given */
    const char *refusal; /* what is said of the others; NULL if all may be */
};

/* What stood on a command line. */
struct parser_result {
    uint64_t given;                    /* bit i: option i of the table */
    const char *value[PARSER_OPTIONS]; /* as given; NULL: without one */
    int first; /* index in argv of the first word that is no option; argv is
                  sorted so that all such words are last */
};

/* Reads the options in argv[1] and following into `opts`, the options of the
 * command. Not for two threads at a time. Returns 0; on failure -1, with a
 * message in `err` that names the option and what was expected. */
int parser_read(const struct parser_table *table, void *opts, int argc,
                char **argv, struct parser_result *result, struct err *err);

/* Prints one line of help for each option that is in one of `groups`. */
void parser_help(const struct parser_table *table, unsigned groups);

/* ---- Setters of options (setters.c) ----
 *
 * One for each type of field, and one for each option whose value has a form
 * of its own. The texts that they keep are those of the command line. */

parser_setter setters_true;     /* a bool; to false, if option->least */
parser_setter setters_constant; /* an int or an enum, to option->least */
parser_setter setters_number;   /* an int from option->least to option->most */
parser_setter setters_seconds;  /* a double */
parser_setter setters_amount;   /* a uint64_t; K is option->least, M its square,
                                   G its cube */
parser_setter setters_choice;   /* an int or an enum, by option->choices */
parser_setter setters_text;     /* a const char *; of what kind, option->least
                                   says: enum setters_text */
parser_setter setters_format;   /* the same, the name of a format */
parser_setter setters_backend;  /* the same, by option->choices */
parser_setter setters_devices;  /* a struct device_list: "0,1" or "all" */
parser_setter setters_glob;     /* a struct globs: adds a pattern */

/* These set two fields, so they take the whole struct options. */
parser_setter setters_strip; /* "gps,icc", by option->choices: all, metadata,
                                and what is DROP_... */
parser_setter setters_background; /* a color of CSS: a name, #RRGGBB or #RGB */
parser_setter setters_shard;      /* "3/8" */

enum setters_text { TEXT_ANY, TEXT_NAME, TEXT_FILE, TEXT_SUFFIX };

/* ---- Messages for wrong words (hint.c) ----
 *
 * Each says that the word is wrong and what was probably meant; nothing is
 * guessed in silence. What returns an int returns -1 with the message. */

/* For a word that should be one of n `names`: lists all, and suggests the
 * nearest. */
int hint_choice(const char *word, const char *const *names, size_t n,
                struct err *err);

/* For a word that should be an operation; with `command`, also "info" or
 * another command. */
int hint_operation(const char *word, bool command, struct err *err);

/* Returns what stands here for a word of another program, or NULL. */
const char *hint_said_of(const char *word);

/* For an option as it was written, with dashes and value: it does not exist, or
 * several begin so. */
int hint_option(const char *word, const struct parser_table *table,
                struct err *err);

/* Returns whether a word is probably the name of a file. */
bool hint_is_file(const char *word);

/* For the name of a format; and for the suffix of an output. */
int hint_format(const char *name, struct err *err);
int hint_suffix(const char *suffix, struct err *err);

#endif
