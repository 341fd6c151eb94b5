/* Until when a thread has time. */
#include "codecs/base/clock.h"

static _Thread_local double current;

double clock_set_end(double end)
{
    const double before = current;
    current = end;
    return before;
}

double clock_end(void)
{
    return current;
}

bool clock_is_over(void)
{
    return current > 0 && now() >= current;
}
