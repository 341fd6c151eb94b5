/* The order of jobs that share a file.
 *
 * Jobs stand in a ring, from the first that has not ended on. Each knows how
 * many earlier ones it waits for. Whoever waits for a job is not written down
 * but found again when the job ends, by the same question as when it was added:
 * there are few jobs in the ring, and to look at one takes some comparisons. */
#include "cli/serve/order.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/select/hash.h"
#include "cli/select/path.h"

/* What a file is known by, as hashes; 0: it is not known by that. If two files
 * have the same hash by chance, a job waits that would not need to. */
struct file_keys {
    uint64_t name;  /* its directory's inode and its name in there */
    uint64_t inode; /* itself, if it exists */
    uint64_t path;  /* its name from the root of the file system on */
};

struct ordered_job {
    struct file_keys input, output;
    void *task;
    unsigned waits; /* earlier jobs that it waits for */
    bool missing;   /* a directory of a file was missing */
    bool ended;
};

struct serve_order {
    unsigned window;
    uint64_t first, added; /* not ended; not added */
    atomic_uint missing;   /* jobs that have not ended and are so */
    struct ordered_job *job;
    pthread_mutex_t lock;
};

/* ---- What a file is known by --------------------------------------------- */

static uint64_t key_of(uint64_t hash)
{
    return hash ? hash : 1;
}

static uint64_t key_inode(const struct stat *st)
{
    return key_of(hash_pair(st->st_dev, st->st_ino));
}

static uint64_t key_name(const struct stat *directory, const char *base,
                         size_t size)
{
    return key_of(hash_pair(key_inode(directory), hash_bytes(base, size)));
}

/* Adds components to a path, as they will be once all of them are directories
 * but the last. */
static void add_components(char path[2 * PATH_MAX], const char *name)
{
    size_t size = strlen(path);
    size = size == 1 ? 0 : size; /* "/" */
    while (*(name += strspn(name, "/"))) {
        size_t n = strcspn(name, "/");
        bool dots = n <= 2 && memcmp(name, "..", n) == 0;
        if (dots && n == 2)
            while (size && path[--size] != '/')
                continue;
        if (!dots && size + n + 1 < 2 * PATH_MAX) {
            path[size++] = '/';
            memcpy(path + size, name, n);
            size += n;
        }
        path[size] = '\0';
        name += n;
    }
}

/* Opens the directory of a name, or as much of the way as exists; *rest is what
 * follows. Returns a descriptor, or -1. */
static int open_way(struct root *root, const char *name, const char **rest)
{
    char way[PATH_MAX];
    struct path parts = path_split(name, strlen(name));
    struct err err;
    for (;;) {
        size_t n = parts.ndirectory;
        *rest = name + n;
        if (n >= sizeof way)
            return -1;
        memcpy(way, name, n);
        strcpy(way + n, n ? "" : ".");
        int fd = resolve_open(root, way, O_PATH | O_DIRECTORY, &err);
        if (fd >= 0 || n == 0 || (n == 1 && *name == '/'))
            return fd;
        parts = path_split(name, n);
    }
}

/* Where the path cannot be told all files have the same. */
static uint64_t key_path(struct root *root, const char *name)
{
    char link[64], path[2 * PATH_MAX];
    const char *rest;
    int fd = open_way(root, name, &rest);
    if (fd < 0)
        return 0; /* the job fails, too */
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, PATH_MAX);
    close(fd);
    if (n <= 0)
        return 1;
    path[n] = '\0';
    add_components(path, rest);
    return key_of(hash_bytes(path, strlen(path)));
}

/* A link is what it leads to. Returns false if that cannot be told. */
static bool find_linked(struct root *root, const char *name,
                        struct file_keys *keys)
{
    struct location place;
    struct stat directory;
    struct err err;
    if (resolve_file(root, name, false, &place, &err))
        return false;
    bool found = fstat(place.directory, &directory) == 0;
    close(place.directory);
    if (found)
        keys->name = key_name(&directory, place.base, strlen(place.base));
    if (place.exists)
        keys->inode = key_inode(&place.st);
    return found;
}

static bool find_directly(struct root *root, const char *name,
                          struct file_keys *keys)
{
    char way[PATH_MAX];
    struct path parts = path_split(name, strlen(name));
    struct stat st;
    if (resolve_stat(root, name, false, &st)) {
        if (S_ISLNK(st.st_mode))
            return find_linked(root, name, keys);
        keys->inode = key_inode(&st);
    }
    if (parts.ndirectory >= sizeof way)
        return false;
    memcpy(way, parts.directory, parts.ndirectory);
    strcpy(way + parts.ndirectory, parts.ndirectory ? "" : ".");
    if (!resolve_stat(root, way, true, &st))
        return false;
    keys->name = key_name(&st, parts.base, parts.nbase);
    return true;
}

/* A directory that is missing will be there when a later job is added: then
 * only the path is what it was. */
static void find_file(const struct serve_order *order, struct root *root,
                      const char *name, bool *missing, struct file_keys *keys)
{
    *keys = (struct file_keys){ 0 };
    bool found = find_directly(root, name, keys);
    *missing = *missing || !found;
    if (!found || atomic_load(&order->missing))
        keys->path = key_path(root, name);
}

static bool is_same(const struct file_keys *a, const struct file_keys *b)
{
    return (a->name && a->name == b->name) ||
           (a->inode && a->inode == b->inode) ||
           (a->path && a->path == b->path);
}

/* ---- Jobs ---------------------------------------------------------------- */

static bool shares_file(const struct ordered_job *a,
                        const struct ordered_job *b)
{
    return is_same(&a->output, &b->input) || is_same(&a->output, &b->output) ||
           is_same(&a->input, &b->output);
}

static struct ordered_job *job_at(const struct serve_order *order,
                                  uint64_t number)
{
    return &order->job[number % order->window];
}

static void find_files(const struct serve_order *order, const struct job *job,
                       struct ordered_job *ordered)
{
    find_file(order, job->output_root, job->output, &ordered->missing,
              &ordered->output);
    ordered->input = ordered->output;
    if (strcmp(job->input, job->output) != 0)
        find_file(order, job->input_root, job->input, &ordered->missing,
                  &ordered->input);
}

bool serve_order_add(struct serve_order *order, const struct job *job,
                     void *task, uint64_t *number)
{
    struct ordered_job ordered = { .task = task };
    if (job)
        find_files(order, job, &ordered);
    pthread_mutex_lock(&order->lock);
    for (uint64_t i = order->first; job && i < order->added; i++)
        ordered.waits +=
            !job_at(order, i)->ended && shares_file(job_at(order, i), &ordered);
    atomic_fetch_add(&order->missing, ordered.missing);
    *number = order->added;
    *job_at(order, order->added++) = ordered;
    pthread_mutex_unlock(&order->lock);
    return ordered.waits == 0;
}

void serve_order_end(struct serve_order *order, uint64_t number,
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
    atomic_fetch_sub(&order->missing, ended->missing);
    ended->ended = true;
    while (order->first < order->added && job_at(order, order->first)->ended)
        order->first++;
    pthread_mutex_unlock(&order->lock);
}

struct serve_order *serve_order_open(unsigned window)
{
    struct serve_order *order = calloc(1, sizeof *order);
    if (!order)
        return NULL;
    order->window = window;
    order->job = calloc(window, sizeof *order->job);
    pthread_mutex_init(&order->lock, NULL);
    if (order->job)
        return order;
    serve_order_close(order);
    return NULL;
}

void serve_order_close(struct serve_order *order)
{
    if (!order)
        return;
    pthread_mutex_destroy(&order->lock);
    free(order->job);
    free(order);
}
