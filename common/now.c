#include "common/now.h"

#include <time.h>

#include "common/poison.h"

/* Returns the clock's time in nanoseconds. clock_gettime makes no system call (vDSO). */
static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Returns the time of a clock that nobody sets back, in nanoseconds. */
uint64_t sc_now_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

/* Returns the time at Linux's last timer tick, some milliseconds ago at most, which takes a third
 * of the time. */
uint64_t sc_coarse_now_ns(void)
{
    return read_clock(CLOCK_MONOTONIC_COARSE);
}
