/* The inputs of a batch. */
#include "cli/select/inputs.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int inputs_add(struct inputs *inputs, const struct input *input,
               struct err *err)
{
    struct input added = *input;
    added.name =
        string_arena_keep(&inputs->names, input->name, strlen(input->name));
    added.number = inputs->count + 1;
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

/* Prints, in brackets, the suffixes of the files that have a format, each once.
 */
static void print_suffixes(const struct passed_over *passed,
                           const struct foreign *format)
{
    const char *lead = " (";
    size_t length;
    for (const char *s = format->suffixes; *s;
         s += length + (s[length] == ' ')) {
        length = strcspn(s, " ");
        for (size_t i = 0; i < passed->count; i++) {
            const char *suffix = path_suffix(passed->list[i].name);
            if (passed->list[i].format != format || strlen(suffix) != length ||
                strncasecmp(suffix, s, length) != 0)
                continue;
            fputs(lead, stderr);
            for (size_t k = 0; k < length; k++)
                putc(toupper((unsigned char)s[k]), stderr);
            lead = ", ";
            break;
        }
    }
    putc(')', stderr);
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
        if (video)
            print_suffixes(passed, format);
        lead = ", ";
    }
    if (others && passed->others)
        fprintf(stderr, "%s%zu not pictures", lead, passed->others);
    putc('\n', stderr);
}

/* Returns whether one of the names, which are sorted, is that of a picture of a
 * phone, and the same as of this film. */
static bool is_beside(const char *const *names, size_t count, const char *film)
{
    static const char *const suffixes[] = { "heic", "heif", "jpg", "jpeg" };
    const size_t stem = (size_t)(path_suffix(film) - film);
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (strncmp(names[middle], film, stem) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < count && strncmp(names[low], film, stem) == 0; low++)
        for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
            if (strcasecmp(names[low] + stem, suffixes[i]) == 0)
                return true;
    return false;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void inputs_print_live(const struct inputs *inputs)
{
    const struct passed_over *passed = &inputs->passed;
    const char **names = NULL;
    size_t films = 0;
    for (size_t i = 0; i < passed->count; i++) {
        const char *film = passed->list[i].name;
        if (strcasecmp(path_suffix(film), "mov") != 0)
            continue;
        if (!names) {
            names = malloc((inputs->count + 1) * sizeof *names);
            for (uint32_t k = 0; names && k < inputs->count; k++)
                names[k] = inputs->list[k].name;
            if (!names)
                return;
            qsort(names, inputs->count, sizeof *names, by_bytes);
        }
        films += is_beside(names, inputs->count, film);
    }
    free(names);
    if (films)
        fprintf(stderr,
                "gimgxf: %zu MOV of Live Photos: the film is not turned with "
                "the picture beside it\n",
                films);
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
