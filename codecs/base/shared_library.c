/* Shared libraries that are loaded when they are needed. */
#include "codecs/base/shared_library.h"

#include <dlfcn.h>
#include <string.h>

static int load(struct shared_library *library, struct err *err)
{
    void *handle = dlopen(library->soname, RTLD_LAZY | RTLD_LOCAL);
    if (!handle)
        return fail_unread(err, "%s is missing: install the package %s",
                           library->soname, library->package);
    for (size_t i = 0; i < library->nfunctions; i++) {
        const struct shared_function *function = &library->function[i];
        void *address = dlsym(handle, function->name);
        if (!address) {
            dlclose(handle);
            return fail_unread(err,
                               "%s has no function %s: update the package "
                               "%s",
                               library->soname, function->name,
                               library->package);
        }
        memcpy(function->at, &address, sizeof address);
    }
    library->loaded = true;
    return 0;
}

int shared_library_load(struct shared_library *library, struct err *err)
{
    if (library->loaded)
        return 0;
    if (!*library->why.text)
        load(library, &library->why);
    if (library->loaded)
        return 0;
    *err = library->why;
    return -1;
}
