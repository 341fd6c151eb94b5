/* The parts of a file's name. */
#include "cli/files/path.h"

#include <string.h>

#include "cli/files/hash.h"

struct path path_split(const char *name, size_t length)
{
    while (length > 1 && name[length - 1] == '/')
        length--;
    const char *slash = memrchr(name, '/', length);
    size_t at = slash ? (size_t)(slash - name) + 1 : 0;
    struct path path = { name, name + at, at, length - at };
    while (path.ndirectory > 1 && name[path.ndirectory - 1] == '/')
        path.ndirectory--;
    return path;
}

bool path_has(const char *name, const char *component)
{
    size_t length = strlen(component);
    while (*name) {
        size_t n = strcspn(name, "/");
        if (n == length && memcmp(name, component, n) == 0)
            return true;
        name += n;
        name += strspn(name, "/");
    }
    return false;
}

/* ---- Clean names ------------------------------------------------------- */

/* What is left of a name, and what comes after that. */
struct rest {
    const char *at, *then; /* `then` may be NULL */
};

static struct rest rest_of(const char *here, const char *name)
{
    return *name == '/' ? (struct rest){ name, NULL }
                        : (struct rest){ here, name };
}

/* Takes the next component but ".". Returns its length; 0 if there is none. */
static size_t next(struct rest *rest, const char **component)
{
    for (;;) {
        rest->at += strspn(rest->at, "/");
        size_t n = strcspn(rest->at, "/");
        *component = rest->at;
        rest->at += n;
        if (n > 1 || (n == 1 && **component != '.'))
            return n;
        if (n == 1)
            continue;
        if (!rest->then)
            return 0;
        *rest = (struct rest){ rest->then, NULL };
    }
}

int path_compare(const char *here_a, const char *a, const char *here_b,
                 const char *b)
{
    struct rest left = rest_of(here_a, a), right = rest_of(here_b, b);
    const char *one, *two;
    size_t n, m;
    do {
        n = next(&left, &one);
        m = next(&right, &two);
        int order = memcmp(one, two, n < m ? n : m);
        if (order || n != m)
            return order ? order : n < m ? -1 : 1;
    } while (n);
    return 0;
}

uint64_t path_hash(const char *here, const char *name)
{
    struct rest rest = rest_of(here, name);
    const char *component;
    uint64_t hash = 0;
    size_t n;
    while ((n = next(&rest, &component)) > 0)
        hash = hash_pair(hash, hash_bytes(component, n));
    return hash;
}

const char *path_suffix(const char *name)
{
    const char *slash = strrchr(name, '/');
    const char *base = slash ? slash + 1 : name;
    const char *dot = strrchr(base, '.');
    return dot && dot != base ? dot + 1 : "";
}

/* ---- Names that are put together
 * -------------------------------------------------- */

void path_text_set(struct path_text *name, const char *text)
{
    name->length = 0;
    name->cut = false;
    path_text_add(name, text, strlen(text));
}

void path_text_add(struct path_text *name, const char *text, size_t length)
{
    size_t room = sizeof name->text - 1 - name->length;
    if (length > room) {
        name->cut = true;
        length = room;
    }
    memcpy(name->text + name->length, text, length);
    name->length += length;
    name->text[name->length] = '\0';
}
