/* Files in directories that a walk did not take. */
#include "cli/select/passed_over.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int passed_over_add(struct passed_over *passed, const char *name, size_t below,
                    const struct foreign *format, struct err *err)
{
    const char *kept = string_arena_keep(&passed->names, name, strlen(name));
    if (kept && passed->count == passed->capacity) {
        size_t capacity = passed->capacity / 2 * 3 + 64;
        struct passed_file *list =
            realloc(passed->list, capacity * sizeof *list);
        if (list) {
            passed->list = list;
            passed->capacity = capacity;
        }
    }
    if (!kept || passed->count == passed->capacity)
        return fail(err, "no memory for the names of files that are passed "
                         "over");
    passed->list[passed->count++] = (struct passed_file){
        .name = kept,
        .format = format,
        .below = (uint16_t)below,
    };
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct passed_file *)a)->name,
                  ((const struct passed_file *)b)->name);
}

void passed_over_sort(struct passed_over *passed)
{
    if (passed->count)
        qsort(passed->list, passed->count, sizeof *passed->list, by_name);
}

/* How many files have a format. */
struct format_count {
    const struct foreign *format;
    size_t count;
};

enum { FORMATS = 64 }; /* more than there are */

static size_t count_formats(const struct passed_over *passed,
                            struct format_count *formats)
{
    size_t n = 0;
    for (size_t i = 0; i < passed->count; i++) {
        size_t k = 0;
        while (k < n && formats[k].format != passed->list[i].format)
            k++;
        if (k == FORMATS)
            continue;
        if (k == n)
            formats[n++] = (struct format_count){ passed->list[i].format, 0 };
        formats[k].count++;
    }
    return n;
}

static int by_count(const void *left, const void *right)
{
    const struct format_count *a = left, *b = right;
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    return strcmp(a->format->title, b->format->title);
}

void passed_over_print(const struct passed_over *passed, bool others)
{
    struct format_count formats[FORMATS];
    size_t n = count_formats(passed, formats);
    size_t all = passed->count + (others ? passed->others : 0);
    const char *lead = ": ";
    if (all == 0)
        return;
    qsort(formats, n, sizeof *formats, by_count);
    fprintf(stderr, "gimgxf: %zu file%s passed over", all, all == 1 ? "" : "s");
    for (size_t i = 0; i < n; i++) {
        fprintf(stderr, "%s%zu %s", lead, formats[i].count,
                formats[i].format->title);
        lead = ", ";
    }
    if (others && passed->others)
        fprintf(stderr, "%s%zu not pictures", lead, passed->others);
    putc('\n', stderr);
}

void passed_over_free(struct passed_over *passed)
{
    free(passed->list);
    string_arena_free(&passed->names);
    *passed = (struct passed_over){ 0 };
}
