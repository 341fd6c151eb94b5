/* The inputs of a batch. */
#include "cli/select/inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int inputs_add(struct inputs *inputs, const struct input *input,
               struct err *err)
{
    struct input added = *input;
    added.name =
        string_arena_keep(&inputs->names, input->name, strlen(input->name));
    if (!added.name || inputs->count == UINT32_MAX ||
        !bytes_append(&inputs->memory, &added, sizeof added))
        return fail(err, "no memory for the names of more than %u inputs",
                    inputs->count);
    inputs->list = (struct input *)(void *)inputs->memory.data;
    inputs->count++;
    return 0;
}

/* ---- Directories that were walked ---------------------------------------- */

struct walked {
    struct walked *next;
    struct root root;
};

/* So many directories are kept open; the others of a long list are opened for
 * each file in them. */
enum { WALKED_KEPT = 16 };

struct root *inputs_open_walked(struct inputs *inputs, const char *name,
                                enum root_links links, struct err *err)
{
    bool kept = inputs->nwalked < WALKED_KEPT;
    struct walked *walked = malloc(sizeof *walked);
    const char *copy = string_arena_keep(&inputs->names, name, strlen(name));
    struct err why;
    if (!walked || !copy) {
        free(walked);
        fail(err, "no memory for the names of the inputs");
        return NULL;
    }
    if (root_open_walked(&walked->root, copy, links, kept, &why)) {
        root_close(&walked->root);
        free(walked);
        fail(err, "%s: %s", name, why.text);
        return NULL;
    }
    walked->next = inputs->walked;
    inputs->walked = walked;
    inputs->nwalked++;
    return &walked->root;
}

/* ---- Files that were passed over ------------------------------------------
 */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct passed_file *)a)->name,
                  ((const struct passed_file *)b)->name);
}

void inputs_sort_passed(struct inputs *inputs)
{
    struct passed_over *passed = &inputs->passed;
    if (passed->count)
        qsort(passed->list, passed->count, sizeof *passed->list, by_name);
}

/* How many files have a format. */
struct format_count {
    const struct foreign *format;
    size_t count;
};

enum { FORMATS = 64 }; /* more than there are */

static int by_count(const void *left, const void *right)
{
    const struct format_count *a = left, *b = right;
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    return strcmp(a->format->title, b->format->title);
}

void inputs_print_passed(const struct inputs *inputs, bool others)
{
    const struct passed_over *passed = &inputs->passed;
    struct format_count formats[FORMATS];
    size_t n = 0;
    size_t all = passed->count + (others ? passed->others : 0);
    const char *lead = ": ";
    if (all == 0)
        return;
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
    qsort(formats, n, sizeof *formats, by_count);
    fprintf(stderr, "gimgxf: %zu file%s passed over", all, all == 1 ? "" : "s");
    for (size_t i = 0; i < n; i++) {
        const struct foreign *format = formats[i].format;
        const bool video = strcmp(format->title, "video") == 0;
        fprintf(stderr, "%s%zu %s%s", lead, formats[i].count, format->title,
                video && formats[i].count > 1 ? "s" : "");
        lead = ", ";
    }
    if (others && passed->others)
        fprintf(stderr, "%s%zu not pictures", lead, passed->others);
    putc('\n', stderr);
}

void inputs_free(struct inputs *inputs)
{
    while (inputs->walked) {
        struct walked *walked = inputs->walked;
        inputs->walked = walked->next;
        root_close(&walked->root);
        free(walked);
    }
    bytes_free(&inputs->memory);
    bytes_free(&inputs->passed.memory);
    string_arena_free(&inputs->names);
    *inputs = (struct inputs){ 0 };
}
