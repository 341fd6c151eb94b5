/* What was done twice under different names. */
#include "cli/manifest/twins.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/manifest/timestamp.h"

/* An entry, by the file that tells whether another one is its twin: in place
 * what it has written, else what it has read, and what its output is now. */
struct twin {
    struct entry *entry;
    struct identity file, output;
};

static int order_files(const struct identity *a, const struct identity *b)
{
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    return a->inode < b->inode ? -1 : a->inode > b->inode;
}

static int by_file(const void *left, const void *right)
{
    const struct twin *a = left, *b = right;
    int order = order_files(&a->file, &b->file);
    order = order ? order : strcmp(a->entry->op, b->entry->op);
    return order ? order : order_files(&a->output, &b->output);
}

/* ---- In place ------------------------------------------------------------ */

static bool has_read_what_was_made(const struct entry *later,
                                   const struct entry *earlier)
{
    const struct telling *a = earlier->done, *b = later->done;
    return earlier != later && a->written == b->size &&
           timestamp_compare(a->made_time, b->mtime) == 0;
}

static void find_in_place(struct manifest_index *ledger, struct twin *twin)
{
    size_t twins = 0;
    for (size_t i = 0; i < ledger->count; i++) {
        struct entry *entry = &ledger->entry[i];
        if (entry->in_place && entry->done && entry->done->made.known)
            twin[twins++] = (struct twin){ .entry = entry,
                                           .file = entry->done->made };
    }
    qsort(twin, twins, sizeof *twin, by_file);
    for (size_t i = 0; i < ledger->count; i++) {
        struct entry *entry = &ledger->entry[i];
        if (!entry->in_place || !entry->done || !entry->done->file.known)
            continue;
        struct twin key = { .entry = entry, .file = entry->done->file };
        const struct twin *found =
            bsearch(&key, twin, twins, sizeof *twin, by_file);
        if (found && has_read_what_was_made(entry, found->entry))
            entry->twice = true;
    }
}

/* ---- To another place ---------------------------------------------------- */

static bool is_same_job(const struct twin *a, const struct twin *b)
{
    const struct telling *one = a->entry->done, *two = b->entry->done;
    return by_file(a, b) == 0 && one->size == two->size &&
           timestamp_compare(one->mtime, two->mtime) == 0 &&
           timestamp_compare(one->time, two->time) != 0 &&
           strcmp(a->entry->options, b->entry->options) == 0;
}

static bool find_output(const struct manifest_index *ledger,
                        const struct entry *entry, struct identity *output)
{
    char path[PATH_MAX];
    struct stat st;
    if (!ledger_path(ledger, entry, entry->output, path) || stat(path, &st))
        return false;
    *output = (struct identity){ st.st_dev, st.st_ino, true };
    return true;
}

static void find_elsewhere(struct manifest_index *ledger, struct twin *twin)
{
    size_t twins = 0;
    for (size_t i = 0; i < ledger->count; i++) {
        struct entry *entry = &ledger->entry[i];
        struct twin *next = &twin[twins];
        if (entry->in_place || !entry->done || !entry->done->file.known ||
            !find_output(ledger, entry, &next->output))
            continue;
        next->entry = entry;
        next->file = entry->done->file;
        twins++;
    }
    qsort(twin, twins, sizeof *twin, by_file);
    for (size_t i = 1; i < twins; i++)
        if (is_same_job(&twin[i - 1], &twin[i]))
            twin[i].entry->twice = true;
}

int twins_find(struct manifest_index *ledger)
{
    struct twin *twin = calloc(ledger->count + 1, sizeof *twin);
    if (!twin)
        return -1;
    find_in_place(ledger, twin);
    find_elsewhere(ledger, twin);
    free(twin);
    return 0;
}
