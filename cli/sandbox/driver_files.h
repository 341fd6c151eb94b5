/* What the driver of a GPU needs of files, so far as a user can tell: its
 * devices, what the kernel says of them, and its libraries, which it loads when
 * they are needed. */
#ifndef CLI_SANDBOX_DRIVER_FILES_H
#define CLI_SANDBOX_DRIVER_FILES_H

#include "cli/sandbox/file_rules.h"

/* Has the devices made, if they are not there yet. */
void driver_files_make(void);

/* Allows to write to the devices and to control them, and to read the rest.
 * Directories of libraries are read whole, and so are /proc and /sys. */
void driver_files_allow(struct file_rules *rules);

#endif
