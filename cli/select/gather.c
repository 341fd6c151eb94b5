/* Finds the inputs of a batch. */
#include "cli/select/gather.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/select/directory_walk.h"
#include "cli/select/globs.h"
#include "cli/select/line_reader.h"

struct gather {
    struct inputs *inputs;
    const struct options *opts;
    const char *folder;
};

/* Takes a name, from wherever it came. */
static int take(struct gather *g, const char *name, struct err *err)
{
    const struct options *opts = g->opts;
    struct stat st;
    if (!*name)
        return fail(err, "the name of an input is empty");
    if (strcmp(name, "-") == 0)
        return fail(err, "standard input cannot be an input of a batch; write "
                         "./- for a file of that name");
    if (strlen(name) >= PATH_MAX)
        return fail(err, "the name of an input is too long: %.200s...", name);
    if (opts->recursive && stat(name, &st) == 0 && S_ISDIR(st.st_mode))
        return directory_walk(g->inputs, name, opts, g->folder, err);
    g->inputs->seen++;
    if (globs_match(&opts->exclude, name, 0) ||
        (opts->include.count && !globs_match(&opts->include, name, 0)))
        return 0;
    return inputs_add(g->inputs, &(struct input){ .name = name }, err);
}

/* Takes the names in a list, each ended by `end`; the last one may lack it. */
static int take_lines(struct gather *g, int fd, char end, struct err *err)
{
    const char *file = g->opts->files_from;
    struct line_reader lines = { .fd = fd, .end = end, .most = PATH_MAX };
    enum line got = LINE_READ;
    int status = 0;
    for (size_t n = 1; status == 0; n++) {
        char *line;
        size_t size;
        got = line_reader_next(&lines, &line, &size);
        if (got == LINE_NONE || got == LINE_FAILED)
            break;
        if (memchr(line, '\0', size))
            status = fail(err,
                          "--files-from: line %zu of %s contains a NUL byte; "
                          "is --null missing?",
                          n, file);
        else if (got == LINE_TOO_LONG)
            status =
                fail(err, "--files-from: line %zu of %s is too long for a name",
                     n, file);
        else if (size)
            status = take(g, line, err);
    }
    if (got == LINE_FAILED)
        status = fail(err, "--files-from: %s: %s", file, strerror(errno));
    line_reader_free(&lines);
    return status;
}

static int take_list(struct gather *g, struct err *err)
{
    const char *file = g->opts->files_from;
    bool standard = strcmp(file, "-") == 0;
    int fd = standard ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail(err, "--files-from: %s: %s", file, strerror(errno));
    int status = take_lines(g, fd, g->opts->nul ? '\0' : '\n', err);
    if (!standard)
        close(fd);
    return status;
}

int gather_inputs(struct inputs *inputs, const struct options *opts,
                  const char *folder, struct err *err)
{
    struct gather g = { inputs, opts, folder };
    for (int i = 0; i < opts->nfiles; i++)
        if (take(&g, opts->file[i], err))
            return -1;
    int status = opts->files_from ? take_list(&g, err) : 0;
    /* An empty list is not a mistake: a script may have found no work. */
    bool empty_list = opts->files_from && inputs->seen == 0;
    inputs->none = inputs->count == 0 && !empty_list;
    return status;
}

/* ---- Nothing found ------------------------------------------------------- */

/* Returns the directory that was searched, if it is the only input, or NULL. */
static const char *only_directory(const struct options *opts)
{
    struct stat st;
    if (!opts->recursive || opts->nfiles != 1 || opts->files_from ||
        stat(opts->file[0], &st) || !S_ISDIR(st.st_mode))
        return NULL;
    return opts->file[0];
}

/* Says which options left nothing, and what may have been meant. `whose` is
 * "its" or "the". */
static void say_why_none(const struct inputs *inputs,
                         const struct options *opts, const char *whose,
                         struct err *why)
{
    const struct globs *include = &opts->include;
    const char *plural = inputs->seen == 1 ? "" : "s";
    if (opts->exclude.count)
        fail(why, include->count ? "; --include and --exclude leave none"
                                 : "; --exclude leaves none");
    else if (include->count > 1)
        fail(why, "; no pattern of --include matches any of %s %zu file%s",
             whose, inputs->seen, plural);
    else if (include->count)
        fail(why, "; --include '%s' matches none of %s %zu file%s%s",
             include->glob[0], whose, inputs->seen, plural,
             strchr(include->glob[0], ',')
                 ? " (it takes one pattern, and may be repeated)"
                 : "");
    else if (inputs->seen)
        fail(why, "; none of %s %zu file%s has a suffix of a picture", whose,
             inputs->seen, plural);
    else
        fail(why, "%s", "");
}

int gather_check_found(const struct inputs *inputs, const struct options *opts,
                       struct err *err)
{
    const char *directory = only_directory(opts);
    struct err why;
    if (!inputs->none)
        return 0;
    say_why_none(inputs, opts, directory ? "its" : "the", &why);
    if (directory)
        return fail(err, "no pictures found in '%s'%s", directory, why.text);
    return fail(err, "no pictures found%s", why.text);
}
