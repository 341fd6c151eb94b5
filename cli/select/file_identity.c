/* Where a file is, whatever it is called.
 *
 * One table maps names of directories to canonical ones: names as they were
 * spelled, and absolute ones, of which all but the last component is canonical
 * already. A name is resolved from left to right, as the kernel does it, so
 * that a component is looked at once in all. */
#include "cli/select/file_identity.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/select/hash.h"
#include "cli/select/string_arena.h"
#include "cli/select/path.h"

/* Links that are followed on the way to a file, as the kernel has it. What is
 * more counts as no link: it cannot be opened anyway. */
enum { LINKS = 40 };

struct spelled {
    const char *name; /* NULL: the slot is free */
    size_t length;
    uint64_t hash;
    const char *directory;
};

struct file_identities {
    struct string_arena names;
    struct spelled *slot;
    size_t count, slots; /* a power of two */
    const char *here;    /* the current directory */
    const char *root;
    const struct spelled *last; /* what was asked for last: often it is asked
                                   again */
};

static int no_memory(struct err *err)
{
    return fail(err, "no memory for the names of directories");
}

static int too_long(const char *name, size_t length, struct err *err)
{
    return fail(err, "%.*s...: the name is longer than a name can be",
                length < 200 ? (int)length : 200, name);
}

/* ---- The table --------------------------------------------------------- */

static struct spelled *slot_of(const struct file_identities *p,
                               const char *name, size_t length, uint64_t hash)
{
    size_t i = hash & (p->slots - 1);
    while (p->slot[i].name &&
           (p->slot[i].hash != hash || p->slot[i].length != length ||
            memcmp(p->slot[i].name, name, length) != 0))
        i = (i + 1) & (p->slots - 1);
    return &p->slot[i];
}

static int make_room(struct file_identities *p, struct err *err)
{
    struct file_identities wider = *p;
    if (p->count < p->slots / 4 * 3)
        return 0;
    wider.slots = p->slots ? 2 * p->slots : 64;
    wider.slot = calloc(wider.slots, sizeof *wider.slot);
    if (!wider.slot)
        return no_memory(err);
    for (size_t i = 0; i < p->slots; i++) {
        const struct spelled *old = &p->slot[i];
        if (old->name)
            *slot_of(&wider, old->name, old->length, old->hash) = *old;
    }
    free(p->slot);
    *p = wider;
    p->last = NULL;
    return 0;
}

static const char *known(const struct file_identities *p, const char *name,
                         size_t length)
{
    return slot_of(p, name, length, hash_bytes(name, length))->directory;
}

/* From now on this name, which is not known yet, is known as that directory;
 * NULL: as itself, being canonical. Gives the directory, or NULL. */
static const char *learn(struct file_identities *p, const char *name,
                         size_t length, const char *directory, struct err *err)
{
    const char *kept = string_arena_keep(&p->names, name, length);
    if (!kept) {
        no_memory(err);
        return NULL;
    }
    if (make_room(p, err))
        return NULL;
    uint64_t hash = hash_bytes(name, length);
    if (!directory)
        directory = kept;
    *slot_of(p, name, length, hash) =
        (struct spelled){ kept, length, hash, directory };
    p->count++;
    return directory;
}

/* A canonical name, as the pointer that stands for it. */
static const char *canonical(struct file_identities *p, const char *name,
                             size_t length, struct err *err)
{
    const char *directory = known(p, name, length);
    return directory ? directory : learn(p, name, length, NULL, err);
}

/* ---- Resolving --------------------------------------------------------- */

/* What a component is in a canonical directory, as an absolute name. Gives its
 * length; 0: it is too long. */
static size_t put_behind(const char *directory, const char *name, size_t length,
                         char path[PATH_MAX])
{
    size_t n = strlen(directory);
    if (n > 1)
        n++; /* the slash, which the root has */
    if (length >= PATH_MAX - n)
        return 0;
    memcpy(path, directory, n);
    path[n - 1] = '/';
    memcpy(path + n, name, length);
    path[n + length] = '\0';
    return n + length;
}

static const char *parent_of(struct file_identities *p, const char *directory,
                             struct err *err)
{
    struct path path = path_split(directory, strlen(directory));
    return canonical(p, path.directory, path.ndirectory, err);
}

static const char *resolve(struct file_identities *p, const char *at,
                           const char *name, size_t length, int links,
                           struct err *err);

/* One component, from a canonical directory. */
static const char *step(struct file_identities *p, const char *at,
                        const char *name, size_t length, int links,
                        struct err *err)
{
    char path[PATH_MAX], target[PATH_MAX];
    if (length == 1 && *name == '.')
        return at;
    if (length == 2 && memcmp(name, "..", 2) == 0)
        return parent_of(p, at, err);
    size_t n = put_behind(at, name, length, path);
    if (n == 0) {
        too_long(name, length, err);
        return NULL;
    }
    const char *directory = known(p, path, n);
    if (directory)
        return directory;
    ssize_t got = links < LINKS ? readlink(path, target, sizeof target) : -1;
    if (got >= 0) {
        directory = resolve(p, at, target, (size_t)got, links + 1, err);
        if (!directory)
            return NULL;
        const char *again = known(p, path, n); /* links may go in circles */
        if (again)
            return again;
    }
    return learn(p, path, n, directory, err);
}

/* A name, from a canonical directory unless it is absolute. */
static const char *resolve(struct file_identities *p, const char *at,
                           const char *name, size_t length, int links,
                           struct err *err)
{
    const char *end = name + length;
    if (length && *name == '/')
        at = p->root;
    while (at && name < end) {
        const char *slash = memchr(name, '/', (size_t)(end - name));
        size_t n = (size_t)((slash ? slash : end) - name);
        if (n)
            at = step(p, at, name, n, links, err);
        name += n + (slash != NULL);
    }
    return at;
}

int file_identity_directory(struct file_identities *p, const char *name,
                            size_t length, const char **directory,
                            struct err *err)
{
    const struct spelled *last = p->last;
    if (last && last->length == length &&
        memcmp(last->name, name, length) == 0) {
        *directory = last->directory;
        return 0;
    }
    *directory = known(p, name, length);
    if (!*directory) {
        *directory = resolve(p, p->here, name, length, 0, err);
        if (!*directory)
            return -1;
        if (!known(p, name, length) && !learn(p, name, length, *directory, err))
            return -1;
    }
    p->last = slot_of(p, name, length, hash_bytes(name, length));
    return 0;
}

/* ---- Files ------------------------------------------------------------- */

/* The place of a file in or below a canonical directory. */
static int find(struct file_identities *p, const char *at, const char *name,
                size_t length, int links, struct file_identity *place,
                struct err *err)
{
    char path[PATH_MAX], target[PATH_MAX];
    struct path parts = path_split(name, length);
    struct stat st;
    *place = (struct file_identity){ .base = "" };
    bool dots = parts.nbase <= 2 && memcmp(parts.base, "..", parts.nbase) == 0;
    if (dots) { /* "", "." or "..": a directory */
        place->directory = resolve(p, at, name, length, links, err);
        return place->directory ? 0 : -1;
    }
    if (at != p->here)
        place->directory = resolve(p, at, name, parts.ndirectory, links, err);
    else if (file_identity_directory(p, name, parts.ndirectory,
                                     &place->directory, err))
        return -1;
    if (!place->directory)
        return -1;
    if (put_behind(place->directory, parts.base, parts.nbase, path) == 0)
        return too_long(name, length, err);
    place->base = parts.base;
    place->nbase = parts.nbase;
    if (lstat(path, &st))
        return 0;
    place->known = S_ISREG(st.st_mode) && st.st_nlink == 1;
    place->linked = S_ISREG(st.st_mode) && st.st_nlink > 1;
    place->device = st.st_dev;
    place->inode = st.st_ino;
    ssize_t got = S_ISLNK(st.st_mode) && links < LINKS
                      ? readlink(path, target, sizeof target)
                      : -1;
    if (got <= 0)
        return 0;
    const char *kept = string_arena_keep(&p->names, target, (size_t)got);
    if (!kept)
        return no_memory(err);
    return find(p, place->directory, kept, (size_t)got, links + 1, place, err);
}

int file_identity_find(struct file_identities *p, const char *name,
                       struct file_identity *place, struct err *err)
{
    return find(p, p->here, name, strlen(name), 0, place, err);
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

uint64_t file_identity_hash(const struct file_identity *place)
{
    return place->known ? hash_pair(place->device, place->inode)
                        : hash_pair((uintptr_t)place->directory,
                                    hash_bytes(place->base, place->nbase));
}

bool file_identity_shares_inode(const struct file_identity *a,
                        const struct file_identity *b)
{
    return a->linked && b->linked && a->device == b->device &&
           a->inode == b->inode;
}

uint64_t file_identity_inode_hash(const struct file_identity *place)
{
    return hash_pair(place->device, place->inode);
}

bool file_identity_is_below(const struct file_identity *place,
                            const char *directory)
{
    size_t n = strlen(directory);
    return n == 1 || (strncmp(place->directory, directory, n) == 0 &&
                      (place->directory[n] == '/' || !place->directory[n]));
}

/* ---- Beginning and end ------------------------------------------------- */

int file_identity_open(struct file_identities **places, struct err *err)
{
    char here[PATH_MAX];
    struct file_identities *p = *places = calloc(1, sizeof *p);
    if (!p || make_room(p, err))
        return no_memory(err);
    if (!getcwd(here, sizeof here) || *here != '/')
        return fail(err, "the current directory has no name: %s",
                    strerror(errno));
    p->root = canonical(p, "/", 1, err);
    p->here = canonical(p, here, strlen(here), err);
    return p->root && p->here ? 0 : -1;
}

void file_identity_close(struct file_identities *places)
{
    if (!places)
        return;
    string_arena_free(&places->names);
    free(places->slot);
    free(places);
}
