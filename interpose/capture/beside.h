/* What a thread issues beside its own capture, which the graph lacks (SC305; track/left_out.h has
 * the rule).
 *
 * While a capture is open, the thread that began it tells of each operation on device memory: of
 * those that the capture takes, and of those that ran at once. What the graph lacks is known when
 * the capture has ended well; of one that failed nothing is said. Nothing is rerouted: neither the
 * program nor the graph is other than without the library.
 *
 * Where the calling thread has no capture open, sc_beside_is_open is one load, and nothing else is
 * to be called but sc_beside_allocated and what ends captures.
 *
 * Thread-safe. Locks: one of its own, a leaf; none may be held where something is reported. errno
 * may change where an operation is told of. Not for a signal handler.
 */
#ifndef SC_INTERPOSE_CAPTURE_BESIDE_H
#define SC_INTERPOSE_CAPTURE_BESIDE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "interpose/base/compiler.h"
#include "interpose/driver/call.h"
#include "interpose/streams/streams.h"
#include "track/left_out.h"

/* Captures that the calling thread began, and that are open as far as it knows. */
extern __thread unsigned sc_beside_own __attribute__((tls_model("initial-exec")));

static inline bool sc_beside_is_open(void)
{
    return sc_unlikely(sc_beside_own != 0);
}

/* The calling thread has begun a capture on the stream, which adds to the graph; 0: the driver does
 * not say to which, and nothing is watched. */
void sc_beside_began(const struct sc_stream_record *stream, uintptr_t graph);

/* The driver has ended the capture that began on the stream, well: what the graph lacks is
 * reported. */
void sc_beside_ended(const struct sc_stream_record *stream);

/* The capture that began on the stream is over, if there is one. Nothing is reported. */
void sc_beside_forget(const struct sc_stream_record *stream);

/* An operation. */
struct sc_beside_op {
    const struct sc_call *call;
    uintptr_t stream; /* its handle */
    int device;
    struct sc_left_out_op does;
};

/* The driver has captured it, for the graph; or it ran at once. */
void sc_beside_captured(const struct sc_beside_op *op, uintptr_t graph);
void sc_beside_issued(const struct sc_beside_op *op);

/* Any thread has allocated device memory, or managed memory. */
void sc_beside_note_allocation(uintptr_t address, size_t size_bytes);

extern _Atomic unsigned sc_beside_count; /* captures that are watched */

static inline void sc_beside_allocated(uintptr_t address, size_t size_bytes)
{
    if (sc_unlikely(atomic_load_explicit(&sc_beside_count, memory_order_relaxed) != 0))
        sc_beside_note_allocation(address, size_bytes);
}

/* Captures and operations, so far, that were not judged for want of room. */
uint64_t sc_beside_unjudged(void);

#endif
