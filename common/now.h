/* The present time. Thread-safe; signal-safe; no lock. */
#ifndef SC_TOOLS_NOW_H
#define SC_TOOLS_NOW_H

#include <stdint.h>

/* CLOCK_MONOTONIC in nanoseconds. The second function is exact only to the kernel's last tick, and
 * costs a third. */
uint64_t sc_now_ns(void);
uint64_t sc_coarse_now_ns(void);

#endif
