/* What one file may cost. */
#include "codecs/image/budget.h"

#include "codecs/base/clock.h"

enum {
    /* DEFLATE makes at most 1032 bytes of one (RFC 1951: a match of 258 bytes
     * takes two bits or more), and a picture is in memory before and after the
     * turn. A progressive JPEG has a bit or more for a block of 128 bytes,
     * which is less by a little. A lower figure would refuse sound files: cells
     * are bytes also where samples are bits, so a drawing of 13,000 x 19,000
     * pixels, black on white, takes 250 MB, twice with its turn, of a file of
     * some 300 KB. What a small file may take without any of this is what its
     * metadata needs: a profile may become 64 MB, and be there twice. */
    MEMORY_OF_BYTE = 2 * 1032,
    MEMORY_OF_FILE = 192 << 20,
    /* A cell of a byte may have been one bit. */
    STORED_OF_BYTE = 8 * 1032,
    /* A packet of XMP is read some twenty times, for each thing that may be
     * in it, and the blocks of a progressive JPEG some ten times. A byte takes
     * a few nanoseconds, so what every file may take is less than a second. */
    WORK_OF_BYTE = 64,
    WORK_OF_PIXEL = 32,
    WORK_OF_FILE = 256 << 20,
};

void budget_begin(struct budget *budget, uint64_t file, unsigned seconds)
{
    *budget = (struct budget){
        .work = WORK_OF_FILE + WORK_OF_BYTE * file,
        .end = seconds ? now() + seconds : 0,
        .seconds = seconds,
    };
}

static uint64_t share_of(uint64_t file, uint64_t of_byte)
{
    return file > UINT64_MAX / (2 * of_byte) ? UINT64_MAX
                                             : MEMORY_OF_FILE + of_byte * file;
}

uint64_t budget_memory(uint64_t file)
{
    return share_of(file, MEMORY_OF_BYTE);
}

uint64_t budget_stored(uint64_t file)
{
    return share_of(file, STORED_OF_BYTE);
}

void budget_allow_pixels(struct budget *budget, uint64_t pixels)
{
    if (budget)
        budget->work += WORK_OF_PIXEL * pixels;
}

/* Returns whether there may be so many more. */
static bool spend(struct budget *budget, uint64_t bytes)
{
    const uint64_t left = budget->work - budget->spent;
    budget->spent += bytes < left ? bytes : left;
    return bytes <= left && left > 0;
}

int budget_spend(struct budget *budget, uint64_t bytes, struct err *err)
{
    if (!budget)
        return 0;
    if (spend(budget, bytes))
        return budget_check_time(budget, err);
    return fail(err, "it takes more work than a sound file of its size does");
}

static _Thread_local struct budget *current;

struct budget *budget_enter(struct budget *budget)
{
    struct budget *before = current;
    if (budget)
        current = budget;
    return before;
}

void budget_leave(struct budget *before)
{
    current = before;
}

bool budget_look(uint64_t bytes)
{
    return !current || spend(current, bytes);
}

void budget_share_time(struct budget *budget, const struct budget *other)
{
    budget->end = other->end;
    budget->seconds = other->seconds;
}

int budget_check_time(const struct budget *budget, struct err *err)
{
    if (!budget || budget->end == 0 || now() < budget->end)
        return 0;
    return fail_unread(err,
                       "it takes more than the %g seconds of --max-seconds",
                       budget->seconds);
}
