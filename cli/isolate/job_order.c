/* The order of jobs that share a file.
 *
 * Jobs stand in a ring, from the first that has not ended. Each knows how many
 * earlier ones it waits for. Which jobs wait for one is not stored but found
 * again when that one ends, by the same comparison as when they were added:
 * there are few jobs in the ring. */
#include "cli/isolate/job_order.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/files/path.h"
#include "cli/select/file_identity.h"

/* What a file is known by, as hashes; 0: it is not known by that. If two files
 * have the same hash by chance, a job waits that would not need to. */
struct file_keys {
    uint64_t name;  /* its canonical name, which a replaced file keeps */
    uint64_t inode; /* itself, if it exists */
};

struct ordered_job {
    struct file_keys input, output;
    void *task;
    unsigned waits; /* earlier jobs that it waits for */
    bool ended;
};

struct job_order {
    const char *root; /* the directory where names start, or NULL */
    unsigned window;
    uint64_t first, added; /* not ended; not added */
    struct ordered_job *job;
    pthread_mutex_t lock;
};

/* ---- Keys of files ------------------------------------------------------- */

static struct file_keys keys_of(const struct file_identity *identity)
{
    uint64_t directory =
        hash_bytes(identity->directory, strlen(identity->directory));
    uint64_t base = hash_bytes(identity->base, identity->nbase);
    bool exists = identity->known || identity->linked;
    return (struct file_keys){
        .name = hash_pair(directory, base),
        .inode = exists ? file_identity_inode_hash(identity) : 0,
    };
}

/* Nothing that was found before counts: jobs make directories and links may
 * change. Files that cannot be told apart count as one. */
static struct file_keys find_keys(const struct job_order *order,
                                  const char *name)
{
    char path[2 * PATH_MAX];
    struct file_keys keys = { .name = 1 };
    struct file_identities identities = { 0 };
    struct file_identity identity;
    struct err err;
    bool below = order->root && *name != '/';
    snprintf(path, sizeof path, "%s%s%s", below ? order->root : "",
             below ? "/" : "", name);
    if (file_identity_find(&identities, path, &identity, &err) == 0)
        keys = keys_of(&identity);
    file_identities_free(&identities);
    return keys;
}

static bool is_same(const struct file_keys *a, const struct file_keys *b)
{
    return (a->name && a->name == b->name) ||
           (a->inode && a->inode == b->inode);
}

/* ---- Jobs ---------------------------------------------------------------- */

static bool shares_file(const struct ordered_job *a,
                        const struct ordered_job *b)
{
    return is_same(&a->output, &b->input) || is_same(&a->output, &b->output) ||
           is_same(&a->input, &b->output);
}

static struct ordered_job *job_at(const struct job_order *order,
                                  uint64_t number)
{
    return &order->job[number % order->window];
}

bool job_order_add(struct job_order *order, const struct job *job, void *task,
                   uint64_t *number)
{
    struct ordered_job ordered = { .task = task };
    if (job) {
        ordered.output = find_keys(order, job->output);
        ordered.input = strcmp(job->input, job->output) == 0
                            ? ordered.output
                            : find_keys(order, job->input);
    }
    pthread_mutex_lock(&order->lock);
    for (uint64_t i = order->first; job && i < order->added; i++)
        ordered.waits +=
            !job_at(order, i)->ended && shares_file(job_at(order, i), &ordered);
    *number = order->added;
    *job_at(order, order->added++) = ordered;
    pthread_mutex_unlock(&order->lock);
    return ordered.waits == 0;
}

void job_order_end(struct job_order *order, uint64_t number,
                   void (*begin)(void *context, void *task), void *context)
{
    pthread_mutex_lock(&order->lock);
    struct ordered_job *ended = job_at(order, number);
    for (uint64_t i = number + 1; i < order->added; i++) {
        struct ordered_job *later = job_at(order, i);
        if (!later->ended && later->waits && shares_file(ended, later) &&
            --later->waits == 0)
            begin(context, later->task);
    }
    ended->ended = true;
    while (order->first < order->added && job_at(order, order->first)->ended)
        order->first++;
    pthread_mutex_unlock(&order->lock);
}

struct job_order *job_order_open(unsigned window, const char *root)
{
    struct job_order *order = calloc(1, sizeof *order);
    if (!order)
        return NULL;
    order->window = window;
    order->root = root;
    order->job = calloc(window, sizeof *order->job);
    pthread_mutex_init(&order->lock, NULL);
    if (order->job)
        return order;
    job_order_close(order);
    return NULL;
}

void job_order_close(struct job_order *order)
{
    if (!order)
        return;
    pthread_mutex_destroy(&order->lock);
    free(order->job);
    free(order);
}
