/* The directories in which a run has removed what killed runs left there. */
#include "cli/files/left_behind.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/files/temporary.h"

struct searched_directory {
    dev_t device;
    ino_t inode;
};

struct left_behind {
    size_t most;
    pthread_mutex_t lock;
    void *searched; /* a tree of tsearch(), of struct searched_directory */
};

struct left_behind *left_behind_open(size_t most)
{
    struct left_behind *left = calloc(1, sizeof *left);
    if (!left)
        return NULL;
    left->most = most;
    pthread_mutex_init(&left->lock, NULL);
    return left;
}

void left_behind_close(struct left_behind *left)
{
    if (!left)
        return;
    pthread_mutex_destroy(&left->lock);
    tdestroy(left->searched, free);
    free(left);
}

static int compare(const void *left, const void *right)
{
    const struct searched_directory *a = left, *b = right;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    return a->inode < b->inode ? -1 : a->inode > b->inode;
}

/* Notes a directory. Returns whether it is a new one; without memory it is not:
 * what is left there waits for the next run. */
static bool add_directory(struct left_behind *left, const struct stat *st)
{
    struct searched_directory key = { st->st_dev, st->st_ino }, *added = NULL;
    if (tfind(&key, &left->searched, compare) ||
        !(added = malloc(sizeof *added)))
        return false;
    *added = key;
    if (tsearch(added, &left->searched, compare))
        return true;
    free(added);
    return false;
}

/* Removes what was left among the first `most` entries of a directory. */
static void search(int directory, size_t most)
{
    int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    if (!stream && fd >= 0)
        close(fd);
    while (stream && most-- && (entry = readdir(stream)))
        temporary_remove_left(directory, entry->d_name);
    if (stream)
        closedir(stream);
}

void left_behind_remove(struct left_behind *left, int directory)
{
    struct stat st;
    if (!left || fstat(directory, &st))
        return;
    pthread_mutex_lock(&left->lock);
    bool added = add_directory(left, &st);
    pthread_mutex_unlock(&left->lock);
    if (added)
        search(directory, left->most);
}
