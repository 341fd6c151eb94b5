/* The help of all commands but bench, which has its own table of options. */
#ifndef CLI_OPTIONS_HELP_H
#define CLI_OPTIONS_HELP_H

/* Prints the help of the command that is called `name` on stdout; of "all", that
 * of turns with all options by heading; of any other name, with the common
 * ones. */
void help_print(const char *name);

#endif
