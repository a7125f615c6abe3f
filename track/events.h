/* Keeps for each event of the program what a wait for it orders: the point of its last record
 * (common/points.h).
 *
 * Threads that record and wait for events of their own would take turns at the tracker's lock, so
 * each event has a lock of its own. A point with a clock is stored and replaced with the tracker's
 * lock held as well, which counting a clock's references needs. Order of locks: the tracker's, then
 * an event's, which is a leaf.
 *
 * If an event is destroyed while another thread names it, it is unknown to that thread. errno is
 * kept. No function is safe in a signal handler. */
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
 * lock. False: the point has a clock, and the caller has to ask sc_events_point under the tracker's
 * lock. */
bool sc_events_plain_point(struct sc_events *events, uintptr_t event, struct sc_point *point);

/* The event was recorded, and stands for the point from now on. If its present point is of the same
 * stream and was taken later, that one stays: two threads have recorded the event at once. False:
 * nothing was done, since one of the points has a clock, or the event has no record. sc_events_set
 * does it then. */
bool sc_events_set_plain(struct sc_events *events, uintptr_t event, const struct sc_point *point);

/* Notes that the event was recorded on a stream without ties (track/track_streams.h): it stands for
 * the stream's operations up to `number` from now on. False: nothing was noted, as for
 * sc_events_set_plain. */
bool sc_events_set_simple(struct sc_events *events, uintptr_t event, uint32_t stream,
                          uint64_t number, uint64_t work_ticks);

/* Stores what sc_events_set_simple has noted. False: the event stands for something else, or is not
 * found at once. */
bool sc_events_get_simple(struct sc_events *events, uintptr_t event,
                          struct sc_event_number *number);

/* ---- under the tracker's lock ---- */

/* Stores the event's point, without a reference to its clock, which stays as long as the lock is
 * held. False: the event was never recorded. */
bool sc_events_point(struct sc_events *events, uintptr_t event, struct sc_point *point);

/* The event was recorded, and stands for the point from now on, as sc_events_set_plain says. Ends
 * the point. Without memory the event becomes unknown: a wait for it orders nothing. */
void sc_events_set(struct sc_events *events, struct sc_order *order, uintptr_t event,
                   struct sc_point *point);

/* Notes that work which is issued on the stream from now on comes after what the event stands for
 * (cuStreamWaitEvent). */
void sc_events_note_wait(struct sc_events *events, struct sc_order *order, uint32_t stream,
                         uintptr_t event);

/* Forgets the event: it was destroyed, or what it stands for is not known. */
void sc_events_forget(struct sc_events *events, struct sc_order *order, uintptr_t event);

#endif
