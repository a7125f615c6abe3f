/* Keeps for each event of the program which work a wait for it waits for: the point that was taken
 * when the event was last recorded. A point is all work issued on a stream so far, with all that
 * this work had waited for (common/points.h). What it had waited for on other streams is the
 * point's clock; most points have none.
 *
 * Each event has a lock of its own, so that threads which record and wait for events of their own
 * do not wait for each other at the tracker's lock. To store or replace a point that has a clock
 * the tracker's lock is needed as well, since it guards the counts of references to clocks. Order
 * of locks: the tracker's, then an event's, which is a leaf.
 *
 * If one thread destroys an event while another one uses it, the other thread finds no record of
 * it. errno is kept. No function is safe in a signal handler. */

/* Terms (docs/glossary.md):
 *   clock: what was waited for on other streams: a number for each of several streams
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   point: all work issued on a stream so far, with what that work had waited for (its clock)
 *   tie: what the next call on a stream may come after besides the stream's own work
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_TRACK_EVENTS_H
#define SC_TRACK_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

struct sc_event_number;
struct sc_events;
struct sc_order;
struct sc_point;

int sc_events_init(struct sc_events *events); /* 0 or -ENOMEM */

/* ---- without the tracker's lock ---- */

/* Stores the event's point; an empty one if the event was never recorded. Takes only the event's
 * lock. Returns false if the point has a clock: the caller then has to call sc_events_point under
 * the tracker's lock. */
bool sc_events_plain_point(struct sc_events *events, uintptr_t event, struct sc_point *point);

/* Stores `point` (all work on a stream when the event was recorded) as what the event stands for.
 * If the present point is of the same stream and was taken later, that one stays: two threads have
 * recorded the event at the same time. Returns false, having done nothing, if one of the points has
 * a clock or the event has no record yet: the caller then has to call sc_events_set. */
bool sc_events_set_plain(struct sc_events *events, uintptr_t event, const struct sc_point *point);

/* Notes that the event was recorded on a stream without ties (which waits for no other stream,
 * track/track_streams.h): it stands for the stream's operations up to `number`. Returns false,
 * having done nothing, where sc_events_set_plain does, and if another thread has the event's lock.
 */
bool sc_events_set_simple(struct sc_events *events, uintptr_t event, uint32_t stream,
                          uint64_t number, uint64_t work_ticks);

/* Stores the number that sc_events_set_simple has noted. False: the event stands for something
 * else, or its record is not found at once. */
bool sc_events_get_simple(struct sc_events *events, uintptr_t event,
                          struct sc_event_number *number);

/* ---- under the tracker's lock ---- */

/* Stores the event's point, without a new reference to its clock: the clock stays as long as the
 * lock is held. Returns false if the event was never recorded. */
bool sc_events_point(struct sc_events *events, uintptr_t event, struct sc_point *point);

/* Stores `point` as what the event stands for, as sc_events_set_plain does, and releases the
 * caller's point. Without memory the event becomes unknown, and a wait for it orders nothing. */
void sc_events_set(struct sc_events *events, struct sc_order *order, uintptr_t event,
                   struct sc_point *point);

/* Notes that work which is issued on the stream from now on comes after what the event stands for
 * (cuStreamWaitEvent). */
void sc_events_note_wait(struct sc_events *events, struct sc_order *order, uint32_t stream,
                         uintptr_t event);

/* Forgets the event: it was destroyed, or what it stands for is no longer known. */
void sc_events_forget(struct sc_events *events, struct sc_order *order, uintptr_t event);

#endif
