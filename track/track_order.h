/* The tracker's streams, and the order of their work (track/order.h).
 *
 * Locks: every function takes the tracker's lock for itself, unless its comment says "lock-free".
 */

/* Terms (docs/glossary.md):
 *   blocking stream: a stream without CU_STREAM_NON_BLOCKING
 *   complete: finished by the device, whether or not the program knows
 *   due: of a wait: a context was told to wait, and the stream has still to join it
 *   legacy stream: a context's default stream, which is ordered with all its blocking streams
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   point: all work issued on a stream so far, with what that work had waited for (its clock)
 *   source: the memory that a copy reads
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_TRACK_TRACK_ORDER_H
#define SC_TRACK_TRACK_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/checks.h"
#include "common/points.h"

struct sc_comparisons;
struct sc_ops;
struct SC_LOCK sc_track;
extern struct sc_track sc_track; /* the process's own */

/* Adds a stream and returns its id; 0: no memory. `context`: the id of the context's legacy stream;
 * 0 for the legacy stream itself. */
uint32_t sc_track_add_stream(struct sc_track *track, enum sc_stream_kind kind, uint32_t context,
                             uintptr_t handle, int device) SC_EXCLUDES(*track);
void sc_track_remove_stream(struct sc_track *track, uint32_t stream) SC_EXCLUDES(*track);

/* Begin and end a call of the driver that is work on the stream (track/order.h). Each call that has
 * begun is ended once. Lock-free on a non-blocking stream to which nothing is due, and on a
 * blocking stream if the legacy stream had no call since the stream's last one. */
void sc_track_begin_call(struct sc_track *track, uint32_t stream, struct sc_order_call *call)
    SC_EXCLUDES(*track);
/* Returns the point (work issued so far) of all that the call comes after. To be called before the
 * driver is called. */
struct sc_point sc_track_call_point(struct sc_track *track, uint32_t stream,
                                    const struct sc_order_call *call) SC_EXCLUDES(*track);
void sc_track_end_call(struct sc_track *track, struct sc_order_call *call, bool issued)
    SC_EXCLUDES(*track);

/* Returns the point (work issued so far) that a synchronise of this kind would wait for now. To be
 * called before the driver is called. */
struct sc_point sc_track_sync_point(struct sc_track *track, uint32_t stream, enum sc_scope scope)
    SC_EXCLUDES(*track);

/* Notes that work issued on `stream` from now on comes after all that a synchronise of this kind of
 * `other` would wait for. */
void sc_track_note_stream_wait(struct sc_track *track, uint32_t stream, uint32_t other,
                               enum sc_scope scope) SC_EXCLUDES(*track);

/* Returns the event's point (what a wait for the event waits for); empty if it was never recorded.
 */
struct sc_point sc_track_event_point(struct sc_track *track, uintptr_t event) SC_EXCLUDES(*track);
/* Stores the event's point (work issued so far), for a wait by the host; an empty one if the host
 * knows all of it to be done. `behind`: always gets the stream on which the event was recorded, and
 * the point's work_ticks. */
struct sc_behind {
    uint32_t stream; /* 0: not known */
    uint64_t work_ticks;
};
void sc_track_event_work(struct sc_track *track, uintptr_t event, struct sc_point *point,
                         struct sc_behind *behind) SC_EXCLUDES(*track);

/* Does the event stand for a number of one stream alone, which the host knows to be done, so that a
 * wait for it orders no operations? Stores that number. Takes only the event's lock. */
bool sc_track_known_event(struct sc_track *track, uintptr_t event, struct sc_event_number *number);

/* For a point (work issued so far) that the host has just seen done: compares large sources,
 * without the lock. sc_track_note_known follows at once, with the results. The caller has no lock
 * of the library's. */
void sc_track_compare_sources(struct sc_track *track, const struct sc_point *point,
                              struct sc_comparisons *comparisons) SC_EXCLUDES(*track);

/* Notes that the host knows everything in the point (work issued so far) to be done, and releases
 * the point. Stores in `overwritten` the operations whose sources were changed too early; NULL:
 * compares nothing, since the memory is gone. `comparisons`: the results of
 * sc_track_compare_sources, or NULL. */
void sc_track_note_known(struct sc_track *track, struct sc_point *point,
                         const struct sc_comparisons *comparisons, struct sc_ops *overwritten)
    SC_EXCLUDES(*track);
/* Releases a point (work issued so far) that is not used any more. */
void sc_track_release_point(struct sc_track *track, struct sc_point *point) SC_EXCLUDES(*track);

/* Returns the open waits of unseen end (track/unseen.h) that work which is issued on the stream now
 * comes after. `after`: what the work comes after besides; NULL: nothing. Lock-free if no such wait
 * is open anywhere. */
struct sc_unseen_mark sc_track_find_unseen_before(struct sc_track *track, uint32_t stream,
                                                  const struct sc_point *after) SC_EXCLUDES(*track);

/* Begin and end the record of an event, which is a call on the event's stream. Begin stores the
 * point (work issued so far) that the event will stand for. */
void sc_track_begin_record(struct sc_track *track, uint32_t stream, struct sc_order_call *call,
                           struct sc_point *point) SC_EXCLUDES(*track);
void sc_track_end_record(struct sc_track *track, struct sc_order_call *call, bool issued)
    SC_EXCLUDES(*track);
/* Notes that the record has succeeded: the event stands for the point (work issued so far) from now
 * on. Releases the caller's point. */
void sc_track_set_event(struct sc_track *track, uintptr_t event, struct sc_point *point)
    SC_EXCLUDES(*track);

/* A call that makes the stream wait for the event. */
struct sc_wait {
    struct sc_order_call call;
    uintptr_t event;
    uint32_t recorded_on;
};
void sc_track_begin_wait(struct sc_track *track, uint32_t stream, uintptr_t event,
                         struct sc_wait *wait) SC_EXCLUDES(*track);
void sc_track_end_wait(struct sc_track *track, struct sc_wait *wait, bool issued)
    SC_EXCLUDES(*track);

/* Notes that the stream's operations up to `number` were seen complete on the device. */
void sc_track_note_complete(struct sc_track *track, uint32_t stream, uint64_t number)
    SC_EXCLUDES(*track);

#endif
