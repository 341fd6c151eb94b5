/* What a signal that ends us does: no half-written file is left, and a batch
 * may finish what it has begun. */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include <limits.h>
#include <stdbool.h>

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

/* Waits until there is something to read, or its end. False: a signal has asked
 * to end; none comes between this and the waiting. */
bool signals_wait(int fd);

/* Ends the program by a signal, so that our parent sees what ended us. */
_Noreturn void signals_end(int number);

/* Blocks the signals that end us in the calling thread, for threads that shall
 * not be interrupted. */
void signals_elsewhere(void);

/* A place for the name of a file that is not whole yet, which a signal has to
 * remove. NULL: no memory. */
struct pending;
struct pending *pending_take(void);

struct pending_file {
    int directory;           /* that it stands in, a descriptor */
    char name[NAME_MAX + 1]; /* "" at first: there is no file */
};

/* It may be looked at and changed, and the file be made, renamed or removed,
 * only between these two; in between no signal ends us. */
struct pending_file *pending_lock(struct pending *pending);
void pending_unlock(struct pending *pending);

/* Gives the place back. What it names is none of its business any more. */
void pending_give(struct pending *pending);

#endif
