/* Files that end early. */
#include "codecs/simple/simple.h"

void simple_warn_cut(const struct load_opts *opts)
{
    warn(opts->warnings, "cut short, read as far as it goes");
}

int simple_check_size(size_t left, uint64_t need, const struct load_opts *opts,
                      struct err *err)
{
    if (left >= need)
        return 0;
    if (!opts->tolerant)
        return fail(err, "the image data is cut short: %zu bytes of %llu", left,
                    (unsigned long long)need);
    simple_warn_cut(opts);
    return 0;
}
