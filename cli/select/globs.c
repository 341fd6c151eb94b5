/* Patterns of names. */
#include "cli/select/globs.h"

#include <fnmatch.h>
#include <limits.h>
#include <string.h>

bool globs_match(const struct globs *globs, const char *name, int flags)
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

/* Copies the first components of a pattern. Returns false if it has no more
 * than these. */
static bool cut(const char *glob, size_t components, char start[PATH_MAX])
{
    const char *at = glob;
    for (; components; components--) {
        at = strchr(at, '/');
        if (!at)
            return false;
        at++;
    }
    size_t length = (size_t)(at - glob) - 1;
    if (length >= PATH_MAX)
        return false;
    memcpy(start, glob, length);
    start[length] = '\0';
    return true;
}

bool globs_reach(const struct globs *globs, const char *directory)
{
    char start[PATH_MAX];
    size_t components = 1;
    for (const char *at = directory; *at; at++)
        components += *at == '/';
    for (unsigned i = 0; i < globs->count; i++)
        if (cut(globs->glob[i], components, start) &&
            fnmatch(start, directory, FNM_PATHNAME | FNM_PERIOD) == 0)
            return true;
    return false;
}
