/* Shared libraries that are loaded when they are needed: to link those of
 * formats that few pictures have would double the time in which the program
 * starts (libtiff brings ten others: 1.0 ms). */
#ifndef CODECS_BASE_SHARED_LIBRARY_H
#define CODECS_BASE_SHARED_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "codecs/base/err.h"

/* A function of a library, and where its address goes. */
struct shared_function {
    const char *name;
    void *at; /* of the pointer to it */
};

struct shared_library {
    const char *soname;  /* "libtiff.so.6" */
    const char *package; /* of Debian, that has it: "libtiff6" */
    const struct shared_function *function;
    size_t nfunctions;
    bool loaded;
    struct err why; /* it could not be loaded */
};

/* Loads the library and fills its functions in, once; the first call must be
 * made while there is one thread. Fails if it is not there, with the name of
 * the package, also where it is called again. */
int shared_library_load(struct shared_library *library, struct err *err);

#endif
