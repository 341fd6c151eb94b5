/* The inputs of a batch. */
#include "cli/select/inputs.h"

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

void inputs_free(struct inputs *inputs)
{
    while (inputs->walked) {
        struct walked *walked = inputs->walked;
        inputs->walked = walked->next;
        root_close(&walked->root);
        free(walked);
    }
    bytes_free(&inputs->memory);
    string_arena_free(&inputs->names);
    *inputs = (struct inputs){ 0 };
}
