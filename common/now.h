/* The time. Thread-safe; signal-safe; no lock. */
#ifndef SC_TOOLS_NOW_H
#define SC_TOOLS_NOW_H

#include <stdint.h>

/* CLOCK_MONOTONIC in nanoseconds: exactly, and as of the kernel's last tick, for a third of the
 * cost. */
uint64_t sc_now_ns(void);
uint64_t sc_coarse_now_ns(void);

#endif
