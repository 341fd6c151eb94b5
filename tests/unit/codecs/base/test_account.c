/* What a file may cost, by a clock that only this test moves. */
#include "codecs/base/account.h"

#include <stdatomic.h>
#include <time.h>

#include "tests/support/test.h"

/* Takes the place of the system's: each time somebody looks it is a second
 * later. */
static atomic_int seconds;

int clock_gettime(clockid_t clock, struct timespec *t)
{
    (void)clock;
    *t = (struct timespec){ .tv_sec = atomic_fetch_add(&seconds, 1) + 1 };
    return 0;
}

/* Returns an account whose time is over when the clock is read for the nth time
 * from now on. */
static struct account account_of_looks(unsigned n)
{
    struct account account = { .work = 0 };
    account_set_time(&account, n);
    return account;
}

TEST(time_is_over_and_stays_so)
{
    struct err err = { .text = "" };
    struct account account = account_of_looks(3);
    CHECK(account_check_time(&account, &err) == 0, "1 of 3");
    CHECK(account_check_time(&account, &err) == 0, "2 of 3");
    for (int i = 0; i < 3; i++)
        CHECK(account_check_time(&account, &err), "3 of 3, and later");
    CHECK(strcmp(err.text,
                 "it takes more than the 3 seconds of --max-seconds") == 0,
          "%s", err.text);
    CHECK(account_spend(&account, 1, &err), "work takes time, too");
    CHECK(account_check_time(NULL, &err) == 0, "no account");
}

TEST(work_is_over_and_stays_so)
{
    struct err err = { .text = "" };
    struct account account = { .work = 0 };
    CHECK(account_spend(&account, UINT64_MAX, &err) == 0, "no limit");
    account_allow_file(&account, 1000);
    const uint64_t work = account.work;
    CHECK(account_spend(&account, work - 1, &err) == 0, "all but one");
    CHECK(account_check_work(&account, 1, &err) == 0, "one is left");
    CHECK(account_check_work(&account, 2, &err), "not two");
    CHECK(account_spend(&account, 2, &err), "one too many");
    CHECK(account_spend(&account, 1, &err), "and from then on");
    account_allow_pixels(&account, 10);
    CHECK(account_spend(&account, 1, &err) == 0, "pixels allow more");
    CHECK(account_spend(NULL, UINT64_MAX, &err) == 0, "no account");
}

TEST(looks)
{
    struct err err;
    struct account account = { .work = 0 };
    CHECK(account_look(UINT64_MAX), "no account");
    account_allow_file(&account, 0);
    struct account *before = account_enter(&account);
    CHECK(before == NULL && account_current() == &account, "it is entered");
    CHECK(account_look(account.work - 1), "all but one");
    CHECK(account_spend(&account, 0, &err) == 0, "one is left");
    CHECK(!account_look(2) && !account_look(0), "and from then on");
    CHECK(account_spend(&account, 0, &err), "a failure");
    account_enter(before);
    CHECK(account_look(1), "no account again");
}
