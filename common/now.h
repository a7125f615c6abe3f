/* Returns the present time. Thread-safe; signal-safe; no lock. */
#ifndef SC_TOOLS_NOW_H
#define SC_TOOLS_NOW_H

#include <stdint.h>

/* Return CLOCK_MONOTONIC in nanoseconds. The second function is only as exact as Linux's timer tick
 * (some milliseconds), and takes a third of the time. */
uint64_t sc_now_ns(void);
uint64_t sc_coarse_now_ns(void);

#endif
