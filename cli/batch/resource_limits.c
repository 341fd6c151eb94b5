/* What the jobs of a batch share. */
#include "cli/batch/resource_limits.h"

#include "cli/clock.h"

void resource_limits_init(struct resource_limits *budget, uint64_t bytes,
                          unsigned processors)
{
    *budget = (struct resource_limits){
        .files.most = bytes / 8,
        .cells.most = bytes / 8 * 5,
        .processors = processors,
        .idle = processors,
    };
    pthread_mutex_init(&budget->lock, NULL);
    pthread_cond_init(&budget->memory, NULL);
    pthread_cond_init(&budget->processor, NULL);
}

void resource_limits_end(struct resource_limits *budget)
{
    pthread_mutex_destroy(&budget->lock);
    pthread_cond_destroy(&budget->memory);
    pthread_cond_destroy(&budget->processor);
}

/* Waits for `bytes`, but no longer than until there is nobody to wait for. */
static void take(struct resource_limits *budget, struct part_of_memory *part,
                 uint64_t bytes)
{
    uint64_t ticket = part->next++;
    while (ticket != part->serving ||
           (part->used && bytes > part->most - part->used))
        pthread_cond_wait(&budget->memory, &budget->lock);
    part->serving++;
    part->used += bytes;
    pthread_cond_broadcast(&budget->memory);
}

/* The most that is counted: so `used` never passes `most`. */
static uint64_t counted(const struct part_of_memory *part, uint64_t bytes)
{
    return bytes < part->most ? bytes : part->most;
}

void share_file(struct resource_share *share, uint64_t bytes)
{
    struct resource_limits *budget = share->budget;
    pthread_mutex_lock(&budget->lock);
    share->file = counted(&budget->files, bytes);
    take(budget, &budget->files, share->file);
    pthread_mutex_unlock(&budget->lock);
}

void share_cells(void *context, uint64_t bytes)
{
    struct resource_share *share = context;
    struct resource_limits *budget = share->budget;
    pthread_mutex_lock(&budget->lock);
    bytes = counted(&budget->cells, bytes);
    if (share->cells == 0) {
        double begin = now();
        take(budget, &budget->cells, bytes);
        share->waited += now() - begin;
        share->cells = bytes;
    } else if (bytes > share->cells &&
               bytes - share->cells <=
                   budget->cells.most - budget->cells.used) {
        budget->cells.used += bytes - share->cells;
        share->cells = bytes;
    }
    pthread_mutex_unlock(&budget->lock);
}

unsigned share_processors(struct resource_share *share, size_t jobs_left)
{
    struct resource_limits *budget = share->budget;
    unsigned wanted = 1;
    if (jobs_left && jobs_left < budget->processors)
        wanted = budget->processors / (unsigned)jobs_left;
    pthread_mutex_lock(&budget->lock);
    while (budget->idle == 0)
        pthread_cond_wait(&budget->processor, &budget->lock);
    share->processors = wanted < budget->idle ? wanted : budget->idle;
    budget->idle -= share->processors;
    if (budget->idle)
        pthread_cond_signal(&budget->processor);
    pthread_mutex_unlock(&budget->lock);
    return share->processors;
}

void share_return_processors(struct resource_share *share)
{
    struct resource_limits *budget = share->budget;
    pthread_mutex_lock(&budget->lock);
    budget->idle += share->processors;
    share->processors = 0;
    pthread_cond_signal(&budget->processor);
    pthread_mutex_unlock(&budget->lock);
}

void share_end(struct resource_share *share)
{
    struct resource_limits *budget = share->budget;
    pthread_mutex_lock(&budget->lock);
    budget->files.used -= share->file;
    budget->cells.used -= share->cells;
    share->file = share->cells = 0;
    pthread_cond_broadcast(&budget->memory);
    pthread_mutex_unlock(&budget->lock);
}
