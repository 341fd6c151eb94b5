/* The parts of a file's name. */
#include "cli/path.h"

#include <string.h>

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
