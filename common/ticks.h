/* A cheap clock for the path of every copy.
 *
 * Ticks are those of the processor's own counter. They are kept as they are, and turned into
 * nanoseconds when a hazard is reported. Reading the counter costs some 40 ns in the virtual
 * machines that have H200s, as much as a hundred instructions: calls that are made most often take
 * the time that others have read lately (sc_ticks_lately). If the counter's rate is not constant
 * (old x86 processors), times in the report are off. Times of two threads are compared as well
 * (sc_ticks_not_early): the counters of all processors agree wherever the kernel uses them as its
 * own clock. */
#ifndef SC_TOOLS_TICKS_H
#define SC_TOOLS_TICKS_H

#include <stdatomic.h>
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

/* A time that has come, and is known without the counter. 0: the counter has not been read yet. */
extern _Atomic uint64_t sc_ticks_read_lately;

static inline uint64_t sc_ticks_lately(void)
{
    return atomic_load_explicit(&sc_ticks_read_lately, memory_order_relaxed);
}

/* Who has read the counter tells of it here. The word is written seldom, since all threads read it:
 * sc_ticks_lately is late by up to SC_TICKS_LATELY, and by as much as nobody tells. */
enum { SC_TICKS_LATELY = 1 << 20 };
static inline void sc_ticks_note_read(uint64_t now_ticks)
{
    if (__builtin_expect(now_ticks - sc_ticks_lately() > SC_TICKS_LATELY, 0))
        atomic_store_explicit(&sc_ticks_read_lately, now_ticks, memory_order_relaxed);
}

/* Called once, before the other functions. Takes some 50 us to learn the rate. */
void sc_ticks_start(void);

/* How many ticks pass in so many nanoseconds, to about a percent. */
uint64_t sc_ticks_in_ns(uint64_t ns);

/* The moment of `ticks` in nanoseconds of CLOCK_MONOTONIC. */
uint64_t sc_ticks_to_ns(uint64_t ticks);

#endif
