/* Judges host memory that a call of the driver reads or writes before it returns: by synchronous
 * copies and memsets, and by the part of an asynchronous copy that the driver stages or completes
 * in the call. Such an access is called a touch, like one of the program itself.
 *
 * The touch is compared with the operations in flight on the same bytes, as a touch of the program
 * is (SC201, SC202, SC203, SC403). The order of the call's stream counts: an operation that the
 * stream comes after is done by then. In mode=fix the host waits for the other operations before
 * the call is made, at most stall_limit. An edge in the stream (a wait for an event) would not
 * help, since the driver uses the memory in the call itself and not in the stream.
 *
 * Nothing is reported if the call or the operation comes after work that waits for the host
 * (interpose/streams/unfinished.h): the program may then have ordered the two in a way that the
 * library cannot see.
 *
 * Locks: none may be held. errno is kept. Calls the driver if a conflict is found: not for a signal
 * handler. */

/* Terms (docs/glossary.md):
 *   complete: finished by the device, whether or not the program knows
 *   edge: an order between two pieces of work; the library adds one as a wait for an event
 *   in flight: issued, and the host does not know yet that it is done
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   point: all work issued on a stream so far, with what that work had waited for (its clock)
 *   range: host memory that the driver knows: one allocation or one registration
 *   shape: which bytes an operation uses, row by row
 *   stage: the part of a graph's nodes that one notifier tells the host of
 *   touch: a read or write of host memory by the program, by the kernel for it, or within a call
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_INTERPOSE_CALLS_AT_ONCE_H
#define SC_INTERPOSE_CALLS_AT_ONCE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/op_kinds.h"
#include "common/pages.h"
#include "common/shape.h"
#include "interpose/streams/streams.h"
#include "track/track_presence.h"
#include "track/track_ranges.h"

struct sc_op_info;
struct sc_point;

struct sc_at_once {
    const struct sc_call *call;
    struct sc_stream_record *stream; /* of the call, which is about to be made */
    enum sc_touch touch;
    struct sc_shape shape;
    struct sc_fold fold; /* the gaps within the shape's rows; a pitch of 0: there are none */
    /* a point that the call comes after besides its stream's work; NULL: none */
    const struct sc_point *after;
};

/* Judges a touch with which an operation in flight may conflict: reports the conflicts, and in
 * mode=fix waits for them. `range`: the tracker's range of the touch's first byte, or 0. */
void sc_at_once_judge(const struct sc_at_once *touch, uint32_t range);

/* How the wait for an operation ended. SC_AWAITED: the operation is complete. SC_AWAITS_PROGRAM:
 * the operation comes after work that waits for the program itself, so the wait was given up.
 * SC_OVERDUE: it is not complete by the deadline, and a line on stderr says that the call is made
 * all the same. */
enum sc_awaited { SC_AWAITED, SC_AWAITS_PROGRAM, SC_OVERDUE };

/* Waits, until `deadline_ns` at most, until the device has done the operation, which the call has
 * to come after. Asks the driver at least once. */
enum sc_awaited sc_at_once_await(const struct sc_call *call, const struct sc_op_info *op,
                                 uint64_t deadline_ns);

/* Returns true if no operation on host memory is in flight anywhere. Lock-free. */
static inline bool sc_at_once_is_idle(void)
{
    return !sc_track_has_any(&sc_track, SC_HAS_OPERATIONS);
}

/* Judges a touch: what the call itself reads or writes before it returns. The memory may also be
 * device memory, in which no operation on host memory lies. Lock-free if nothing in flight could
 * conflict. */
static inline void sc_at_once(const struct sc_at_once *touch)
{
    enum sc_direction direction = touch->touch == SC_TOUCH_READ ? SC_H2D : SC_D2H;
    if (sc_at_once_is_idle())
        return;
    uint32_t range = sc_track_find_range(&sc_track, touch->shape.address).range;
    if (sc_unlikely(sc_track_may_conflict(&sc_track, range, direction, touch->stream->id)))
        sc_at_once_judge(touch, range);
}

#endif
