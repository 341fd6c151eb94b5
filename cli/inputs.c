/* Which files a batch takes. */
#include "cli/inputs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/globs.h"
#include "cli/walk.h"

int inputs_add(struct inputs *inputs, const char *name, size_t below,
               bool directory, struct err *err)
{
    if (inputs->count == inputs->capacity) {
        size_t capacity = (size_t)inputs->capacity / 2 * 3 + 64;
        struct input *list = NULL;
        if (capacity < UINT32_MAX)
            list = realloc(inputs->list, capacity * sizeof *list);
        if (!list)
            return fail(err, "no memory for the names of more than %u inputs",
                        inputs->count);
        inputs->list = list;
        inputs->capacity = (uint32_t)capacity;
    }
    const char *kept = names_keep(&inputs->names, name, strlen(name));
    if (!kept)
        return fail(err, "no memory for the names of more than %u inputs",
                    inputs->count);
    inputs->list[inputs->count] = (struct input){
        .name = kept,
        .number = inputs->count + 1,
        .below = (uint16_t)below,
        .directory = directory,
    };
    inputs->count++;
    return 0;
}

void inputs_free(struct inputs *inputs)
{
    free(inputs->list);
    names_free(&inputs->names);
    *inputs = (struct inputs){ 0 };
}

/* What is under way. */
struct gather {
    struct inputs *inputs;
    const struct options *opts;
    const char *folder;
};

/* A name, from wherever it came. */
static int take(struct gather *g, const char *name, struct err *err)
{
    const struct options *opts = g->opts;
    struct stat st;
    if (!*name)
        return fail(err, "the name of an input is empty");
    if (strcmp(name, "-") == 0)
        return fail(err, "standard input is not for batches; the file - is "
                         "./-");
    if (strlen(name) >= PATH_MAX)
        return fail(err, "the name of an input is longer than a name can be: "
                         "%.200s...",
                    name);
    if (opts->recursive && stat(name, &st) == 0 && S_ISDIR(st.st_mode))
        return walk(g->inputs, name, opts, g->folder, err);
    if (globs_match(&opts->exclude, name, 0) ||
        (opts->include.count && !globs_match(&opts->include, name, 0)))
        return 0;
    return inputs_add(g->inputs, name, 0, false, err);
}

/* The names in a list, each ended by `end`, which the last one may lack. */
static int take_lines(struct gather *g, FILE *list, int end, struct err *err)
{
    const char *file = g->opts->files_from;
    char *line = NULL;
    size_t room = 0;
    ssize_t got;
    int status = 0;
    errno = 0;
    for (size_t n = 1; status == 0; n++) {
        if ((got = getdelim(&line, &room, end, list)) < 0)
            break;
        size_t length = (size_t)got;
        if (line[length - 1] == end)
            line[--length] = '\0';
        if (strlen(line) != length)
            status = fail(err, "--files-from: line %zu of %s holds a NUL; is "
                               "--null missing?",
                          n, file);
        else if (length)
            status = take(g, line, err);
        errno = 0;
    }
    if (status == 0 && !feof(list))
        status = fail(err, "--files-from: %s: %s", file, strerror(errno));
    free(line);
    return status;
}

static int take_list(struct gather *g, struct err *err)
{
    const char *file = g->opts->files_from;
    bool standard = strcmp(file, "-") == 0;
    FILE *list = standard ? stdin : fopen(file, "re");
    if (!list)
        return fail(err, "--files-from: %s: %s", file, strerror(errno));
    int status = take_lines(g, list, g->opts->nul ? '\0' : '\n', err);
    if (!standard)
        fclose(list);
    return status;
}

int inputs_gather(struct inputs *inputs, const struct options *opts,
                  const char *folder, struct err *err)
{
    struct gather g = { inputs, opts, folder };
    for (int i = 0; i < opts->nfiles; i++)
        if (take(&g, opts->file[i], err))
            return -1;
    return opts->files_from ? take_list(&g, err) : 0;
}
