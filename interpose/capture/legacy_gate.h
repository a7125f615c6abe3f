/* A gate that keeps operations on the legacy stream from overlapping with beginnings of captures,
 * so that it is known of each operation whether a capture stands in its way.
 *
 * Before an operation on the legacy stream, the library looks for a capture that the operation
 * would break. The answer would be wrong if another thread began a capture on a blocking stream
 * between this check and the operation. So operations pass a gate, and a thread that begins such a
 * capture, or joins a blocking stream into one, shuts the gate meanwhile.
 *
 * Each side waits for the other for a millisecond at most: an operation may stay in the driver
 * until the device has caught up, but the driver has taken it long before.
 *
 * Thread-safe, without locks. Not for a signal handler, since a wait yields the processor. A
 * program that never captures on a blocking stream pays one relaxed load. */

/* Terms (docs/glossary.md):
 *   blocking stream: a stream without CU_STREAM_NON_BLOCKING
 *   gate: what keeps operations of the legacy stream and beginnings of captures apart
 *   legacy stream: a context's default stream, which is ordered with all its blocking streams
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   pay: to make the wait that a stream owes
 */

#ifndef SC_INTERPOSE_CAPTURE_LEGACY_GATE_H
#define SC_INTERPOSE_CAPTURE_LEGACY_GATE_H

#include <stdatomic.h>
#include <stdbool.h>

/* Has the gate ever been shut? Until then operations on the legacy stream do not enter it. */
extern _Atomic bool sc_legacy_gate_used;

static inline bool sc_legacy_gate_is_used(void)
{
    return __builtin_expect(atomic_load_explicit(&sc_legacy_gate_used, memory_order_relaxed), 0);
}

/* Enter and leave the gate around an operation, on one thread. Enter waits while the gate is shut.
 */
void sc_legacy_gate_enter(void);
void sc_legacy_gate_leave(void);

/* Shut and open the gate around a call that makes a blocking stream capture. Shut waits for
 * operations within. */
void sc_legacy_gate_shut(void);
void sc_legacy_gate_open(void);

#endif
