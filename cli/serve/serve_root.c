/* The directory that the names of jobs are confined to. */
#include "cli/serve/serve_root.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int serve_root_open(struct serve_root *root, const char *name, struct err *err)
{
    *root = (struct serve_root){ .path = realpath(name, NULL) };
    if (!root->path)
        return fail(err, "%s", strerror(errno));
    if (root_open(&root->root, name, false, err) == 0 &&
        atomic_load(&root->root.fd) >= 0)
        return 0;
    serve_root_close(root);
    return -1;
}

void serve_root_close(struct serve_root *root)
{
    root_close(&root->root);
    free(root->path);
    root->path = NULL;
}

/* What follows a directory in a name, or NULL. */
static const char *behind(const char *name, const char *directory)
{
    size_t n = strlen(directory);
    while (n && directory[n - 1] == '/')
        n--;
    if (strncmp(name, directory, n) != 0 || name[n] != '/')
        return NULL;
    name += n + strspn(name + n, "/");
    return *name ? name : ".";
}

const char *serve_root_below(const struct serve_root *root, const char *name)
{
    const char *below = NULL;
    if (*name != '/')
        return name;
    if (*root->root.name == '/')
        below = behind(name, root->root.name);
    if (!below)
        below = behind(name, root->path);
    return below ? below : name;
}
