/* The help of all commands but bench, which has its own table of options. */
#ifndef CLI_OPTIONS_HELP_H
#define CLI_OPTIONS_HELP_H

/* Prints the help of the command that is called `name` on stdout; that of
 * turns, which lists all options, for any other name. */
void help_print(const char *name);

#endif
