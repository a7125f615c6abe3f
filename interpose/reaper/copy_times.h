/* Writes the `timing` lines (timeline=1): when the copies of hazards really ran. The same thread
 * has CUPTI hand over its records of managed memory (um=1).
 *
 * A hazard is on disk as soon as it is known; what CUPTI recorded of its copy comes later. A thread
 * of the library's waits until the copy is complete, has CUPTI hand over its records, and writes
 * the `timing` line. That thread is not the reaper: the reaper must always answer, and a flush
 * waits wherever a driver call of the program's would.
 *
 * Thread safe, not signal safe. Locks: one of the module's own, a leaf. */
#ifndef SC_INTERPOSE_REAPER_COPY_TIMES_H
#define SC_INTERPOSE_REAPER_COPY_TIMES_H

#include <stdbool.h>
#include <stdint.h>

struct sc_ticket;
struct sc_hazard;

/* Who wants records of managed memory (um=1); NULL: nobody. While `has_any` is true, the thread has
 * CUPTI hand over its records every 0.1 s, and then calls `flushed`. A flush takes 10 ms then
 * (docs/driver.md). */
struct sc_copy_times_managed {
    bool (*has_any)(void);
    void (*flushed)(void);
};

/* Starts the thread. False: the system gives none. */
bool sc_copy_times_start(struct sc_copy_times_managed who);

/* Has the times of a hazard's copy written; the hazard is on disk, and `ticket` is that of its
 * operation. Does nothing without timeline=1, or if too many hazards are awaited already. Does not
 * wait. */
void sc_copy_times_enqueue(const struct sc_hazard *hazard, const struct sc_ticket *ticket);

/* The process ends: waits until the awaited times are written, 0.4 s at most. */
void sc_copy_times_stop(void);

/* In a forked child: there is no thread. */
void sc_copy_times_child(void);

/* How many `timing` lines were written. */
uint64_t sc_copy_times_matched(void);

#endif
