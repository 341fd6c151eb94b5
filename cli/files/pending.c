/* The names of files that are half written. */
#include "cli/files/pending.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/* Entries are never freed, so that a signal handler can follow the list at any
 * time; there are as many as files were written at once. */
struct pending {
    struct pending *next;
    atomic_flag taken;
    atomic_flag locked; /* only while signals are blocked: whoever waits for it,
                           even in a handler, waits for another thread */
    struct pending_file file;
};

static struct pending *_Atomic entries;

struct pending *pending_take(void)
{
    struct pending *entry;
    for (entry = atomic_load(&entries); entry; entry = entry->next)
        if (!atomic_flag_test_and_set(&entry->taken))
            return entry;
    entry = calloc(1, sizeof *entry);
    if (!entry)
        return NULL;
    atomic_flag_test_and_set(&entry->taken);
    entry->next = atomic_load(&entries);
    while (!atomic_compare_exchange_weak(&entries, &entry->next, entry))
        continue;
    return entry;
}

/* What this thread had blocked before. */
static _Thread_local sigset_t before;

struct pending_file *pending_lock(struct pending *pending)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    while (atomic_flag_test_and_set(&pending->locked))
        continue;
    return &pending->file;
}

void pending_unlock(struct pending *pending)
{
    atomic_flag_clear(&pending->locked);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void pending_give(struct pending *pending)
{
    pending_lock(pending);
    *pending->file.name = '\0';
    pending_unlock(pending);
    atomic_flag_clear(&pending->taken);
}

/* The locks are kept. */
void pending_remove_all(void)
{
    for (struct pending *p = atomic_load(&entries); p; p = p->next) {
        while (atomic_flag_test_and_set(&p->locked))
            continue;
        if (*p->file.name)
            unlinkat(p->file.directory, p->file.name, 0);
    }
}
