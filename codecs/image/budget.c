/* What one file may cost. */
#include "codecs/image/budget.h"

#include "codecs/base/clock.h"

enum {
    /* What a small file may take beside that is what its metadata needs: a
     * profile may become 64 MB, and be there twice. */
    MEMORY_OF_FILE = 192 << 20,
    CELLS_OF_FILE = 64 << 20,
    COMPARED = 246 << 20,
    COMPARED_OF_BYTE = 256,
    /* A packet of XMP is read some twenty times, for each thing that may be
     * in it, and the blocks of a progressive JPEG some ten times. A byte takes
     * a few nanoseconds, so what every file may take is less than a second. */
    WORK_OF_BYTE = 64,
    WORK_OF_PIXEL = 32,
    WORK_OF_FILE = 256 << 20,
};

void budget_begin(struct budget *budget, uint64_t file, double seconds)
{
    *budget = (struct budget){
        .work = WORK_OF_FILE + WORK_OF_BYTE * file,
        .end = seconds ? now() + seconds : 0,
        .seconds = seconds,
    };
}

static uint64_t share_of(uint64_t least, uint64_t file, uint64_t of_byte)
{
    return file > UINT64_MAX / (2 * of_byte) ? UINT64_MAX
                                             : least + of_byte * file;
}

uint64_t budget_memory(uint64_t file)
{
    return share_of(MEMORY_OF_FILE, file, 2 * BUDGET_CELLS_OF_BYTE);
}

uint64_t budget_compared(uint64_t files)
{
    const uint64_t of_files = share_of(0, files, COMPARED_OF_BYTE);
    return of_files > COMPARED ? of_files : COMPARED;
}

uint64_t budget_cells(uint64_t file, uint64_t of_byte)
{
    return share_of(CELLS_OF_FILE, file, of_byte);
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
