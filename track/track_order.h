/* The tracker's streams, and what is ordered after what (track/order.h).
 *
 * Locks: every function takes the tracker's lock for itself, unless its comment says "lock-free".
 */
#ifndef SC_TRACK_TRACK_ORDER_H
#define SC_TRACK_TRACK_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/checks.h"
#include "common/points.h"

struct sc_comparisons;
struct sc_ops;
struct SC_LOCK sc_track;
extern struct sc_track sc_track; /* the process's own */

/* `context` is the id of the context's legacy stream, 0 when adding that one. 0: no memory. */
uint32_t sc_track_add_stream(struct sc_track *track, enum sc_stream_kind kind, uint32_t context,
                             uintptr_t handle, int device) SC_EXCLUDES(*track);
void sc_track_remove_stream(struct sc_track *track, uint32_t stream) SC_EXCLUDES(*track);

/* Around a call of the driver that is work on the stream (track/order.h). What the call comes after
 * is asked for before the call is made. Each call that begins is ended once. Lock-free on a
 * non-blocking stream, and on a blocking stream if no legacy call was made since its last call. */
void sc_track_begin(struct sc_track *track, uint32_t stream, struct sc_order_call *call)
    SC_EXCLUDES(*track);
struct sc_point sc_track_call_point(struct sc_track *track, uint32_t stream,
                                    const struct sc_order_call *call) SC_EXCLUDES(*track);
void sc_track_end(struct sc_track *track, struct sc_order_call *call, bool issued)
    SC_EXCLUDES(*track);

/* What a synchronise of this kind waits for, as of now. Taken before the real call. */
struct sc_point sc_track_point(struct sc_track *track, uint32_t stream, enum sc_scope scope)
    SC_EXCLUDES(*track);

/* Work on `stream` from now on comes after what a synchronise of this kind of `other` waits for:
 * the driver has it so. */
void sc_track_put_behind(struct sc_track *track, uint32_t stream, uint32_t other,
                         enum sc_scope scope) SC_EXCLUDES(*track);

struct sc_point sc_track_event_point(struct sc_track *track, uintptr_t event) SC_EXCLUDES(*track);
/* The same for who waits for it: nothing where the host knew all before. `behind`: on which stream
 * the event was recorded, and the point's work_ticks, in any case. */
struct sc_behind {
    uint32_t stream; /* 0: not known */
    uint64_t work_ticks;
};
void sc_track_event_news(struct sc_track *track, uintptr_t event, struct sc_point *point,
                         struct sc_behind *behind) SC_EXCLUDES(*track);

/* The host has seen the point done: compares those sources that take long, without the lock. What
 * is found is for sc_track_known, which follows at once. The caller has no lock of the library's.
 */
void sc_track_compare(struct sc_track *track, const struct sc_point *point,
                      struct sc_comparisons *comparisons) SC_EXCLUDES(*track);

/* Each ends the point. Known: the host has seen the point done. Operations whose sources are found
 * overwritten are stored in `overwritten`. NULL: nothing is compared, since the memory is gone.
 * `comparisons`: what sc_track_compare has found, or NULL. */
void sc_track_known(struct sc_track *track, struct sc_point *point,
                    const struct sc_comparisons *comparisons, struct sc_ops *overwritten)
    SC_EXCLUDES(*track);
void sc_track_forget_point(struct sc_track *track, struct sc_point *point) SC_EXCLUDES(*track);

/* The waits for the host that are not seen (track/unseen.h) behind which stands what is issued now
 * on the stream, and what comes after the point; NULL: none. Lock-free where no such wait is open
 * anywhere. */
struct sc_unseen_mark sc_track_unseen_behind(struct sc_track *track, uint32_t stream,
                                             const struct sc_point *after) SC_EXCLUDES(*track);

/* Around the record of an event, which is a call on its stream. Begin gives the point that the
 * event will stand for. sc_track_set_event says so when the record has succeeded, and ends the
 * point. */
void sc_track_begin_record(struct sc_track *track, uint32_t stream, struct sc_order_call *call,
                           struct sc_point *point) SC_EXCLUDES(*track);
void sc_track_end_record(struct sc_track *track, struct sc_order_call *call, bool issued)
    SC_EXCLUDES(*track);
void sc_track_set_event(struct sc_track *track, uintptr_t event, struct sc_point *point)
    SC_EXCLUDES(*track);

/* Around a call that makes the stream wait for the event. */
struct sc_wait {
    struct sc_order_call call;
    uintptr_t event;
    uint32_t recorded_on;
};
void sc_track_begin_wait(struct sc_track *track, uint32_t stream, uintptr_t event,
                         struct sc_wait *wait) SC_EXCLUDES(*track);
void sc_track_end_wait(struct sc_track *track, struct sc_wait *wait, bool issued)
    SC_EXCLUDES(*track);

/* Everything on the stream up to `number` has been seen complete. */
void sc_track_complete(struct sc_track *track, uint32_t stream, uint64_t number)
    SC_EXCLUDES(*track);

#endif
