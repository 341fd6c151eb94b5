/* Finds the pictures in a directory, and in those below it.
 *
 * A directory is read whole, closed and sorted before those in it are walked,
 * so one is open at a time, however deep they are. fts() keeps more open, sorts
 * directories without their slashes, and does not tell links from files without
 * a stat(). */
#include "cli/select/directory_walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/files/path.h"
#include "cli/files/temporary.h"
#include "cli/select/globs.h"

struct directory_walk {
    struct inputs *inputs;
    const struct options *opts;
    bool has_folder;
    struct stat folder;
    struct root *root;   /* the directory that is walked, opened */
    size_t below;        /* where the part below the root begins in `path` */
    char path[PATH_MAX]; /* of what is looked at */
    struct err *err;
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

static bool wanted_directory(const struct directory_walk *w, const char *base)
{
    const char *below = w->path + w->below;
    if (globs_match(&w->opts->exclude, below, 0))
        return false;
    return *base != '.' || globs_reach(&w->opts->include, below);
}

static bool ends_in(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);
    return n >= m && memcmp(name + n - m, end, m) == 0;
}

/* Counts a file that is not a picture to us. */
static int pass_over(struct directory_walk *w, const char *base)
{
    const struct foreign *format = foreign_by_suffix(path_suffix(base));
    struct passed_over *passed = &w->inputs->passed;
    if (format)
        return passed_over_add(passed, w->path, w->below, format, w->err);
    passed->others++;
    return 0;
}

/* Takes a file if it is wanted. Temporary files of other runs are not, nor
 * backups of earlier ones. Returns 0, or -1 with the reason. */
static int take_file(struct directory_walk *w, const char *base,
                     struct entries *entries)
{
    const struct options *opts = w->opts;
    const char *below = w->path + w->below;
    w->inputs->seen += !temporary_is_name(base);
    if (strncmp(base, ".gimgxf-", 8) == 0 ||
        (opts->backup && ends_in(base, opts->backup)) ||
        globs_match(&opts->exclude, below, 0))
        return 0;
    if (opts->include.count)
        return globs_match(&opts->include, below, FNM_PERIOD)
                   ? entries_add(entries, base, w->err)
                   : 0;
    if (*base == '.')
        return 0;
    return codec_by_name(path_suffix(base)) ? entries_add(entries, base, w->err)
                                            : pass_over(w, base);
}

enum entry_kind { KIND_FILE, KIND_DIRECTORY, KIND_OTHER };

/* A link counts as the file that it leads to, but not for --in-place: that file
 * may be anywhere, and if it is below the root, it is taken where it stands.
 * What cannot be looked at counts as a file, which fails when its turn comes.
 */
static enum entry_kind kind_of_link(const struct directory_walk *w)
{
    struct stat st;
    if (w->opts->in_place)
        return KIND_OTHER;
    if (stat(w->path, &st) == 0)
        return S_ISREG(st.st_mode) ? KIND_FILE : KIND_OTHER;
    bool nowhere = errno == ENOENT || errno == ENOTDIR || errno == ELOOP;
    return nowhere ? KIND_OTHER : KIND_FILE;
}

static enum entry_kind kind_of(const struct directory_walk *w,
                               const struct dirent *entry)
{
    struct stat st;
    unsigned type = entry->d_type;
    if (type == DT_UNKNOWN)
        type = lstat(w->path, &st) ? DT_REG : IFTODT(st.st_mode);
    return type == DT_REG   ? KIND_FILE
           : type == DT_DIR ? KIND_DIRECTORY
           : type == DT_LNK ? kind_of_link(w)
                            : KIND_OTHER;
}

/* Appends a name to the first `length` bytes of the path. */
static int enter(struct directory_walk *w, size_t length, const char *name)
{
    size_t n = strlen(name);
    if (n >= PATH_MAX - length)
        return fail(w->err, "%.100s.../%.256s: the name is too long", w->path,
                    name);
    memcpy(w->path + length, name, n + 1);
    return 0;
}

static int look(struct directory_walk *w, size_t length,
                const struct dirent *entry, struct entries *entries)
{
    char with_slash[sizeof entry->d_name + 1];
    const char *base = entry->d_name;
    if (strcmp(base, ".") == 0 || strcmp(base, "..") == 0)
        return 0;
    if (enter(w, length, base))
        return -1;
    switch (kind_of(w, entry)) {
    case KIND_FILE:
        if (temporary_is_name(base))
            inputs_note_left(w->inputs, w->path, w->root);
        return take_file(w, base, entries);
    case KIND_DIRECTORY:
        if (!wanted_directory(w, base))
            return 0;
        *stpcpy(stpcpy(with_slash, base), "/") = '\0';
        return entries_add(entries, with_slash, w->err);
    case KIND_OTHER:
        break;
    }
    return 0;
}

/* ---- A directory ------------------------------------------------------- */

static bool is_folder(const struct directory_walk *w, DIR *directory)
{
    struct stat st;
    return w->has_folder && fstat(dirfd(directory), &st) == 0 &&
           st.st_dev == w->folder.st_dev && st.st_ino == w->folder.st_ino;
}

/* Appends the path to the inputs. */
static int add_input(struct directory_walk *w, bool directory)
{
    const struct input input = {
        .name = w->path,
        .root = w->root,
        .below = (uint16_t)w->below,
        .directory = directory,
    };
    return inputs_add(w->inputs, &input, w->err);
}

/* Reads the directory `path`, of `length` bytes with its slash. One that cannot
 * be read to its end becomes an input. */
static int read_directory(struct directory_walk *w, size_t length,
                          struct entries *entries)
{
    bool root = length == w->below;
    DIR *directory = opendir(w->path);
    bool unread = !directory;
    bool enters = directory && (root || !is_folder(w, directory));
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
    if (!root)
        return add_input(w, true);
    const struct input named = { .name = w->path, .directory = true };
    return inputs_add(w->inputs, &named, w->err);
}

/* Walks the directory `path`, of `length` bytes with its slash. */
static int walk_directory(struct directory_walk *w, size_t length)
{
    struct entries entries = { 0 };
    int status = read_directory(w, length, &entries);
    const char **list = (const char **)(void *)entries.list.data;
    size_t count = entries.list.size / sizeof *list;
    if (count)
        qsort(list, count, sizeof *list, by_bytes);
    for (size_t i = 0; i < count && status == 0; i++) {
        const char *name = list[i];
        size_t n = strlen(name);
        status = enter(w, length, name);
        if (status)
            break;
        status = name[n - 1] == '/' ? walk_directory(w, length + n)
                                    : add_input(w, false);
    }
    bytes_free(&entries.list);
    string_arena_free(&entries.names);
    return status;
}

int directory_walk(struct inputs *inputs, const char *root,
                   const struct options *opts, const char *folder,
                   struct err *err)
{
    struct directory_walk w = { .inputs = inputs, .opts = opts, .err = err };
    size_t n = strlen(root);
    w.has_folder = folder && stat(folder, &w.folder) == 0;
    if (enter(&w, 0, root) || (root[n - 1] != '/' && enter(&w, n, "/")))
        return -1;
    w.below = strlen(w.path);
    w.root = inputs_open_walked(
        inputs, root, opts->in_place ? ROOT_LINKS_NONE : ROOT_LINKS_TO_FILE,
        err);
    if (!w.root)
        return -1;
    return walk_directory(&w, w.below);
}
