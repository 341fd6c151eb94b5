/* What a running test calls; see test.h. Its runner is in test_main.c. */
#include "tests/support/test.h"

#include <setjmp.h>
#include <stdarg.h>

unsigned test_checks, test_failures;

static char case_name[200];
static bool skipped; /* something of the running test was */
static bool running;
static jmp_buf end;

bool test_run(void (*run)(void))
{
    test_checks = test_failures = 0;
    *case_name = '\0';
    skipped = false;
    running = true;
    if (setjmp(end) == 0)
        run();
    running = false;
    return skipped;
}

void test_skip(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    printf("skipped: ");
    vprintf(format, arguments);
    putchar('\n');
    va_end(arguments);
    skipped = true;
}

void test_case(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(case_name, sizeof case_name, format, arguments);
    va_end(arguments);
}

void test_fail(const char *file, int line, const char *condition)
{
    test_failures++;
    printf("%s:%d: %s%s%s: ", file, line, case_name, *case_name ? ": " : "",
           condition);
}

_Noreturn void test_end(void)
{
    if (!running)
        abort();
    longjmp(end, 1);
}
