/* When the copies of hazards really ran: the lines of type `timing` (timeline=1).
 *
 * A hazard is on disk as soon as it is known; what CUPTI recorded of its copy comes later. One
 * thread of ours waits until the copy is complete, has CUPTI hand its records over, and writes the
 * second line. It is a thread apart from the reaper, since that must always answer and a flush
 * waits wherever a driver call of the program's does.
 */
#ifndef SC_INTERPOSE_REAPER_COPY_TIMES_H
#define SC_INTERPOSE_REAPER_COPY_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "track/track.h"

struct sc_ticket;
struct sc_hazard;

/* Starts the thread. False: there is none. */
bool sc_copy_times_start(void);

/* There is work for it. Does not wait, also in a callback of CUPTI's. */
void sc_copy_times_wake(void);

/* A hazard that was written, and the operation that it depends on. Nothing without timeline=1. Does
 * not wait; where too many are awaited already, this one goes without. */
void sc_copy_times_await(const struct sc_hazard *hazard, const struct sc_ticket *ticket);

/* The process ends: waits, but not long, for what is awaited. */
void sc_copy_times_stop(void);

/* In a forked child there is no thread. */
void sc_copy_times_child(void);

uint64_t sc_copy_times_matched(void);

#endif
