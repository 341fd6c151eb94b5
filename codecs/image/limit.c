/* What is said of a picture that is larger than a limit. */
#include "codecs/image/limit.h"

#include <inttypes.h>
#include <stdio.h>

#include "codecs/base/account.h"

struct amount {
    char text[24];
};

/* A number as the options take it: "500M". One with many digits is rounded, up
 * or down to what is `enough`, or to what is no more. */
static struct amount amount_of(uint64_t n, uint64_t base, bool enough)
{
    static const char *const units[] = { "", "K", "M", "G" };
    struct amount amount;
    uint64_t unit = 1;
    unsigned i = 0;
    while (i < 3 && n / unit >= 100 * base) {
        unit *= base;
        i++;
    }
    snprintf(amount.text, sizeof amount.text, "%" PRIu64 "%s",
             n / unit + (enough && n % unit), units[i]);
    return amount;
}

int limit_refuse_pixels(uint64_t width, uint64_t height,
                        const struct limits *limits, struct err *err)
{
    if (width > IMAGE_DIMENSION || height > IMAGE_DIMENSION)
        return fail_unread(err,
                           "%" PRIu64 " x %" PRIu64
                           " pixels: a side can have no "
                           "more than %d",
                           width, height, (int)IMAGE_DIMENSION);
    return fail_unread(
        err,
        "%" PRIu64 " x %" PRIu64 " pixels are more than the %s of "
        "--max-pixels; --max-pixels %s allows them",
        width, height, amount_of(limits->pixels, 1000, false).text,
        amount_of(width * height, 1000, true).text);
}

int limit_refuse_frames(uint32_t frames, uint64_t pixels,
                        const struct limits *limits, struct err *err)
{
    return fail_unread(err,
                       "%u frames have %s pixels together, more than the %s of "
                       "--max-pixels; --max-pixels %s allows them",
                       frames, amount_of(pixels, 1000, true).text,
                       amount_of(limits->pixels, 1000, false).text,
                       amount_of(pixels, 1000, true).text);
}

int limit_refuse_memory(const char *what, uint64_t bytes,
                        const struct limits *limits, struct err *err)
{
    const struct amount limit = amount_of(limits->bytes, 1024, false),
                        file = amount_of(limits->file, 1024, false),
                        need = amount_of(bytes, 1024, true);
    if (bytes == UINT64_MAX)
        return fail_unread(err, "%s more memory than can be counted", what);
    if (!limits->file)
        return fail_unread(err,
                           "%s %s bytes, more than the %s of --max-memory; "
                           "--max-memory %s allows them",
                           what, need.text, limit.text, need.text);
    return fail_unread(
        err,
        "%s %s bytes, more than the %s that a file of %s bytes may "
        "take; --max-memory %s allows them",
        what, need.text, limit.text, file.text, need.text);
}

/* At least one byte of so many is there. */
enum { CUT_OF_BYTE = 8 };

int limit_check_cut(uint64_t left, uint64_t need, const struct limits *limits,
                    struct err *err)
{
    if (!limits->file || need <= account_cells_of(left, CUT_OF_BYTE))
        return 0;
    return fail(err,
                "%" PRIu64 " of the %" PRIu64 " bytes of its samples are "
                "there, which --tolerant reads only with --max-memory",
                left, need);
}

int limit_refuse_all(uint64_t file, uint64_t limit, struct err *err)
{
    return fail_unread(
        err,
        "it takes more memory than the %s bytes that a file of %s "
        "bytes may take; a larger --max-memory allows more",
        amount_of(limit, 1024, false).text, amount_of(file, 1024, false).text);
}
