/* Memory and processors, which the jobs of a batch share. */
#include "cli/schedule/resource_limits.h"

#include "codecs/base/clock.h"

void resource_limits_init(struct resource_limits *limits, uint64_t bytes,
                          unsigned processors)
{
    *limits = (struct resource_limits){
        .files.most = bytes / 8,
        .cells.most = bytes / 8 * 5,
        .processors = processors,
        .idle = processors,
    };
    pthread_mutex_init(&limits->lock, NULL);
    pthread_cond_init(&limits->memory, NULL);
    pthread_cond_init(&limits->processor, NULL);
}

void resource_limits_end(struct resource_limits *limits)
{
    pthread_mutex_destroy(&limits->lock);
    pthread_cond_destroy(&limits->memory);
    pthread_cond_destroy(&limits->processor);
}

/* Takes `bytes` in turn, and waits for them as long as other jobs hold some. */
static void take(struct resource_limits *limits, struct memory_limit *limit,
                 uint64_t bytes)
{
    uint64_t ticket = limit->next++;
    while (ticket != limit->serving ||
           (limit->used && bytes > limit->most - limit->used))
        pthread_cond_wait(&limits->memory, &limits->lock);
    limit->serving++;
    limit->used += bytes;
    pthread_cond_broadcast(&limits->memory);
}

/* Returns the bytes that are counted, so that `used` never passes `most`. */
static uint64_t counted(const struct memory_limit *limit, uint64_t bytes)
{
    return bytes < limit->most ? bytes : limit->most;
}

void resource_limits_take_file(struct resource_share *share, uint64_t bytes)
{
    struct resource_limits *limits = share->limits;
    pthread_mutex_lock(&limits->lock);
    share->file = counted(&limits->files, bytes);
    take(limits, &limits->files, share->file);
    pthread_mutex_unlock(&limits->lock);
}

void resource_limits_take_cells(void *context, uint64_t bytes)
{
    struct resource_share *share = context;
    struct resource_limits *limits = share->limits;
    pthread_mutex_lock(&limits->lock);
    bytes = counted(&limits->cells, bytes);
    if (share->cells == 0) {
        double begin = now();
        take(limits, &limits->cells, bytes);
        share->waited += now() - begin;
        share->cells = bytes;
    } else if (bytes > share->cells &&
               bytes - share->cells <=
                   limits->cells.most - limits->cells.used) {
        limits->cells.used += bytes - share->cells;
        share->cells = bytes;
    }
    pthread_mutex_unlock(&limits->lock);
}

unsigned resource_limits_take_processors(struct resource_share *share,
                                         size_t jobs_left)
{
    struct resource_limits *limits = share->limits;
    unsigned wanted = 1;
    if (jobs_left && jobs_left < limits->processors)
        wanted = limits->processors / (unsigned)jobs_left;
    pthread_mutex_lock(&limits->lock);
    while (limits->idle == 0)
        pthread_cond_wait(&limits->processor, &limits->lock);
    share->processors = wanted < limits->idle ? wanted : limits->idle;
    limits->idle -= share->processors;
    if (limits->idle)
        pthread_cond_signal(&limits->processor);
    pthread_mutex_unlock(&limits->lock);
    return share->processors;
}

void resource_limits_return_processors(struct resource_share *share)
{
    struct resource_limits *limits = share->limits;
    if (share->processors == 0)
        return;
    pthread_mutex_lock(&limits->lock);
    limits->idle += share->processors;
    share->processors = 0;
    pthread_cond_signal(&limits->processor);
    pthread_mutex_unlock(&limits->lock);
}

void resource_limits_return_all(struct resource_share *share)
{
    struct resource_limits *limits = share->limits;
    pthread_mutex_lock(&limits->lock);
    limits->files.used -= share->file;
    limits->cells.used -= share->cells;
    share->file = share->cells = 0;
    pthread_cond_broadcast(&limits->memory);
    pthread_mutex_unlock(&limits->lock);
}
