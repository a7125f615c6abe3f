/* Operations in flight on device memory: what copies, memsets, stream-ordered allocations and frees
 * do there, until the host knows that they are done. They lie in the index of all operations
 * (track/inflight.h), and conflict by the same rule (track/conflicts.h). Unlike operations on host
 * memory they are in no list of their stream, and are forgotten in another way.
 *
 * An operation is forgotten when it is known done, and when a later one stands for it. A later
 * operation stands for an earlier one that it comes after and of which it has all bytes. It must
 * not merely read, unless the earlier one does so too. It must be certain to take place, unless the
 * earlier one is not certain, either. Whatever is unordered with the earlier one is then unordered
 * with the later one, too. The latest SC_DEVICE_OPS_MAX are kept.
 *
 * An operation is a struct sc_op_info of kind SC_DEVICE. Its range is 0; it has no guard and no
 * snapshot.
 *
 * Locks: every function needs the owner's lock. */
#ifndef SC_TRACK_DEVICE_H
#define SC_TRACK_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sc_inflight;
struct sc_op_info;

enum { SC_DEVICE_OPS_MAX = 1 << 16 };

/* Remembers an operation that was issued. Without memory it is forgotten. */
void sc_device_add(struct sc_inflight *inflight, const struct sc_op_info *info);

/* Marks the stream's operations behind the number as standing behind an unseen wait
 * (SC_UNSURE_WAITS). */
void sc_device_mark_unseen(struct sc_inflight *inflight, uint32_t stream, uint64_t number);
/* Takes the mark of sc_device_mark_unseen away from those of the stream's operations behind the
 * number that were issued at this time. */
void sc_device_clear_unseen(struct sc_inflight *inflight, uint32_t stream, uint64_t number,
                            uint64_t ticks);

/* Forgets all operations on the memory, which the driver hands out or has taken back. What was in
 * flight there is done, or the driver itself orders later work after it. */
void sc_device_forget(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes);

/* Forgets all operations that were issued in these contexts, because all later work in them comes
 * after those; work of other contexts is no longer compared with them, either. `contexts`: ids of
 * legacy streams; 0: none. */
void sc_device_forget_of_contexts(struct sc_inflight *inflight, const uint32_t *contexts,
                                  unsigned count);

#endif
