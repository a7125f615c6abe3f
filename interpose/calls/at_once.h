/* Host memory that a call of the driver reads or writes before it returns: synchronous copies and
 * memsets, and the part of an asynchronous copy that the driver stages or completes in the call.
 *
 * Such a touch is judged against the operations in flight on the same bytes, as a touch of the
 * program's own is (SC201, SC202, SC203, SC403). But the order in the call's stream counts: an
 * operation that the stream comes after is done by then. In mode=fix the host waits for the other
 * operations before the call is made, at most stall_limit. An edge in the stream would be too late,
 * since the driver takes the bytes of pageable memory in the call.
 *
 * Nothing is judged if an order may exist that cannot be seen: if the call or the operation is
 * behind work that waits for the host (interpose/streams/unfinished.h).
 *
 * Locks: none may be held. errno is kept. Calls the driver if something is found: not for a signal
 * handler.
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

enum sc_touch;
struct sc_op_info;
struct sc_point;

struct sc_at_once {
    const struct sc_call *call;
    struct sc_stream_record *stream; /* of the call, which is about to be made */
    enum sc_touch touch;
    struct sc_shape shape;
    struct sc_fold fold;          /* of the shape's rows; a pitch of 0: no gaps */
    const struct sc_point *after; /* the call comes after it as well; NULL: nothing */
};

/* Judges a touch that may conflict with an operation. `range`: of the touch's first byte, or 0. */
void sc_at_once_judge(const struct sc_at_once *touch, uint32_t range);

/* How the wait for an operation ended. SC_AWAITED: the operation is complete. SC_AWAITS_PROGRAM: it
 * is behind something that waits for the program itself. SC_OVERDUE: it is not complete by the
 * deadline, and a line on stderr says that the call goes on. */
enum sc_awaited { SC_AWAITED, SC_AWAITS_PROGRAM, SC_OVERDUE };

/* Waits for an operation that the call is to come after. Asks the device at least once. */
enum sc_awaited sc_at_once_await(const struct sc_call *call, const struct sc_op_info *op,
                                 uint64_t deadline_ns);

/* Is no operation in flight anywhere? Lock-free. */
static inline bool sc_at_once_is_idle(void)
{
    return !sc_track_has_any(&sc_track, SC_HAS_OPERATIONS);
}

/* Judges what a call itself reads or writes before it returns (a touch), against the operations in
 * flight there. The memory may also be the device's, where no operation on host memory lies.
 * Lock-free where nothing in flight could conflict. */
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
