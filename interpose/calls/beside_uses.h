/* Notes what copies, memsets and kernels of the calling thread do with device memory, for its open
 * captures (capture/beside.h): operations that a capture takes into its graph, and operations that
 * run at once beside it.
 *
 * `is_detour`: the call was made in a private stream because a capture would have been broken by
 * it, which is reported already.
 *
 * Pre: sc_beside_needs_calls(), and the driver has accepted the call. Locks: none may be held.
 * errno is kept. Asks the driver about a kernel's parameters: not for a signal handler. */

/* Terms (docs/glossary.md):
 *   beside: of work: issued by the capturing thread during a capture, and run at once
 *   open capture: a capture that has begun and not ended
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 */

#ifndef SC_INTERPOSE_CALLS_BESIDE_USES_H
#define SC_INTERPOSE_CALLS_BESIDE_USES_H

#include <stdbool.h>

struct sc_call;
struct sc_device_uses;
struct sc_graph_call;
struct sc_launch;
struct sc_stream_record;

/* Notes a copy or memset that a capture has added to its graph. Called on the capturing thread. */
void sc_beside_uses_note_captured(const struct sc_graph_call *call,
                                  const struct sc_device_uses *uses);

/* Notes a copy or memset that was issued on a stream that does not capture. `is_async`: by an
 * asynchronous call. */
void sc_beside_uses_note_issued(const struct sc_call *call, const struct sc_stream_record *stream,
                                const struct sc_device_uses *uses, bool is_async, bool is_detour);

/* Notes a kernel that was launched, into a capture or beside one. */
void sc_beside_uses_note_launched(const struct sc_call *call, const struct sc_launch *launch,
                                  bool is_detour);

#endif
