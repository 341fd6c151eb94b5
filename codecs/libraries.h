/* The libraries that the codecs are built on, and their versions. */
#ifndef CODECS_LIBRARIES_H
#define CODECS_LIBRARIES_H

#include <stddef.h>

enum { LIBRARIES_MAX = 8 };

struct library {
    const char *name;
    const char *version; /* of the library that runs, where it says so in words;
                            else of the one that this was built with */
};

/* Returns the names of those that are loaded when a picture needs them, with
 * spaces between them; "" if there are none. */
const char *libraries_loaded(void);

/* Fills the list, whose strings are constant. Returns how many there are. */
size_t libraries_list(struct library list[LIBRARIES_MAX]);

#endif
