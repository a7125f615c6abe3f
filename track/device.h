/* Operations in flight on device memory: what copies, memsets, stream-ordered allocations and frees
 * do there, until the host knows that they are done. They lie in the index of all operations
 * (track/inflight.h), and conflict by the same rule (track/conflicts.h). Other than those on host
 * memory they are never looked for by their stream, and are forgotten in another way.
 *
 * An operation is forgotten when it is known done, and when a later one stands for it: one that
 * comes after it, has all of its bytes, and does not merely read, or reads as it does, and does not
 * merely possibly take place. Whatever is unordered with the earlier one is then unordered with the
 * later one, too. The latest SC_DEVICE_OPS_MAX are kept.
 *
 * An operation is a struct sc_op_info of kind SC_DEVICE. Its range is 0; it has no guard and no
 * snapshot.
 *
 * Locks: every function needs the owner's lock.
 */
#ifndef SC_TRACK_DEVICE_H
#define SC_TRACK_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sc_inflight;
struct sc_op_info;

enum { SC_DEVICE_OPS_MAX = 1 << 16 };

/* Remembers an operation that was issued. Without memory it is not remembered. */
void sc_device_add(struct sc_inflight *inflight, const struct sc_op_info *info);

/* Operations of the stream behind the number are unseen from now on; or those that were issued at
 * this time are no more. */
void sc_device_unsee(struct sc_inflight *inflight, uint32_t stream, uint64_t number);
void sc_device_see(struct sc_inflight *inflight, uint32_t stream, uint64_t number, uint64_t ticks);

/* The driver hands the memory out, or has taken it back: what was in flight there is done, or the
 * driver itself orders what comes after it. */
void sc_device_forget(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes);

/* All that is issued from now on in these contexts comes after all that was issued in them. What
 * was is forgotten, also for what other contexts do. Named are the ids of legacy streams, 0: none.
 */
void sc_device_forget_of(struct sc_inflight *inflight, const uint32_t *contexts, unsigned count);

#endif
