/* The inputs of a batch. */
#include "cli/select/inputs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/files/files.h"
#include "cli/files/path.h"
#include "cli/files/temporary.h"
#include "codecs/codec.h"

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

/* ---- Patterns ----------------------------------------------------------- */

/* Returns whether a pattern matches a name. One without a slash is compared
 * with the last component, any other with the whole name. `flags`: FNM_PERIOD,
 * or 0. */
static bool globs_match(const struct globs *globs, const char *name, int flags)
{
    const char *slash = strrchr(name, '/');
    for (unsigned i = 0; i < globs->count; i++) {
        const char *glob = globs->glob[i];
        bool whole = strchr(glob, '/') != NULL;
        if (fnmatch(glob, whole || !slash ? name : slash + 1,
                    whole ? flags | FNM_PATHNAME : flags) == 0)
            return true;
    }
    return false;
}

/* ---- A walk --------------------------------------------------------------
 *
 * A directory is read whole, closed and sorted before those in it are walked,
 * so one is open at a time, however deep they are. fts() keeps more open, sorts
 * directories without their slashes, and does not tell links from files without
 * a stat(). */

struct gather {
    struct inputs *inputs;
    const struct options *opts;
    const struct stat *folder; /* that outputs go to, if it is there; or NULL */
    struct err *err;
    /* Of a walk: */
    struct root *root;   /* the directory that is walked, opened */
    size_t below;        /* where the part below the root begins in `path` */
    char path[PATH_MAX]; /* of what is looked at */
};

/* The names taken from a directory. Those of directories end in a slash, so
 * they are sorted as the whole names of the files in them would be. */
struct entries {
    struct string_arena names;
    struct bytes list; /* pointers to them */
};

static int entries_add(struct entries *entries, const char *name,
                       struct err *err)
{
    const char *kept = string_arena_keep(&entries->names, name, strlen(name));
    return kept && bytes_append(&entries->list, &kept, sizeof kept)
               ? 0
               : fail(err, "no memory for the names in a directory");
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* ---- One entry --------------------------------------------------------- */

/* Takes a file if it is wanted. Temporary files are not, nor backups of earlier
 * runs. One of a format that is not read is counted. Returns 0, or -1 with the
 * reason. */
static int take_file(struct gather *w, const char *base,
                     struct entries *entries)
{
    const struct options *opts = w->opts;
    const char *below = w->path + w->below;
    const char *backup = opts->backup ? opts->backup : "";
    const size_t n = strlen(base), m = strlen(backup);
    if (strncmp(base, TEMPORARY_PREFIX, strlen(TEMPORARY_PREFIX)) == 0)
        return 0;
    w->inputs->seen++;
    if ((m && n >= m && strcmp(base + n - m, backup) == 0) ||
        globs_match(&opts->exclude, below, 0))
        return 0;
    if (opts->include.count)
        return globs_match(&opts->include, below, FNM_PERIOD)
                   ? entries_add(entries, base, w->err)
                   : 0;
    if (*base == '.')
        return 0;
    if (codec_by_name(path_suffix(base)))
        return entries_add(entries, base, w->err);
    struct passed_over *passed = &w->inputs->passed;
    const struct foreign *format = foreign_by_suffix(path_suffix(base));
    unsigned i = 0;
    while (i < passed->kinds && passed->kind[i].format != format)
        i++;
    if (!format || i == sizeof passed->kind / sizeof *passed->kind)
        return 0;
    passed->kind[i].format = format;
    passed->kind[i].files++;
    passed->kinds += i == passed->kinds;
    return 0;
}

/* Appends a name to the first `length` bytes of the path. */
static int enter(struct gather *w, size_t length, const char *name)
{
    size_t n = strlen(name);
    if (n >= PATH_MAX - length)
        return fail(w->err, "%.100s.../%.256s: the name is too long", w->path,
                    name);
    memcpy(w->path + length, name, n + 1);
    return 0;
}

/* A link counts as the file that it leads to, but not for --in-place: that file
 * may be anywhere, and if it is below the root, it is taken where it stands.
 * What cannot be looked at counts as a file, which fails when its turn comes.
 */
static int look(struct gather *w, size_t length, const struct dirent *entry,
                struct entries *entries)
{
    char with_slash[sizeof entry->d_name + 1];
    struct stat st;
    unsigned type = entry->d_type;
    const char *base = entry->d_name, *below = w->path + w->below;
    if (strcmp(base, ".") == 0 || strcmp(base, "..") == 0)
        return 0;
    if (enter(w, length, base))
        return -1;
    if (type == DT_UNKNOWN)
        type = lstat(w->path, &st) ? DT_REG : IFTODT(st.st_mode);
    if (type == DT_LNK && !w->opts->in_place &&
        (stat(w->path, &st) == 0
             ? S_ISREG(st.st_mode)
             : errno != ENOENT && errno != ENOTDIR && errno != ELOOP))
        type = DT_REG;
    if (type == DT_REG)
        return take_file(w, base, entries);
    if (type != DT_DIR || *base == '.' ||
        globs_match(&w->opts->exclude, below, 0))
        return 0;
    *stpcpy(stpcpy(with_slash, base), "/") = '\0';
    return entries_add(entries, with_slash, w->err);
}

/* ---- A directory ------------------------------------------------------- */

/* Appends the path to the inputs; `named`: as the user gave it. */
static int add_input(struct gather *w, bool directory, bool named)
{
    const struct input input = {
        .name = w->path,
        .root = named ? NULL : w->root,
        .below = named ? 0 : (uint16_t)w->below,
        .directory = directory,
    };
    return inputs_add(w->inputs, &input, w->err);
}

/* Reads the directory `path`, of `length` bytes with its slash. One that cannot
 * be read to its end becomes an input. */
static int read_directory(struct gather *w, size_t length,
                          struct entries *entries)
{
    bool root = length == w->below;
    DIR *directory = opendir(w->path);
    struct stat st;
    bool unread = !directory;
    bool is_folder =
        directory && w->folder && fstat(dirfd(directory), &st) == 0 &&
        st.st_dev == w->folder->st_dev && st.st_ino == w->folder->st_ino;
    bool enters = directory && (root || !is_folder);
    int status = 0;
    while (enters && status == 0) {
        errno = 0;
        const struct dirent *entry = readdir(directory);
        if (!entry) {
            unread = errno != 0;
            break;
        }
        status = look(w, length, entry, entries);
        w->path[length] = '\0';
    }
    if (directory)
        closedir(directory);
    if (!unread || status)
        return status;
    w->path[length > 1 ? length - 1 : 1] = '\0';
    return add_input(w, true, root);
}

/* Walks the directory `path`, of `length` bytes with its slash. */
static int walk_directory(struct gather *w, size_t length)
{
    struct entries entries = { 0 };
    int status = read_directory(w, length, &entries);
    const char **list = (const char **)(void *)entries.list.data;
    size_t count = entries.list.size / sizeof *list;
    if (count)
        qsort(list, count, sizeof *list, by_bytes);
    for (size_t i = 0; i < count && status == 0; i++) {
        const size_t n = strlen(list[i]);
        status = enter(w, length, list[i]) ? -1
                 : list[i][n - 1] == '/'   ? walk_directory(w, length + n)
                                           : add_input(w, false, false);
    }
    bytes_free(&entries.list);
    string_arena_free(&entries.names);
    return status;
}

/* Appends the pictures below a directory to the inputs, sorted by the bytes of
 * their names, as `find root | LC_ALL=C sort` prints them:
 *
 * - files that --include names, or else those with a suffix of a picture;
 *   names that begin with a dot only if a pattern of --include does;
 * - links to files, but not for --in-place; no links to directories;
 * - a directory that cannot be read, which fails when its turn comes.
 *
 * Left out are names that end as --backup says, what --exclude names, and the
 * directory where outputs go. Everything found is confined to `root`: a
 * directory that becomes a link after it was walked is not followed. */
static int walk_root(struct gather *w, const char *name)
{
    struct inputs *inputs = w->inputs;
    const bool kept = inputs->nwalked < WALKED_KEPT;
    const enum root_links links =
        w->opts->in_place ? ROOT_LINKS_NONE : ROOT_LINKS_TO_FILE;
    const size_t n = strlen(name);
    struct err why;
    if (enter(w, 0, name) || (name[n - 1] != '/' && enter(w, n, "/")))
        return -1;
    struct walked *walked = malloc(sizeof *walked);
    const char *copy = string_arena_keep(&inputs->names, name, n);
    if (!walked || !copy) {
        free(walked);
        return fail(w->err, "no memory for the names of the inputs");
    }
    if (root_open(&walked->root, copy, links, kept, &why)) {
        root_close(&walked->root);
        free(walked);
        return fail(w->err, "%s: %s", name, why.text);
    }
    walked->next = inputs->walked;
    inputs->walked = walked;
    inputs->nwalked++;
    w->below = strlen(w->path);
    w->root = &walked->root;
    return walk_directory(w, w->below);
}

/* ---- All inputs --------------------------------------------------------- */

/* Takes a name, from wherever it came. */
static int take(struct gather *g, const char *name)
{
    const struct options *opts = g->opts;
    struct err *err = g->err;
    struct stat st;
    if (!*name)
        return fail(err, "the name of an input is empty");
    if (strcmp(name, "-") == 0)
        return fail(err, "standard input cannot be an input of a batch; write "
                         "./- for a file of that name");
    if (strlen(name) >= PATH_MAX)
        return fail(err, "the name of an input is too long: %.200s...", name);
    if (opts->recursive && stat(name, &st) == 0 && S_ISDIR(st.st_mode))
        return walk_root(g, name);
    g->inputs->seen++;
    if (globs_match(&opts->exclude, name, 0) ||
        (opts->include.count && !globs_match(&opts->include, name, 0)))
        return 0;
    return inputs_add(g->inputs, &(struct input){ .name = name }, err);
}

/* Takes the names in a list; the last one may lack its end. */
static int take_list(struct gather *g)
{
    struct err *err = g->err;
    const char *file = g->opts->files_from;
    const bool standard = strcmp(file, "-") == 0;
    struct line_reader lines = {
        .fd = standard ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC),
        .end = g->opts->nul ? '\0' : '\n',
        .most = PATH_MAX,
    };
    enum line got = lines.fd < 0 ? LINE_FAILED : LINE_READ;
    int status = 0;
    for (size_t n = 1; status == 0 && got != LINE_FAILED; n++) {
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
            status = take(g, line);
    }
    if (got == LINE_FAILED)
        status = fail(err, "--files-from: %s: %s", file, strerror(errno));
    line_reader_free(&lines);
    if (!standard && lines.fd >= 0)
        close(lines.fd);
    return status;
}

int inputs_gather(struct inputs *inputs, const struct options *opts,
                  const char *folder, struct err *err)
{
    struct gather g = { .inputs = inputs, .opts = opts, .err = err };
    struct stat st;
    if (folder && stat(folder, &st) == 0)
        g.folder = &st;
    for (int i = 0; i < opts->nfiles; i++)
        if (take(&g, opts->file[i]))
            return -1;
    int status = opts->files_from ? take_list(&g) : 0;
    /* An empty list is not a mistake: a script may have found no work. */
    bool empty_list = opts->files_from && inputs->seen == 0;
    inputs->none = inputs->count == 0 && !empty_list;
    return status;
}

int inputs_check_found(const struct inputs *inputs, const struct options *opts,
                       struct err *err)
{
    const bool patterns = opts->include.count || opts->exclude.count;
    return inputs->none ? fail(err, "no pictures found among %zu file%s; %s",
                               inputs->seen, inputs->seen == 1 ? "" : "s",
                               patterns ? "--include and --exclude leave none"
                                        : "none has a suffix of a picture")
                        : 0;
}
