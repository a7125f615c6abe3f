/* A host function that holds a stream up for BUSY_MS, which who includes this has defined, and
 * whether a call has waited for it. What is over tells that, and not the clock: a loaded machine
 * answers alike (tests/patience.h). */
#ifndef SC_TESTS_GPU_HELD_UP_H
#define SC_TESTS_GPU_HELD_UP_H

#include "tests/patience.h"

#include <stdatomic.h>

static atomic_uint over; /* how many of them are */

static void hold_up(void *unused)
{
    (void)unused;
    sleep_patiently(BUSY_MS * 1000);
    atomic_fetch_add(&over, 1);
}

/* Of a call, before which `over` was so many. */
static inline const char *waited(unsigned over_before)
{
    return atomic_load(&over) != over_before ? "blocks" : "at once";
}

/* Work that nothing holds up is done within this pause, in which no stream's time is over. */
static inline void pause_briefly(void)
{
    sleep_patiently(BUSY_MS * 1000 / 4);
}

#endif
