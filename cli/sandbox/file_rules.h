/* Which files the process can open: rules of Landlock.
 *
 * What is open already stays usable, and names can still be looked up and
 * looked at; but nothing is opened, made, renamed or removed that no rule
 * allows. Where the kernel knows how, the process also opens no network
 * connections and reaches no sockets or processes outside. */
#ifndef CLI_SANDBOX_FILE_RULES_H
#define CLI_SANDBOX_FILE_RULES_H

#include <stdint.h>

#include "codecs/base/err.h"

/* What a rule allows; or-ed. */
enum {
    FILES_READ = 1,  /* read files */
    FILES_LIST = 2,  /* read directories */
    FILES_WRITE = 4, /* write to files that exist */
    FILES_MAKE = 8,  /* make, rename and remove files, and make directories; and
                        move files between those where this is allowed */
    FILES_CONTROL = 16, /* control devices, by ioctl() */
};

/* Rules that do not hold yet. */
struct file_rules {
    int fd;
    uint64_t handled; /* what this kernel can forbid */
    int lacking;      /* why a rule could not be made, an errno; or 0 */
};

/* Begins without rules. Returns 0, or -1 with the reason. */
int file_rules_begin(struct file_rules *rules, struct err *err);

/* Allows this with an open file, or with an open directory and all below it;
 * O_PATH is enough. What is no part of a file system, such as a pipe, needs no
 * rule and gets none. */
void file_rules_allow(struct file_rules *rules, int fd, unsigned what);

/* Has file_rules_enforce() fail for this errno, since there is a file of which
 * nobody can say whether it is allowed. */
void file_rules_give_up(struct file_rules *rules, int why);

/* Has the rules hold for this thread and those that it starts, and frees them.
 * The process must have no way to gain privileges (PR_SET_NO_NEW_PRIVS).
 * Returns 0; or -1 with the reason, among them that not all rules could be
 * made: half of them would refuse files that were asked for. */
int file_rules_enforce(struct file_rules *rules, struct err *err);

/* What the driver of a GPU needs of files, so far as a user can tell: its
 * devices, what the kernel says of them, and its libraries, which it loads when
 * they are needed. The first has the devices made, if they are not there yet;
 * the second allows to write to the devices and to control them, and to read
 * the rest, whole directories of libraries, /proc and /sys among it. */
void file_rules_make_devices(void);
void file_rules_allow_driver(struct file_rules *rules);

#endif
