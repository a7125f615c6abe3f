/* The timeline: when copies and memsets really ran on the device, from CUPTI's activity records.
 *
 * A record comes back in a flush only, which may wait as long as a driver call of the program's
 * does (docs/driver.md, CUPTI): sc_timeline_flush is for a thread of ours that nobody waits for.
 * Memory is bounded: the buffers that CUPTI fills are given out until there is none, and what finds
 * none is dropped and counted; of what came back, the latest 65,536 driver calls are remembered.
 *
 * One client of CUPTI has the records of the whole process, and who registers later takes over
 * buffers too: we leave before a tool registers, and do not come where one was before us.
 *
 * Thread-safe. The callbacks take no lock but the table's, a leaf.
 */
#ifndef SC_CUPTI_HOOKS_TIMELINE_H
#define SC_CUPTI_HOOKS_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "cupti_hooks/subscription.h"

/* CLOCK_MONOTONIC. Of a launch: from its first copy's start to its last one's end. */
struct sc_device_times {
    uint64_t start_ns, end_ns;
};

struct sc_timeline_counts {
    uint64_t records; /* complete ones that came back */
    uint64_t dropped; /* for want of a buffer, or incomplete when we left */
};

/* Before there is a context: with one, this would wait for its work. `starves` is called on a
 * thread of the program's, inside of a driver call, when half of the buffers are given out; it may
 * wake a thread and no more. */
enum sc_cupti_state sc_timeline_start(void *library,
                                      void *(*symbol)(void *handle, const char *name),
                                      void (*starves)(void));

/* UNUSED until it was tried. Never waits. */
enum sc_cupti_state sc_timeline_state(void);

/* It cannot be tried. */
void sc_timeline_fail(void);

/* Has every complete record come back, but for those that share a buffer with one that is not
 * complete. With `all` those too, at the price of the incomplete ones. */
void sc_timeline_flush(bool all);

/* Can a record still come? */
bool sc_timeline_is_on(void);

/* Are half of the buffers given out? */
bool sc_timeline_starves(void);

/* False: its record has not come back, or not been kept. Those of one driver call come back
 * together once all of it is complete. */
bool sc_timeline_find(uint32_t correlation_id, struct sc_device_times *times);

/* Another tool registers for records: when this returns, CUPTI has nothing of ours. True if we have
 * left for it just now. */
bool sc_timeline_yield(void);

/* The process ends: no buffer is given out any more. CUPTI is not called, and what came is still
 * found. */
void sc_timeline_stop(void);

/* In a forked child, where a flush would wait for ever. */
void sc_timeline_child(void);

void sc_timeline_get_counts(struct sc_timeline_counts *counts);

#endif
