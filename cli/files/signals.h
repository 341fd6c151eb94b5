/* What the signals do that end the program: no half-written file is left, and a
 * batch may finish what it has begun. */
#ifndef CLI_FILES_SIGNALS_H
#define CLI_FILES_SIGNALS_H

#include <sys/types.h>

/* From now on a signal that ends the program removes the half-written files
 * first, and a closed pipe or a full disk is an error and not the end. Opens
 * the standard streams on /dev/null if they are closed, so that no file takes
 * their numbers. Call it before there are threads. */
void signals_guard(void);

/* From now on the first SIGHUP, SIGINT or SIGTERM only asks for the end. The
 * next one ends the program as before. */
void signals_ask(void);

/* Returns the number of the signal that has asked for the end, or 0 if none
 * has. */
int signals_asked(void);

/* Works as poll(), but also returns 0 once signals_asked() differs from
 * `known`. It waits without a limit if `milliseconds` is negative. No signal is
 * lost between that check and the waiting. Returns -1 if poll() fails. */
struct pollfd;
int signals_poll(struct pollfd *fds, unsigned n, int known, int milliseconds);

/* Ends the program by a signal, so that its parent sees what ended it. */
_Noreturn void signals_end(int number);

/* Blocks the signals that end the program in the calling thread. */
void signals_block(void);

/* Works as fork(), for a process that has no threads yet. A signal that ends
 * the parent ends its children first, of which there are so many at a time. */
enum { SIGNALS_CHILDREN_MAX = 4096 };
pid_t signals_fork(void);

/* To be called in a child. Signals that a terminal or a user sends to all
 * processes are left to the parent; when the parent ends, in whatever way, so
 * does the child, and removes its half-written files. */
void signals_follow(pid_t parent);

/* Waits until a child has ended, and returns its wait status. */
int signals_wait_for(pid_t child);

#endif
