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

void resource_limits_init_part(struct resource_limits *limits, uint64_t bytes,
                               unsigned processors,
                               const struct resource_giver *giver)
{
    resource_limits_init(limits, bytes / 2 / giver->processes, processors);
    limits->giver = giver;
}

void resource_limits_end(struct resource_limits *limits)
{
    pthread_mutex_destroy(&limits->lock);
    pthread_cond_destroy(&limits->memory);
    pthread_cond_destroy(&limits->processor);
}

/* Returns the bytes that are counted, so that `used` never passes `most`. */
static uint64_t counted(const struct memory_limit *limit, uint64_t bytes)
{
    return bytes < limit->most ? bytes : limit->most;
}

/* Replaces what a job has, unless others hold too much. The lock is held. */
static bool replace(struct memory_limit *limit, uint64_t *held, uint64_t bytes)
{
    const uint64_t others = limit->used - *held;
    if (others && bytes > limit->most - others)
        return false;
    limit->used = others + bytes;
    *held = bytes;
    return true;
}

bool resource_limits_try(struct resource_share *share, enum resource what,
                         uint64_t bytes)
{
    struct resource_limits *limits = share->limits;
    const bool file = what == RESOURCE_FILE;
    struct memory_limit *limit = file ? &limits->files : &limits->cells;
    pthread_mutex_lock(&limits->lock);
    const bool has = replace(limit, file ? &share->file : &share->cells,
                             counted(limit, bytes));
    pthread_mutex_unlock(&limits->lock);
    return has;
}

/* Takes `bytes` in turn, and waits for them as long as other jobs hold some; of
 * a part only what is more has to be asked for. */
static void take(struct resource_limits *limits, enum resource what,
                 uint64_t *held, uint64_t bytes)
{
    const struct resource_giver *giver = limits->giver;
    struct memory_limit *limit =
        what == RESOURCE_FILE ? &limits->files : &limits->cells;
    if (giver) {
        if (bytes > limit->most)
            (void)giver->ask(giver->context, what, bytes);
        *held = bytes;
        return;
    }
    pthread_mutex_lock(&limits->lock);
    const uint64_t ticket = limit->next++;
    while (ticket != limit->serving ||
           !replace(limit, held, counted(limit, bytes)))
        pthread_cond_wait(&limits->memory, &limits->lock);
    limit->serving++;
    pthread_cond_broadcast(&limits->memory);
    pthread_mutex_unlock(&limits->lock);
}

void resource_limits_take_file(struct resource_share *share, uint64_t bytes)
{
    take(share->limits, RESOURCE_FILE, &share->file, bytes);
}

void resource_limits_take_cells(void *context, uint64_t bytes)
{
    struct resource_share *share = context;
    struct resource_limits *limits = share->limits;
    if (share->cells == 0) {
        const double begin = now();
        take(limits, RESOURCE_CELLS, &share->cells, bytes);
        share->waited += now() - begin;
        return;
    }
    pthread_mutex_lock(&limits->lock);
    bytes = counted(&limits->cells, bytes);
    if (!limits->giver && bytes > share->cells)
        (void)replace(&limits->cells, &share->cells, bytes);
    pthread_mutex_unlock(&limits->lock);
}

unsigned resource_limits_take_processors(struct resource_share *share,
                                         size_t jobs_left)
{
    struct resource_limits *limits = share->limits;
    const struct resource_giver *giver = limits->giver;
    const bool several = jobs_left && jobs_left < limits->processors;
    const unsigned wanted =
        several ? limits->processors / (unsigned)jobs_left : 1;
    if (giver)
        return share->processors =
                   several
                       ? giver->ask(giver->context, RESOURCE_PROCESSORS, wanted)
                       : 1;
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
        return; /* it may have no limits either */
    if (limits->giver) {
        share->processors = 0;
        return;
    }
    pthread_mutex_lock(&limits->lock);
    limits->idle += share->processors;
    share->processors = 0;
    pthread_cond_signal(&limits->processor);
    pthread_mutex_unlock(&limits->lock);
}

void resource_limits_return_all(struct resource_share *share)
{
    struct resource_limits *limits = share->limits;
    if (limits->giver) /* which knows when the job has ended */
        share->file = share->cells = 0;
    pthread_mutex_lock(&limits->lock);
    limits->files.used -= share->file;
    limits->cells.used -= share->cells;
    share->file = share->cells = 0;
    pthread_cond_broadcast(&limits->memory);
    pthread_mutex_unlock(&limits->lock);
}
