/* Jobs that were done twice under different names. */
#include "cli/manifest/duplicates.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/manifest/timestamp.h"

/* A job that was done. `file` identifies it: in place the file that it has
 * written, else the file that it has read. `output` is what its output is now.
 */
struct done_job {
    struct entry *entry;
    struct inode_id file, output;
};

static int order_files(const struct inode_id *a, const struct inode_id *b)
{
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    return a->inode < b->inode ? -1 : a->inode > b->inode;
}

static int by_file(const void *left, const void *right)
{
    const struct done_job *a = left, *b = right;
    int order = order_files(&a->file, &b->file);
    order = order ? order : strcmp(a->entry->op, b->entry->op);
    return order ? order : order_files(&a->output, &b->output);
}

/* ---- In place ------------------------------------------------------------ */

static bool has_read_what_was_made(const struct entry *later,
                                   const struct entry *earlier)
{
    const struct facts *a = earlier->done, *b = later->done;
    return earlier != later && a->written == b->size &&
           timestamp_compare(a->made_time, b->mtime) == 0;
}

static void find_in_place(struct manifest_index *index, struct done_job *jobs)
{
    size_t count = 0;
    for (size_t i = 0; i < index->count; i++) {
        struct entry *entry = &index->entry[i];
        if (entry->in_place && entry->done && entry->done->made.known)
            jobs[count++] =
                (struct done_job){ .entry = entry, .file = entry->done->made };
    }
    qsort(jobs, count, sizeof *jobs, by_file);
    for (size_t i = 0; i < index->count; i++) {
        struct entry *entry = &index->entry[i];
        if (!entry->in_place || !entry->done || !entry->done->file.known)
            continue;
        struct done_job key = { .entry = entry, .file = entry->done->file };
        const struct done_job *found =
            bsearch(&key, jobs, count, sizeof *jobs, by_file);
        if (found && has_read_what_was_made(entry, found->entry))
            entry->twice = true;
    }
}

/* ---- To another place ---------------------------------------------------- */

static bool is_same_job(const struct done_job *a, const struct done_job *b)
{
    const struct facts *one = a->entry->done, *two = b->entry->done;
    return by_file(a, b) == 0 && one->size == two->size &&
           timestamp_compare(one->mtime, two->mtime) == 0 &&
           timestamp_compare(one->time, two->time) != 0 &&
           strcmp(a->entry->options, b->entry->options) == 0;
}

static bool find_output(const struct manifest_index *index,
                        const struct entry *entry, struct inode_id *output)
{
    char path[PATH_MAX];
    struct stat st;
    if (!manifest_index_path(index, entry, entry->output, path) ||
        stat(path, &st))
        return false;
    *output = (struct inode_id){ st.st_dev, st.st_ino, true };
    return true;
}

static void find_elsewhere(struct manifest_index *index, struct done_job *jobs)
{
    size_t count = 0;
    for (size_t i = 0; i < index->count; i++) {
        struct entry *entry = &index->entry[i];
        struct done_job *next = &jobs[count];
        if (entry->in_place || !entry->done || !entry->done->file.known ||
            !find_output(index, entry, &next->output))
            continue;
        next->entry = entry;
        next->file = entry->done->file;
        count++;
    }
    qsort(jobs, count, sizeof *jobs, by_file);
    for (size_t i = 1; i < count; i++)
        if (is_same_job(&jobs[i - 1], &jobs[i]))
            jobs[i].entry->twice = true;
}

int duplicates_find(struct manifest_index *index)
{
    struct done_job *jobs = calloc(index->count + 1, sizeof *jobs);
    if (!jobs)
        return -1;
    find_in_place(index, jobs);
    find_elsewhere(index, jobs);
    free(jobs);
    return 0;
}
