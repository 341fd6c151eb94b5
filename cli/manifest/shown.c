/* Whether a file shows the picture that a line of a manifest says was made. */
#include "cli/manifest/shown.h"

#include <string.h>

bool shown_as_made(const struct entry *entry, struct root *root,
                   const char *name, const struct options *opts)
{
    struct result result;
    char digest[DIGEST_TEXT];
    struct err unheard;
    return entry->shown &&
           job_check_sound(name, root, opts, NULL, NULL, &result, digest,
                           &unheard) == SOUND &&
           strcmp(digest, entry->shown) == 0;
}

bool shown_tells(const struct entry *entry)
{
    return entry->shown && entry->shown_before &&
           strcmp(entry->shown, entry->shown_before) != 0;
}
