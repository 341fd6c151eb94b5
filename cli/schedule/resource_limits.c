/* Memory and processors, which jobs share. */
#include "cli/schedule/resource_limits.h"

#include "codecs/base/clock.h"

void resource_limits_init(struct resource_limits *limits, uint64_t bytes,
                          unsigned processors)
{
    *limits = (struct resource_limits){ .processors = processors };
    limits->memory[RESOURCE_FILE].most = bytes / 8;
    limits->memory[RESOURCE_CELLS].most = bytes / 8 * 5;
    pthread_mutex_init(&limits->lock, NULL);
}

void resource_limits_divide(struct resource_limits *limits, unsigned processes)
{
    for (int what = RESOURCE_FILE; what <= RESOURCE_CELLS; what++)
        limits->memory[what].part = limits->memory[what].most / 2 / processes;
}

void resource_limits_end(struct resource_limits *limits)
{
    pthread_mutex_destroy(&limits->lock);
}

/* ---- Giving: the lock is held -------------------------------------------- */

/* Replaces what a job has, unless others hold too much. No job has more than
 * there is, so that `used` never passes `most`. */
static bool hold(struct resource_share *share, enum resource what,
                 uint64_t bytes)
{
    struct memory_limit *limit = &share->limits->memory[what];
    const uint64_t others = limit->used - share->held[what];
    bytes = bytes < limit->most ? bytes : limit->most;
    if (others && bytes > limit->most - others)
        return false;
    limit->used = others + bytes;
    share->held[what] = bytes;
    return true;
}

/* Gives a job what it waits for, if that is there. */
static bool give(struct resource_share *share)
{
    struct resource_limits *limits = share->limits;
    const unsigned idle = limits->processors - limits->busy;
    if (share->wants == RESOURCE_PROCESSORS) {
        const uint64_t more = share->amount - share->processors;
        const unsigned got = more < idle ? (unsigned)more : idle;
        share->processors += got;
        limits->busy += got;
        return share->processors > 0;
    }
    if (!hold(share, share->wants, share->amount))
        return false;
    if (share->wants == RESOURCE_FILE)
        (void)hold(share, RESOURCE_CELLS, limits->memory[RESOURCE_CELLS].part);
    return true;
}

/* Gives in turn, as far as there is something. */
static void give_all(struct resource_limits *limits)
{
    bool wanted[RESOURCES] = { false }; /* by one that comes before */
    struct resource_share **at = &limits->waiting, *share;
    while ((share = *at)) {
        if (wanted[share->wants] || !give(share)) {
            wanted[share->wants] = true;
            at = &share->next;
            continue;
        }
        *at = share->next;
        share->waits = false;
        if (limits->grant)
            limits->grant(share);
        else
            pthread_cond_signal(share->granted);
    }
}

void resource_limits_ask(struct resource_share *share, enum resource what,
                         uint64_t amount)
{
    struct resource_share **at = &share->limits->waiting;
    for (enum resource held = what; held <= RESOURCE_CELLS; held++)
        (void)hold(share, held, 0);
    while (*at)
        at = &(*at)->next;
    *at = share;
    share->next = NULL;
    share->waits = true;
    share->wants = what;
    share->amount = amount;
    give_all(share->limits);
}

static void return_processors(struct resource_share *share)
{
    share->limits->busy -= share->processors;
    share->processors = 0;
}

/* ---- Threads ------------------------------------------------------------- */

/* Takes this, and waits for it. Of a part only what is more has to be asked
 * for. */
static void take(struct resource_share *share, enum resource what,
                 uint64_t amount)
{
    struct resource_limits *limits = share->limits;
    const struct resource_giver *giver = limits->giver;
    const double begin = now();
    pthread_cond_t granted = PTHREAD_COND_INITIALIZER;
    if (giver && what == RESOURCE_PROCESSORS) {
        share->processors =
            amount > 1 ? giver->ask(giver->context, what, amount) : 1;
    } else if (giver) {
        share->held[what] = amount;
        if (amount > limits->memory[what].part)
            (void)giver->ask(giver->context, what, amount);
    } else {
        pthread_mutex_lock(&limits->lock);
        share->granted = &granted;
        resource_limits_ask(share, what, amount);
        while (share->waits)
            pthread_cond_wait(&granted, &limits->lock);
        pthread_mutex_unlock(&limits->lock);
    }
    share->waited[what] += now() - begin;
}

void resource_limits_take_file(void *share, uint64_t bytes)
{
    take(share, RESOURCE_FILE, bytes);
}

void resource_limits_take_cells(void *context, uint64_t bytes)
{
    struct resource_share *share = context;
    struct resource_limits *limits = share->limits;
    if (share->held[RESOURCE_CELLS] == 0) {
        take(share, RESOURCE_CELLS, bytes);
    } else if (!limits->giver && bytes > share->held[RESOURCE_CELLS]) {
        pthread_mutex_lock(&limits->lock);
        (void)hold(share, RESOURCE_CELLS, bytes);
        pthread_mutex_unlock(&limits->lock);
    }
}

unsigned resource_limits_take_processors(struct resource_share *share,
                                         size_t jobs_left)
{
    const unsigned all = share->limits->processors;
    const bool several = jobs_left && jobs_left < all;
    take(share, RESOURCE_PROCESSORS, several ? all / (unsigned)jobs_left : 1);
    return share->processors;
}

void resource_limits_return_processors(struct resource_share *share)
{
    struct resource_limits *limits = share->limits;
    if (share->processors == 0)
        return;          /* it may have no limits either */
    if (limits->giver) { /* which knows when the job has ended */
        share->processors = 0;
        return;
    }
    pthread_mutex_lock(&limits->lock);
    return_processors(share);
    give_all(limits);
    pthread_mutex_unlock(&limits->lock);
}

/* ---- Both ---------------------------------------------------------------- */

void resource_limits_return_all(struct resource_share *share)
{
    struct resource_limits *limits = share->limits;
    struct resource_share **at = &limits->waiting;
    pthread_mutex_lock(&limits->lock);
    while (*at && *at != share)
        at = &(*at)->next;
    if (*at)
        *at = share->next;
    if (!limits->giver) {
        return_processors(share);
        for (int what = RESOURCE_FILE; what <= RESOURCE_CELLS; what++)
            (void)hold(share, (enum resource)what, 0);
        give_all(limits);
    }
    pthread_mutex_unlock(&limits->lock);
    *share = (struct resource_share){ .limits = limits };
}

/* ---- Jobs of other processes --------------------------------------------- */

bool resource_limits_begin(struct resource_share *share)
{
    struct resource_limits *limits = share->limits;
    if (limits->busy == limits->processors || limits->waiting)
        return false;
    for (int what = RESOURCE_FILE; what <= RESOURCE_CELLS; what++)
        if (!hold(share, (enum resource)what, limits->memory[what].part)) {
            (void)hold(share, RESOURCE_FILE, 0);
            return false;
        }
    share->processors = 1;
    limits->busy++;
    return true;
}
