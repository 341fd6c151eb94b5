/* The line on the terminal that shows progress. */
#include "cli/job/watch.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/files/signals.h"
#include "codecs/base/bytes.h"
#include "codecs/base/clock.h"
#include "codecs/base/thread_pool.h"

bool progress_line_is_shown(const struct options *opts)
{
    const char *term = getenv("TERM");
    return !opts->quiet && isatty(STDERR_FILENO) && term &&
           strcmp(term, "dumb") != 0;
}

const char *progress_line_time(double seconds, char text[32])
{
    unsigned long s = (unsigned long)(seconds + 0.5);
    if (s < 3600)
        snprintf(text, 32, "%lu:%02lu", s / 60, s % 60);
    else
        snprintf(text, 32, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
    return text;
}

static unsigned columns(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
        return size.ws_col;
    return 80;
}

/* Bytes are at least as many as columns. */
void progress_line_put(const char *const *fields, size_t n)
{
    size_t room = columns() - 1;
    fputs("\r\033[K", stderr);
    for (size_t i = 0; i < n; i++)
        if (strlen(fields[i]) <= room) {
            room -= strlen(fields[i]);
            fputs(fields[i], stderr);
        }
    fflush(stderr);
}

void progress_line_wipe(void)
{
    fputs("\r\033[K", stderr);
    fflush(stderr); /* what follows may go to stdout, to the same terminal */
}

/* ---- Of one picture -------------------------------------------------------
 */

/* Milliseconds until the line is drawn first, and between two drawings. */
enum { FIRST = 1000, NEXT = 100 };

struct watch {
    const char *name;
    struct thread_pool *pool;
    double begin;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool ending;
    bool drawn;
    const char *_Atomic stage;
    _Atomic uint64_t done, all;
};

/* Prints ", 45 %", or nothing if it is not known. */
static void put_part(struct watch *watch, char text[16])
{
    uint64_t all = atomic_load(&watch->all), done = atomic_load(&watch->done);
    size_t pieces_done, pieces;
    *text = '\0';
    thread_pool_progress(watch->pool, &pieces_done, &pieces);
    if (all == 0) {
        all = pieces;
        done = pieces_done;
    }
    if (all > 1)
        snprintf(text, 16, ", %.0f %%",
                 100.0 * (double)(done < all ? done : all) / (double)all);
}

/* Copies a name without what could control a terminal. */
static void put_name(const char *name, char *text, size_t size)
{
    size_t length = 0;
    while (*name && length + 5 < size) {
        unsigned n = utf8_length(name);
        bool c1 = n == 2 && name[0] == '\xc2' && (uint8_t)name[1] < 0xa0;
        bool plain = n > 0 && !c1 && (uint8_t)*name >= 0x20 && *name != 0x7f;
        n = n ? n : 1;
        if (plain)
            memcpy(text + length, name, n);
        else
            text[length] = '?';
        length += plain ? n : 1;
        name += n;
    }
    text[length] = '\0';
}

static void draw(struct watch *watch)
{
    char name[256] = ": ", part[16], time[32], spent[40];
    put_part(watch, part);
    put_name(watch->name, name + 2, sizeof name - 2);
    snprintf(spent, sizeof spent, ", %s",
             progress_line_time(now() - watch->begin, time));
    const char *const fields[] = { atomic_load(&watch->stage), part, spent,
                                   name };
    progress_line_put(fields, sizeof fields / sizeof *fields);
    watch->drawn = true;
}

/* Waits so long, or until it is to end. */
static void wait_for(struct watch *watch, long milliseconds)
{
    const struct timespec until = clock_after(milliseconds);
    int status = 0;
    while (!watch->ending && status == 0)
        status = pthread_cond_clockwait(&watch->changed, &watch->lock,
                                        CLOCK_MONOTONIC, &until);
}

static void *show(void *argument)
{
    struct watch *watch = argument;
    signals_block();
    pthread_mutex_lock(&watch->lock);
    for (long pause = FIRST;; pause = NEXT) {
        wait_for(watch, pause);
        if (watch->ending)
            break;
        draw(watch);
    }
    pthread_mutex_unlock(&watch->lock);
    return NULL;
}

struct watch *watch_begin(const char *name, struct thread_pool *pool)
{
    struct watch *watch = calloc(1, sizeof *watch);
    if (!watch)
        return NULL;
    watch->name = name;
    watch->pool = pool;
    watch->begin = now();
    atomic_store(&watch->stage, "read");
    pthread_mutex_init(&watch->lock, NULL);
    pthread_cond_init(&watch->changed, NULL);
    if (pthread_create(&watch->thread, NULL, show, watch) == 0)
        return watch;
    pthread_cond_destroy(&watch->changed);
    pthread_mutex_destroy(&watch->lock);
    free(watch);
    return NULL;
}

void watch_stage(struct watch *watch, const char *stage)
{
    if (!watch)
        return;
    atomic_store(&watch->stage, stage);
    atomic_store(&watch->all, 0);
}

void watch_part(struct watch *watch, uint64_t done, uint64_t all)
{
    if (!watch)
        return;
    atomic_store(&watch->done, done);
    atomic_store(&watch->all, all);
}

void watch_end(struct watch *watch)
{
    if (!watch)
        return;
    pthread_mutex_lock(&watch->lock);
    watch->ending = true;
    pthread_cond_signal(&watch->changed);
    pthread_mutex_unlock(&watch->lock);
    pthread_join(watch->thread, NULL);
    if (watch->drawn)
        progress_line_wipe();
    pthread_cond_destroy(&watch->changed);
    pthread_mutex_destroy(&watch->lock);
    free(watch);
}
