/* What a signal that ends us does: no half-written file is left, and a batch
 * may finish what it has begun. */
#ifndef CLI_FILES_SIGNALS_H
#define CLI_FILES_SIGNALS_H

#include <stdbool.h>
#include <sys/types.h>

/* From now on a signal that ends the program takes the half-written files with
 * it, and a closed pipe or a full disk is an error, not the end. Opens the
 * standard streams on /dev/null where they are closed, so that no file takes
 * their numbers. To be called before there are threads. */
void signals_guard(void);

/* From now on the first SIGHUP, SIGINT or SIGTERM only asks: signals_asked()
 * gives its number. The next one ends the program as before. */
void signals_ask(void);

/* The number of the signal that asked to end; 0: none has. */
int signals_asked(void);

/* poll() without a limit of time, which also returns, with 0, once
 * signals_asked() is another than `known`; no signal comes between this and the
 * waiting. Returns -1 if poll() fails. */
struct pollfd;
int signals_poll(struct pollfd *fds, unsigned n, int known);

/* Ends the program by a signal, so that our parent sees what ended us. */
_Noreturn void signals_end(int number);

/* Blocks the signals that end us in the calling thread, for threads that shall
 * not be interrupted. */
void signals_block(void);

/* fork(), for a process that has no threads yet. A signal that ends the parent
 * ends the child before. One child at a time. */
pid_t signals_fork(void);

/* In the child: signals that the terminal or a user sends to both are left to the
 * parent; when that ends, however it ends, so does the child, and takes its
 * half-written files with it. */
void signals_follow(pid_t parent);

/* Waits until the child has ended, and returns its wait status. */
int signals_wait_for(pid_t child);

#endif
