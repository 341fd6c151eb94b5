/* The inputs of a batch. */
#include "cli/select/inputs.h"

#include <stdlib.h>
#include <string.h>

int inputs_add(struct inputs *inputs, const struct input *input,
               struct err *err)
{
    const char *kept =
        string_arena_keep(&inputs->names, input->name, strlen(input->name));
    if (kept && inputs->count == inputs->capacity) {
        size_t capacity = (size_t)inputs->capacity / 2 * 3 + 64;
        struct input *list = NULL;
        if (capacity < UINT32_MAX)
            list = realloc(inputs->list, capacity * sizeof *list);
        if (list) {
            inputs->list = list;
            inputs->capacity = (uint32_t)capacity;
        }
    }
    if (!kept || inputs->count == inputs->capacity)
        return fail(err, "no memory for the names of more than %u inputs",
                    inputs->count);
    struct input *added = &inputs->list[inputs->count++];
    *added = *input;
    added->name = kept;
    added->number = inputs->count;
    return 0;
}

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

void inputs_note_left(struct inputs *inputs, const char *name,
                      struct root *root)
{
    struct left_file left = {
        string_arena_keep(&inputs->names, name, strlen(name)), root
    };
    if (left.name)
        (void)bytes_append(&inputs->left, &left, sizeof left);
}

void inputs_free(struct inputs *inputs)
{
    bytes_free(&inputs->left);
    while (inputs->walked) {
        struct walked *walked = inputs->walked;
        inputs->walked = walked->next;
        root_close(&walked->root);
        free(walked);
    }
    free(inputs->list);
    string_arena_free(&inputs->names);
    passed_over_free(&inputs->passed);
    *inputs = (struct inputs){ 0 };
}
