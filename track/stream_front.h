/* The front of the tracker's record of a stream, and one word for the whole process: what each call
 * looks at first. A call that finds something rare there takes a slower way. Lock-free, and safe in
 * a signal handler; to change it, the tracker's lock is needed (track/order.h). */

/* Terms (docs/glossary.md):
 *   blocking stream: a stream without CU_STREAM_NON_BLOCKING
 *   in flight: issued, and the host does not know yet that it is done
 *   join: to merge a point into what a stream, another point or the host has waited for
 *   legacy stream: a context's default stream, which is ordered with all its blocking streams
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   signal: a message of the device to the host that the library does not see. Not a Unix signal
 *   tie: what the next call on a stream may come after besides the stream's own work
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_TRACK_STREAM_FRONT_H
#define SC_TRACK_STREAM_FRONT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Rare states of the process in which even a call that does nothing but work on its own stream has
 * to take the slower way. */
enum sc_attends {
    /* the device has told, or may tell, the host something that the library does not see (struct
     * sc_signal) */
    SC_ATTENDS_SIGNALS = 1,
    SC_ATTENDS_MANAGED_SOURCES = 2, /* operations in flight read managed memory */
    /* the device waits for the host, and the library cannot see when that ends (track/unseen.h) */
    SC_ATTENDS_UNSEEN_WAITS = 4,
};

/* The ties of a stream: what its next call may come after besides the stream's own work. */
enum sc_ties {
    /* The next call may come after work on the legacy stream, or on all blocking streams: the
     * stream is a blocking one, or the legacy stream of a context that has or had a blocking one.
     * Whether such work is left on the legacy stream is told by sc_order_is_tied. */
    SC_TIE_KIND = 1,
    /* what its context was told to wait for and the stream has still to come after */
    SC_TIE_DUE = 2,
    SC_TIE_JOINED = 4, /* what the stream itself has waited for */
    /* Nothing that the call comes after. But the device may tell the host something unseen (a
     * signal) anywhere in the process, so the record of an event also takes a number. */
    SC_TIE_SIGNALS = 8,
};

/* The front of the tracker's record of a stream. */
struct sc_stream_front {
    _Atomic uint64_t issued; /* the number of its last operation */
    _Atomic uint32_t ties;   /* enum sc_ties */
};

static inline uint64_t sc_stream_front_issued(const struct sc_stream_front *front)
{
    return atomic_load_explicit(&front->issued, memory_order_acquire);
}

static inline bool sc_stream_front_has_ties(const struct sc_stream_front *front, unsigned ties)
{
    return atomic_load_explicit(&front->ties, memory_order_relaxed) & ties;
}

#endif
