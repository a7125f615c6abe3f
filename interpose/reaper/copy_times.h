/* Writes the `timing` lines of the report (timeline=1): when the copies of hazards really ran.
 *
 * A hazard is on disk as soon as it is known; CUPTI's records of its copy come later. A thread of
 * the library waits until the copy is complete, has CUPTI deliver its records, and writes the
 * `timing` line. It is not the reaper's thread, since a flush of CUPTI waits wherever a driver call
 * would. The same thread has CUPTI deliver its records of managed memory (um=1).
 *
 * Thread-safe, not signal-safe. Locks: one of this module, a leaf. */

/* Terms (docs/glossary.md):
 *   complete: finished by the device, whether or not the program knows
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   reaper: the library's thread that judges hazards, reports them and frees held memory
 *   ticket: the name of an operation: its stream, its number there, and its epoch
 */

#ifndef SC_INTERPOSE_REAPER_COPY_TIMES_H
#define SC_INTERPOSE_REAPER_COPY_TIMES_H

#include <stdbool.h>
#include <stdint.h>

struct sc_ticket;
struct sc_hazard;

/* The receiver of records of managed memory (um=1); NULL: none. While `has_any` returns true, the
 * thread has CUPTI deliver its records every 0.1 s, and then calls `flushed`. A flush takes 10 ms
 * then (docs/driver.md). */
struct sc_copy_times_managed {
    bool (*has_any)(void);
    void (*flushed)(void);
};

/* Starts the thread that waits for CUPTI's records, once CUPTI is on. False: the C library cannot
 * create it. */
bool sc_copy_times_start(struct sc_copy_times_managed who);

/* Enqueues a hazard that is on disk, so that the times of its copy are written. `ticket`: that of
 * the hazard's operation. Does nothing without timeline=1, or if the queue is full. Does not wait.
 */
void sc_copy_times_enqueue(const struct sc_hazard *hazard, const struct sc_ticket *ticket);

/* Waits until the enqueued times are written, 0.4 s at most, at the end of the process. */
void sc_copy_times_stop(void);

/* Called in a child after fork, which has no thread for copies' times: nothing is enqueued
 * there. */
void sc_copy_times_child(void);

/* Returns for how many hazards the times of the copy were written, for the summary. */
uint64_t sc_copy_times_matched(void);

#endif
