/* What one job may cost. */
#include "codecs/base/account.h"

#include "codecs/base/clock.h"

enum {
    /* What a small file may take beside that is what its metadata needs: a
     * profile may become 64 MB, and be there twice. */
    MEMORY_OF_FILE = 192 << 20,
    CELLS_OF_FILE = 64 << 20,
    COMPARED = 246 << 20,
    COMPARED_OF_BYTE = 256,
    /* A packet of XMP is read some five times, for each thing that may be
     * in it, and the blocks of a progressive JPEG some ten times. A byte takes
     * a few nanoseconds, so what every file may take is less than a second. */
    WORK_OF_BYTE = 64,
    WORK_OF_PIXEL = 32,
    WORK_OF_FILE = 256 << 20,
};

static _Thread_local struct account *current;

struct account *account_enter(struct account *account)
{
    struct account *before = current;
    current = account;
    return before;
}

struct account *account_current(void)
{
    return current;
}

static uint64_t share_of(uint64_t least, uint64_t file, uint64_t of_byte)
{
    return file > UINT64_MAX / (2 * of_byte) ? UINT64_MAX
                                             : least + of_byte * file;
}

uint64_t account_memory_of(uint64_t file)
{
    return share_of(MEMORY_OF_FILE, file, 2 * ACCOUNT_CELLS_OF_BYTE);
}

uint64_t account_compared_of(uint64_t files)
{
    const uint64_t of_files = share_of(0, files, COMPARED_OF_BYTE);
    return of_files > COMPARED ? of_files : COMPARED;
}

uint64_t account_cells_of(uint64_t file, uint64_t of_byte)
{
    return share_of(CELLS_OF_FILE, file, of_byte);
}

void account_set_time(struct account *account, double seconds)
{
    account->end = seconds ? now() + seconds : 0;
    account->seconds = seconds;
}

void account_allow_file(struct account *account, uint64_t file)
{
    account->work += WORK_OF_FILE + WORK_OF_BYTE * file;
}

void account_allow_pixels(struct account *account, uint64_t pixels)
{
    if (account && account->work)
        account->work += WORK_OF_PIXEL * pixels;
}

/* Returns whether so many more may be looked at after so many. */
static bool has_work(unsigned long long work, unsigned long long spent,
                     uint64_t bytes)
{
    return work == 0 || (spent < work && bytes <= work - spent);
}

static bool spend(struct account *account, uint64_t bytes)
{
    const unsigned long long work = account->work;
    unsigned long long spent = account->spent;
    bool has = true;
    do
        has = has_work(work, spent, bytes);
    while (work && !atomic_compare_exchange_weak(&account->spent, &spent,
                                                 has ? spent + bytes : work));
    return has;
}

static int fail_work(struct err *err)
{
    return fail(err, "it takes more work than a sound file of its size does");
}

int account_spend(struct account *account, uint64_t bytes, struct err *err)
{
    if (account && !spend(account, bytes))
        return fail_work(err);
    return account_check_time(account, err);
}

int account_check_work(const struct account *account, uint64_t bytes,
                       struct err *err)
{
    if (account && !has_work(account->work, account->spent, bytes))
        return fail_work(err);
    return account_check_time(account, err);
}

bool account_look(uint64_t bytes)
{
    return !current || spend(current, bytes);
}

int account_check_time(const struct account *account, struct err *err)
{
    if (!account || account->end == 0 || now() < account->end)
        return 0;
    return fail_unread(err,
                       "it takes more than the %g seconds of --max-seconds",
                       account->seconds);
}

bool account_is_over(void)
{
    return current && current->end > 0 && now() >= current->end;
}
