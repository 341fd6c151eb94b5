/* Memory and processors, which the jobs of a batch share. */
#include "cli/schedule/resource_limits.h"

#include "codecs/base/clock.h"

/* Divides the memory: a quarter of it is left for what codecs need beside
 * planes, and for what is encoded. */
static void divide(struct memory_limit memory[RESOURCE_PROCESSORS],
                   uint64_t bytes)
{
    memory[RESOURCE_FILE] = (struct memory_limit){ .most = bytes / 8 };
    memory[RESOURCE_CELLS] = (struct memory_limit){ .most = bytes / 8 * 5 };
}

void resource_limits_init(struct resource_limits *limits, uint64_t bytes,
                          unsigned processors)
{
    *limits = (struct resource_limits){ .processors = processors,
                                        .idle = processors };
    divide(limits->memory, bytes);
    pthread_mutex_init(&limits->lock, NULL);
    pthread_cond_init(&limits->more_memory, NULL);
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
    pthread_cond_destroy(&limits->more_memory);
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

/* Takes `bytes` in turn, and waits for them as long as other jobs hold some; of
 * a part only what is more has to be asked for. */
static void take(struct resource_limits *limits, enum resource what,
                 uint64_t *held, uint64_t bytes)
{
    const struct resource_giver *giver = limits->giver;
    struct memory_limit *limit = &limits->memory[what];
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
        pthread_cond_wait(&limits->more_memory, &limits->lock);
    limit->serving++;
    pthread_cond_broadcast(&limits->more_memory);
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
    bytes = counted(&limits->memory[RESOURCE_CELLS], bytes);
    if (!limits->giver && bytes > share->cells)
        (void)replace(&limits->memory[RESOURCE_CELLS], &share->cells, bytes);
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
    limits->memory[RESOURCE_FILE].used -= share->file;
    limits->memory[RESOURCE_CELLS].used -= share->cells;
    share->file = share->cells = 0;
    pthread_cond_broadcast(&limits->more_memory);
    pthread_mutex_unlock(&limits->lock);
}

/* ---- Jobs of other processes --------------------------------------------- */

void resource_claims_init(struct resource_claims *claims, uint64_t bytes,
                          unsigned processors, unsigned processes)
{
    *claims = (struct resource_claims){ .processors = processors };
    divide(claims->memory, bytes);
    for (int what = RESOURCE_FILE; what <= RESOURCE_CELLS; what++)
        claims->part[what] = claims->memory[what].most / 2 / processes;
}

/* Replaces what a job has, unless others hold too much. */
static bool hold(struct resource_claims *claims, struct resource_claim *claim,
                 enum resource what, uint64_t bytes)
{
    struct memory_limit *limit = &claims->memory[what];
    return replace(limit, &claim->held[what], counted(limit, bytes));
}

/* Grants memory in turn, as far as there is some. */
static void grant_memory(struct resource_claims *claims)
{
    for (enum resource what = RESOURCE_FILE; what <= RESOURCE_CELLS; what++)
        for (;;) {
            struct resource_claim **at = &claims->waiting, *claim;
            while (*at && (*at)->wants != what)
                at = &(*at)->next;
            claim = *at;
            if (!claim || !hold(claims, claim, what, claim->amount))
                break;
            *at = claim->next;
            claim->waits = false;
            if (what == RESOURCE_FILE)
                (void)hold(claims, claim, RESOURCE_CELLS,
                           claims->part[RESOURCE_CELLS]);
            claims->grant(claim, 1);
        }
}

bool resource_claim_begin(struct resource_claims *claims,
                          struct resource_claim *claim, unsigned processors)
{
    if (claims->busy >= processors || claims->waiting)
        return false;
    for (enum resource what = RESOURCE_FILE; what <= RESOURCE_CELLS; what++)
        if (!hold(claims, claim, what, claims->part[what])) {
            (void)hold(claims, claim, RESOURCE_FILE, 0);
            return false;
        }
    claim->processors = 1;
    claims->busy++;
    return true;
}

void resource_claim_more(struct resource_claims *claims,
                         struct resource_claim *claim, enum resource what,
                         uint64_t amount)
{
    if (what == RESOURCE_PROCESSORS) {
        const unsigned idle = claims->busy < claims->processors
                                  ? claims->processors - claims->busy
                                  : 0;
        const unsigned more = amount <= idle ? (unsigned)amount - 1 : idle;
        claim->processors += more;
        claims->busy += more;
        claims->grant(claim, 1 + more);
        return;
    }
    struct resource_claim **at = &claims->waiting;
    for (enum resource held = what; held <= RESOURCE_CELLS; held++)
        (void)hold(claims, claim, held, 0);
    while (*at)
        at = &(*at)->next;
    *at = claim;
    claim->next = NULL;
    claim->waits = true;
    claim->wants = what;
    claim->amount = amount;
    grant_memory(claims);
}

void resource_claim_end(struct resource_claims *claims,
                        struct resource_claim *claim)
{
    struct resource_claim **at = &claims->waiting;
    for (enum resource what = RESOURCE_FILE; what <= RESOURCE_CELLS; what++)
        (void)hold(claims, claim, what, 0);
    claims->busy -= claim->processors;
    while (*at && *at != claim)
        at = &(*at)->next;
    if (*at)
        *at = claim->next;
    *claim = (struct resource_claim){ .waits = false };
    grant_memory(claims);
}
