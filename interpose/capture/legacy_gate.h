/* A gate that keeps operations in the legacy stream and beginnings of captures from overlapping, so
 * that an operation knows whether a capture stands in its way.
 *
 * Before an operation in the legacy stream it is asked whether a capture stands in the way. The
 * answer would be wrong if a blocking stream began to capture on another thread between the answer
 * and the operation. So operations pass a gate. Whoever begins such a capture, or joins a blocking
 * stream into one, shuts the gate for as long as that takes.
 *
 * Each side waits for the other for a millisecond at most. An operation may stay within the driver
 * until the device has caught up; by then the driver has long taken the operation.
 *
 * Thread-safe, without locks. Not for a signal handler, since a wait yields the processor. A
 * program that never captures on a blocking stream pays one relaxed load. */
#ifndef SC_INTERPOSE_CAPTURE_LEGACY_GATE_H
#define SC_INTERPOSE_CAPTURE_LEGACY_GATE_H

#include <stdatomic.h>
#include <stdbool.h>

/* Was the gate ever shut? */
extern _Atomic bool sc_legacy_gate_used;

static inline bool sc_legacy_gate_is_used(void)
{
    return __builtin_expect(atomic_load_explicit(&sc_legacy_gate_used, memory_order_relaxed), 0);
}

/* Around an operation, on one thread. */
void sc_legacy_gate_enter(void);
void sc_legacy_gate_leave(void);

/* Around a call that makes a blocking stream capture. */
void sc_legacy_gate_shut(void);
void sc_legacy_gate_open(void);

#endif
