/* Where a file is, whatever it is called: by canonical names and inode numbers.
 * A table keeps the canonical name of each directory by the name that it was
 * spelled with, so each is looked for once. */
#include "cli/select/file_identity.h"

#include <limits.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/files/path.h"
#include "cli/files/resolve.h"

struct spelled {
    const char *name;
    size_t length;
    const char *directory; /* its canonical name; NULL: not known yet */
};

static int no_memory(struct err *err)
{
    return fail(err, "no memory for the names of directories");
}

static int too_long(const char *name, size_t length, struct err *err)
{
    return fail(err, "%.*s...: the name is too long",
                length < 200 ? (int)length : 200, name);
}

/* ---- The table ---------------------------------------------------------- */

static int compare_spelled(const void *left, const void *right)
{
    const struct spelled *a = left, *b = right;
    if (a->length != b->length)
        return a->length < b->length ? -1 : 1;
    return memcmp(a->name, b->name, a->length);
}

/* Returns what is known of a name, which is added to the table if it is not
 * there; NULL: no memory. */
static struct spelled *find_spelled(struct file_identities *p, const char *name,
                                    size_t length, struct err *err)
{
    struct spelled key = { .name = name, .length = length };
    struct spelled **found = tfind(&key, &p->spelled, compare_spelled);
    if (found)
        return *found;
    struct spelled *added = malloc(sizeof *added);
    key.name = string_arena_keep(&p->names, name, length);
    if (added)
        *added = key;
    if (added && key.name && tsearch(added, &p->spelled, compare_spelled))
        return added;
    free(added);
    no_memory(err);
    return NULL;
}

/* ---- Canonical names ---------------------------------------------------- */

int file_identity_directory(struct file_identities *p, const char *name,
                            size_t length, const char **directory,
                            struct err *err)
{
    struct path_text path;
    struct spelled *spelled = find_spelled(p, name, length, err);
    if (!spelled)
        return -1;
    if (!spelled->directory) {
        struct spelled *own;
        if (resolve_canonical(&path, name, length, err) ||
            !(own = find_spelled(p, path.text, path.length, err)))
            return -1;
        spelled->directory = own->directory = own->name;
    }
    *directory = spelled->directory;
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
        return too_long(name, strlen(name), err);
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
    return kept ? find_named(p, kept, identity, &st, err) : no_memory(err);
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
    if (a->directory != b->directory)
        return strcmp(a->directory, b->directory);
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
    tdestroy(identities->spelled, free);
}
