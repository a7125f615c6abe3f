/* Operations in flight on device memory: what copies, memsets, stream-ordered allocations and frees
 * do there, until the host knows that they are done. They are in the index of all operations
 * (track/inflight.h), and conflict by the same rule (track/conflicts.h). Unlike operations on host
 * memory they are in no list of their stream, and are forgotten by another rule.
 *
 * An operation is forgotten when the host knows that it is done, and when a later operation
 * replaces it. A later operation replaces an earlier one if it is ordered after the earlier one and
 * uses all of its bytes. If the later one only reads, the earlier one must only read, too. If the
 * later one may not take place, the earlier one must be uncertain in the same way. Then whatever is
 * unordered with the earlier operation is also unordered with the later one, so nothing is missed.
 * The latest SC_DEVICE_OPS_MAX operations are kept.
 *
 * An operation is a struct sc_op_info of kind SC_DEVICE. Its range is 0; it has no guard and no
 * snapshot.
 *
 * Locks: every function needs the tracker's lock. */

/* Terms (docs/glossary.md):
 *   guard: page protection of the memory of operations in flight
 *   in flight: issued, and the host does not know yet that it is done
 *   legacy stream: a context's default stream, which is ordered with all its blocking streams
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   range: host memory that the driver knows: one allocation or one registration
 *   snapshot: a copy of a small source, which the device reads instead of the source
 *   ticks: a time of the processor's counter
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_TRACK_DEVICE_H
#define SC_TRACK_DEVICE_H

#include <stddef.h>
#include <stdint.h>

struct sc_inflight;
struct sc_op_info;

enum { SC_DEVICE_OPS_MAX = 1 << 16 };

/* Adds an operation that was issued. Without memory it is not added, and its conflicts are missed.
 */
void sc_device_add(struct sc_inflight *inflight, const struct sc_op_info *info);

/* Marks the stream's operations with numbers above `number` as ordered after a wait of the device
 * for the host whose end the library cannot see (SC_UNSURE_WAITS): their order is unknown from now
 * on. */
void sc_device_mark_unseen(struct sc_inflight *inflight, uint32_t stream, uint64_t number);
/* Undoes sc_device_mark_unseen for those of these operations that were issued at `ticks`, since
 * they do not come after the wait. */
void sc_device_clear_unseen(struct sc_inflight *inflight, uint32_t stream, uint64_t number,
                            uint64_t ticks);

/* Forgets all operations on memory that the driver has just handed out or taken back. What was in
 * flight there is done, or the driver itself orders later work after it. */
void sc_device_forget(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes);

/* Forgets all operations that were issued in these contexts, because all later work in them comes
 * after those operations. Work of other contexts is no longer compared with them, either.
 * `contexts`: ids of legacy streams; an id of 0 is ignored. */
void sc_device_forget_of_contexts(struct sc_inflight *inflight, const uint32_t *contexts,
                                  unsigned count);

#endif
