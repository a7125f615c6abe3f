/* A cheap clock for the path of every copy.
 *
 * Reading CLOCK_MONOTONIC costs 20 ns on the H200's host and drains the pipeline; the processor's
 * own counter costs half. Ticks are kept as they are, and turned into nanoseconds when a hazard is
 * reported. If the counter's rate is not constant (old x86 processors), times in the report are
 * off. Times of two threads are compared as well (sc_ticks_not_early): the counters of all
 * processors agree wherever the kernel uses them as its own clock. */
#ifndef SC_TOOLS_TICKS_H
#define SC_TOOLS_TICKS_H

#include <stdint.h>

static inline uint64_t sc_ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
#error "which counter has this processor?"
#endif
}

/* No later instruction of the thread begins before the earlier ones are done, though their stores
 * may not be seen yet. Without it the processor may take sc_ticks() some hundred instructions too
 * early, while a lock is still waited for. */
static inline void sc_ticks_barrier(void)
{
#if defined(__x86_64__)
    __builtin_ia32_lfence();
#elif defined(__aarch64__)
    __asm__ volatile("isb" : : : "memory");
#endif
}

/* Ticks for comparing times of two threads, to tell which of their calls came first. Not early: not
 * taken before earlier instructions of the thread are done. */
static inline uint64_t sc_ticks_not_early(void)
{
    sc_ticks_barrier();
    return sc_ticks();
}

/* Ticks for comparing times of two threads. Not late: not taken after later instructions of the
 * thread have begun. */
static inline uint64_t sc_ticks_not_late(void)
{
    uint64_t ticks = sc_ticks();
    sc_ticks_barrier();
    return ticks;
}

/* Called once, before the other functions. Takes some 50 us to learn the rate. */
void sc_ticks_start(void);

/* How many ticks pass in so many nanoseconds, to about a percent. */
uint64_t sc_ticks_in_ns(uint64_t ns);

/* The moment of `ticks` in nanoseconds of CLOCK_MONOTONIC. */
uint64_t sc_ticks_to_ns(uint64_t ticks);

#endif
