/* When the copies of hazards really ran: the lines of type `timing` (timeline=1).
 *
 * A hazard is on disk as soon as it is known; what CUPTI recorded of its copy comes later. One
 * thread of ours waits until the copy is complete, has CUPTI hand its records over, and writes the
 * second line. It is a thread apart from the reaper, since that must always answer and a flush
 * waits wherever a driver call of the program's does.
 */
#ifndef SC_INTERPOSE_TIMINGS_H
#define SC_INTERPOSE_TIMINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "track/track.h"

/* Starts the thread. False: there is none. */
bool sc_timings_start(void);

/* There is work for it. Does not wait, also in a callback of CUPTI's. */
void sc_timings_wake(void);

/* A hazard that was written, and the operation that it depends on. Nothing without timeline=1. Does
 * not wait; where too many are awaited already, this one goes without. */
void sc_timings_await(const struct sc_hazard *hazard, const struct sc_ticket *ticket);

/* The process ends: waits, but not long, for what is awaited. */
void sc_timings_stop(void);

/* In a forked child there is no thread. */
void sc_timings_child(void);

uint64_t sc_timings_matched(void);

#endif
