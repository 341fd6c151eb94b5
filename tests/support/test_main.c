/* The runner of the tests in C; see test.h. */
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/test.h"

static struct test *tests, **tests_end = &tests;
static void (*set_up_tests)(void), (*tear_down_tests)(void);

/* What the program is in, NULL outside of tests: in memory that the process
 * that runs the tests shares with the one that waits for it. */
static const char **running;

void test_add(struct test *test)
{
    *tests_end = test;
    tests_end = &test->next;
}

void test_add_set_up(void (*set_up)(void))
{
    set_up_tests = set_up;
}

void test_add_tear_down(void (*tear_down)(void))
{
    tear_down_tests = tear_down;
}

/* Whether the name contains one of the words, which end with a NULL. With no
 * words, all do. */
static bool is_wanted(const char *name, char **words)
{
    if (!*words)
        return true;
    for (; *words; words++)
        if (strstr(name, *words))
            return true;
    return false;
}

static unsigned count_wanted(char **words)
{
    unsigned count = 0;
    for (const struct test *test = tests; test; test = test->next)
        count += is_wanted(test->name, words);
    return count;
}

/* Runs a test, says how it ended, and returns whether it is a failure. */
static bool run(const struct test *test)
{
    *running = test->name;
    const bool idle = !test_run(test->run) && !test_checks;
    *running = NULL;
    if (test_failures)
        printf("FAIL %s: %u of %u checks\n", test->name, test_failures,
               test_checks);
    else if (idle)
        printf("FAIL %s: it checked nothing\n", test->name);
    else
        printf("pass %s\n", test->name);
    return test_failures || idle;
}

/* Runs what is before or after the tests; returns whether a check failed. */
static bool run_outside(const char *name, void (*function)(void))
{
    test_failures = 0;
    *running = name;
    if (function)
        test_run(function);
    *running = NULL;
    return test_failures;
}

static int run_wanted(char **words)
{
    unsigned passed = 0, failed = run_outside("set_up", set_up_tests);
    for (const struct test *test = tests; test; test = test->next) {
        if (!is_wanted(test->name, words))
            continue;
        if (run(test))
            failed++;
        else
            passed += test_checks > 0;
    }
    failed += run_outside("tear_down", tear_down_tests);
    printf("%u passed, %u failed\n", passed, failed);
    return failed > 0;
}

/* The tests run in a child process. If a signal, a sanitizer or exit() ends
 * it, the parent says which test was running. */
int main(int argc, char **argv)
{
    int status;
    (void)argc;
    if (!count_wanted(argv + 1)) {
        fprintf(stderr, "%s: no test has such a name\n", argv[0]);
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    running = mmap(NULL, sizeof *running, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child = running == MAP_FAILED ? -1 : fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        exit(run_wanted(argv + 1));
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
        perror(argv[0]);
        return 1;
    }
    if (*running)
        printf("FAIL %s: it ended the program\n", *running);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status)
           : *running          ? 1
                               : WEXITSTATUS(status);
}
