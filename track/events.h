/* What each event of the program stands for: the point of its last record.
 *
 * Threads that record events of their own and wait for them would take turns at the tracker's lock,
 * so each event has a lock of its own. A point with a clock is stored, and replaced, under the
 * tracker's lock as well, which the references of clocks need. Order of locks: the tracker's, then
 * an event's, which is a leaf.
 *
 * An event that is destroyed while another thread names it is unknown to that thread. errno is
 * kept. None of this is for a signal handler.
 */
#ifndef SC_TRACK_EVENTS_H
#define SC_TRACK_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

struct sc_events;
struct sc_order;
struct sc_point;

int sc_events_init(struct sc_events *events); /* 0 or -ENOMEM */

/* ---- without the tracker's lock ---- */

/* The event's point; an empty one if it was never recorded. False: the point has a clock, and is to
 * be asked for under the tracker's lock. */
bool sc_events_plain_point(struct sc_events *events, uintptr_t event, struct sc_point *point);

/* The event stands for the point from now on, or for the one that it has where that was taken later
 * on the same stream: two threads record the event at once. False: it does not yet, as one of the
 * two points has a clock, or the event has no record. sc_events_set does it then. */
bool sc_events_set_plain(struct sc_events *events, uintptr_t event, const struct sc_point *point);

/* The same of the point `number` of a stream without ties (track/track_streams.h). */
bool sc_events_set_simple(struct sc_events *events, uintptr_t event, uint32_t stream,
                          uint64_t number, uint64_t work_ticks);

/* ---- under the tracker's lock ---- */

/* The event's point, without a reference to its clock, which stays there as long as the lock is
 * held. False: it was never recorded. */
bool sc_events_point(struct sc_events *events, uintptr_t event, struct sc_point *point);

/* Ends the point. Without memory the event becomes an unknown one: to wait for it orders nothing.
 */
void sc_events_set(struct sc_events *events, struct sc_order *order, uintptr_t event,
                   struct sc_point *point);

/* Work issued on the stream from now on comes after what the event stands for: the driver has been
 * told so already. */
void sc_events_wait(struct sc_events *events, struct sc_order *order, uint32_t stream,
                    uintptr_t event);

/* The event is no more, or what it stands for is not known. */
void sc_events_forget(struct sc_events *events, struct sc_order *order, uintptr_t event);

#endif
