/* A cheap clock, for code that every copy executes.
 *
 * Ticks are those of the processor's counter. They are stored as they are, and converted to
 * nanoseconds when a hazard is reported. Reading the counter takes some 40 ns in the virtual
 * machines that have H200s, as much as a hundred instructions: the calls that are made most often
 * use the time that other calls have read lately (sc_ticks_lately). If the counter's rate is not
 * constant (old x86 processors), times in the report are wrong. Times of two threads are compared
 * as well (sc_ticks_not_early): the counters of all processors agree wherever Linux uses them as
 * its own clock. */

/* Terms (docs/glossary.md):
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 *   ticks: a time of the processor's counter
 */

#ifndef SC_TOOLS_TICKS_H
#define SC_TOOLS_TICKS_H

#include <stdatomic.h>
#include <stdint.h>

/* Returns the processor's counter: a cheap time, only good to compare or to convert. The processor
 * may read it somewhat before or after the instructions around it. */
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

/* Has the processor begin no later instruction of the thread before the earlier ones are done;
 * their stores may not be visible yet. Without this it may execute sc_ticks() some hundred
 * instructions too early, for example while the thread still waits for a lock. */
static inline void sc_ticks_barrier(void)
{
#if defined(__x86_64__)
    __builtin_ia32_lfence();
#elif defined(__aarch64__)
    __asm__ volatile("isb" : : : "memory");
#endif
}

/* Returns ticks for comparing times of two threads, to find which of their calls came first. Not
 * early: not read before earlier instructions of the thread are done. */
static inline uint64_t sc_ticks_not_early(void)
{
    sc_ticks_barrier();
    return sc_ticks();
}

/* Returns ticks for comparing times of two threads. Not late: not read after later instructions of
 * the thread have begun. */
static inline uint64_t sc_ticks_not_late(void)
{
    uint64_t ticks = sc_ticks();
    sc_ticks_barrier();
    return ticks;
}

/* The last time that was recorded by sc_ticks_note_read. 0: the counter has not been read yet. */
extern _Atomic uint64_t sc_ticks_read_lately;

/* Returns a time that some thread has read lately: late by up to SC_TICKS_LATELY, and longer if no
 * call reads the counter. A load instead of some 40 ns. */
static inline uint64_t sc_ticks_lately(void)
{
    return atomic_load_explicit(&sc_ticks_read_lately, memory_order_relaxed);
}

enum { SC_TICKS_LATELY = 1 << 20 };

/* Records a time that the caller has read from the counter. The variable is written seldom, since
 * all threads read it: sc_ticks_lately is late by up to SC_TICKS_LATELY, and by the time since the
 * last call of this function. */
static inline void sc_ticks_note_read(uint64_t now_ticks)
{
    if (__builtin_expect(now_ticks - sc_ticks_lately() > SC_TICKS_LATELY, 0))
        atomic_store_explicit(&sc_ticks_read_lately, now_ticks, memory_order_relaxed);
}

/* Measures the counter's rate, in some 50 us. Called once, before the other functions. */
void sc_ticks_start(void);

/* Returns how many ticks pass in so many nanoseconds, to about a percent. */
uint64_t sc_ticks_in_ns(uint64_t ns);

/* Returns the time of `ticks` in nanoseconds of CLOCK_MONOTONIC. */
uint64_t sc_ticks_to_ns(uint64_t ticks);

#endif
