/* The parts of a file's name. */
#include "cli/files/path.h"

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
