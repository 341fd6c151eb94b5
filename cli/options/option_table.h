/* The table of all options but those of bench, which has its own. */
#ifndef CLI_OPTIONS_OPTION_TABLE_H
#define CLI_OPTIONS_OPTION_TABLE_H

#include "cli/options/options.h"
#include "cli/options/parser.h"

/* What an option is about, and which commands take it. */
enum option_group {
    ABOUT_SHAPE = 1, /* what is written; part of options.shape */
    ABOUT_JOB = 2,   /* one picture, but not what is written */
    ABOUT_RUN = 4,   /* the whole run; any command takes it */
    ABOUT_LIST = 8,  /* which files a batch takes, and where it writes */
    FOR_INFO = 16,
    FOR_SERVE = 64,      /* for all jobs together */
    ABOUT_DRY_RUN = 128, /* one picture and a batch alike */
    FOR_RELATE = 256,
    FOR_CHECK = 512,
    ONLY_SERVE = 32,
    COMMON = 1024, /* in the help that fits a screen */
    ABOUT_ALL =
        ABOUT_SHAPE | ABOUT_JOB | ABOUT_RUN | ABOUT_LIST | ABOUT_DRY_RUN,
};

/* Sets fields of struct options. */
extern const struct parser_table option_table;

enum { OPTION_THREADS_MAX = 1024 }; /* more than any machine has processors */

/* Returns whether this long option was on the command line. */
bool option_table_given(const struct options *opts, const char *name);

/* Prints the help of the command that is called `name` on stdout; of "all",
 * that of turns with all options by heading; of any other name, with the common
 * ones. */
void option_table_help(const char *name);

#endif
