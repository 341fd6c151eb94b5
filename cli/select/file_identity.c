/* Where a file is, whatever it is called: by canonical names and inode numbers.
 */
#include "cli/select/file_identity.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/files/path.h"
#include "cli/files/resolve.h"

/* Names come by directories: each is looked for once as long as it is among the
 * last. */
int file_identity_directory(struct file_identities *p, const char *name,
                            size_t length, const char **directory,
                            struct err *err)
{
    struct path_text path;
    for (unsigned i = 0; i < IDENTITY_DIRECTORIES; i++)
        if (p->last[i].directory && p->last[i].length == length &&
            memcmp(p->last[i].name, name, length) == 0) {
            *directory = p->last[i].directory;
            return 0;
        }
    if (resolve_canonical(&path, name, length, err))
        return -1;
    const struct spelled_directory found = {
        .name = string_arena_keep(&p->names, name, length),
        .length = length,
        .directory = string_arena_keep(&p->names, path.text, path.length),
    };
    if (!found.name || !found.directory)
        return fail(err, "no memory for the names of directories");
    p->last[p->next++ % IDENTITY_DIRECTORIES] = found;
    *directory = found.directory;
    return 0;
}

/* ---- Files -------------------------------------------------------------- */

/* The identity of a file by its name, or by that of a link, which is not
 * followed. */
static int find_named(struct file_identities *p, const char *name,
                      struct file_identity *identity, struct stat *st,
                      struct err *err)
{
    struct path parts = path_split(name, strlen(name));
    bool dots = parts.nbase <= 2 && memcmp(parts.base, "..", parts.nbase) == 0;
    *identity = (struct file_identity){ .base = "" };
    *st = (struct stat){ 0 };
    if (dots) /* "", "." or "..": a directory */
        return file_identity_directory(p, name, strlen(name),
                                       &identity->directory, err);
    if (file_identity_directory(p, name, parts.ndirectory, &identity->directory,
                                err))
        return -1;
    if (strlen(identity->directory) + 1 + parts.nbase >= PATH_MAX)
        return fail(err, "%.200s...: the name is too long", name);
    identity->base = parts.base;
    identity->nbase = parts.nbase;
    if (lstat(name, st))
        return 0;
    identity->known = S_ISREG(st->st_mode) && st->st_nlink == 1;
    identity->device = st->st_dev;
    identity->inode = st->st_ino;
    return 0;
}

int file_identity_find(struct file_identities *p, const char *name,
                       struct file_identity *identity, struct err *err)
{
    struct path_text path;
    struct stat st;
    if (find_named(p, name, identity, &st, err))
        return -1;
    if (!S_ISLNK(st.st_mode))
        return 0;
    if (resolve_canonical(&path, name, strlen(name), err))
        return -1;
    const char *kept = string_arena_keep(&p->names, path.text, path.length);
    return kept ? find_named(p, kept, identity, &st, err)
                : fail(err, "no memory for the name of a file");
}

int file_identity_compare(const struct file_identity *a,
                          const struct file_identity *b)
{
    if (a->known != b->known)
        return a->known ? 1 : -1;
    if (a->known && a->device != b->device)
        return a->device < b->device ? -1 : 1;
    if (a->known)
        return a->inode == b->inode ? 0 : a->inode < b->inode ? -1 : 1;
    const int order = strcmp(a->directory, b->directory);
    if (order)
        return order;
    if (a->nbase != b->nbase)
        return a->nbase < b->nbase ? -1 : 1;
    return memcmp(a->base, b->base, a->nbase);
}

bool file_identity_is_below(const struct file_identity *identity,
                            const char *directory)
{
    size_t n = strlen(directory);
    return n == 1 ||
           (strncmp(identity->directory, directory, n) == 0 &&
            (identity->directory[n] == '/' || !identity->directory[n]));
}

void file_identities_free(struct file_identities *identities)
{
    string_arena_free(&identities->names);
}
