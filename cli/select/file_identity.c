/* Where a file is, whatever it is called: canonical names by realpath(), and
 * inode numbers. A table keeps the canonical name of each directory by the name
 * that it was spelled with, so realpath() is called once for each. */
#include "cli/select/file_identity.h"

#include <errno.h>
#include <limits.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/files/path.h"

/* As many links as the kernel follows on the way to a file. A link beyond them
 * counts as a file: it cannot be opened anyway. */
enum { LINKS_MAX = 40 };

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

/* Puts what a link says in the identity of the first `n` bytes of a name, which
 * name the link. */
static int replace_link(char name[PATH_MAX], size_t n, const char *target,
                        size_t length, struct err *err)
{
    struct path parts = path_split(name, n);
    size_t begin = *target == '/' ? 0 : (size_t)(parts.base - name);
    size_t rest = strlen(name + n) + 1;
    if (begin + length + rest > PATH_MAX)
        return too_long(name, strlen(name), err);
    memmove(name + begin + length, name + n, rest);
    memcpy(name + begin, target, length);
    return 0;
}

/* Appends components to a canonical name, as they will be once they exist. */
static int append(char path[PATH_MAX], const char *name, struct err *err)
{
    size_t size = strlen(path);
    size -= size == 1; /* the slash of "/" */
    while (*(name += strspn(name, "/"))) {
        size_t n = strcspn(name, "/");
        bool dots = n <= 2 && memcmp(name, "..", n) == 0;
        if (dots && n == 2)
            while (size && path[--size] != '/')
                continue;
        if (!dots && size + 1 + n >= PATH_MAX)
            return too_long(name, n, err);
        if (!dots) {
            path[size++] = '/';
            memcpy(path + size, name, n);
            size += n;
        }
        name += n;
    }
    strcpy(path + size, size ? "" : "/");
    return 0;
}

/* Writes the canonical name of what need not exist: realpath() knows the
 * longest part that does, and a link to nothing is what it says. */
static int canonical(const char *spelled, size_t length, char path[PATH_MAX],
                     struct err *err)
{
    char name[PATH_MAX], target[PATH_MAX];
    unsigned links = 0;
    if (length >= PATH_MAX)
        return too_long(spelled, length, err);
    memcpy(name, spelled, length);
    name[length] = '\0';
    for (size_t n = length;;) {
        char then = name[n];
        name[n] = '\0';
        bool found = realpath(n ? name : ".", path) != NULL;
        ssize_t got = !found && n && links < LINKS_MAX
                          ? readlink(name, target, sizeof target)
                          : -1;
        name[n] = then;
        if (found)
            return append(path, name + n, err);
        if (n == 0)
            return fail(err, "the current directory has no name: %s",
                        strerror(errno));
        if (got < 0) {
            n = path_split(name, n).ndirectory;
            continue;
        }
        if (replace_link(name, n, target, (size_t)got, err))
            return -1;
        links++;
        n = strlen(name);
    }
}

int file_identity_directory(struct file_identities *p, const char *name,
                            size_t length, const char **directory,
                            struct err *err)
{
    char path[PATH_MAX];
    struct spelled *spelled = find_spelled(p, name, length, err);
    if (!spelled)
        return -1;
    if (!spelled->directory) {
        struct spelled *own;
        if (canonical(name, length, path, err) ||
            !(own = find_spelled(p, path, strlen(path), err)))
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
    char path[PATH_MAX];
    struct stat st;
    if (find_named(p, name, identity, &st, err))
        return -1;
    if (!S_ISLNK(st.st_mode))
        return 0;
    if (canonical(name, strlen(name), path, err))
        return -1;
    const char *kept = string_arena_keep(&p->names, path, strlen(path));
    return kept ? find_named(p, kept, identity, &st, err) : no_memory(err);
}

bool file_identity_same(const struct file_identity *a,
                        const struct file_identity *b)
{
    if (a->known || b->known)
        return a->known && b->known && a->device == b->device &&
               a->inode == b->inode;
    return a->directory == b->directory && a->nbase == b->nbase &&
           memcmp(a->base, b->base, a->nbase) == 0;
}

uint64_t file_identity_hash(const struct file_identity *identity)
{
    return identity->known
               ? hash_pair(identity->device, identity->inode)
               : hash_pair((uintptr_t)identity->directory,
                           hash_bytes(identity->base, identity->nbase));
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
