/* gimgxf --version */
#ifndef CLI_COMMANDS_VERSION_H
#define CLI_COMMANDS_VERSION_H

/* Prints the version on stdout, and what a bug report should name: the
 * libraries, the vector instructions that the CPU stage uses, and the GPUs,
 * or why there are none. To ask for GPUs loads the driver, which takes up to
 * a second where there is one. */
void version_print(void);

#endif
