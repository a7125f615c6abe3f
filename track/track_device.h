/* The tracker's operations on device memory (track/device.h), and its allocations.
 *
 * Every function takes the tracker's lock for itself, unless its comment says "lock-free"
 * (track/track.h).
 */
#ifndef SC_TRACK_TRACK_DEVICE_H
#define SC_TRACK_TRACK_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sc_allocation;
struct sc_op_info;
struct sc_ops;
struct sc_track;

/* Operations that conflict with one that is about to be issued on info->ticket.stream. */
void sc_track_device_conflicts(struct sc_track *track, const struct sc_op_info *info,
                               struct sc_ops *conflicts);

/* The driver has accepted one call's uses of device memory, on one stream. They get its number: the
 * first one's ticket names it, or a number of 0 and the place of the call. */
void sc_track_device_issue(struct sc_track *track, struct sc_op_info *infos, unsigned count);

/* What was issued on the stream behind this number conflicts with nothing any more; or what was
 * issued unseen at this time does from now on. */
void sc_track_device_unsee(struct sc_track *track, uint32_t stream, uint64_t number);
void sc_track_device_see(struct sc_track *track, uint32_t stream, uint64_t number, uint64_t ticks);

/* The driver has handed out device memory, at once or in a stream's order: nothing is in flight
 * there. `context`: the id of its context's legacy stream, 0: not known. */
void sc_track_device_allocated(struct sc_track *track, uintptr_t address, size_t size_bytes,
                               uint32_t context, uint32_t origin);

/* The driver has put all that comes in these contexts behind all that they were given so far
 * (sc_device_forget_of). */
void sc_track_device_serialized(struct sc_track *track, const uint32_t *contexts, unsigned count);

/* The memory is about to be given back (sc_allocations_begin_free), and the driver has answered.
 * `info`: what a free in a stream's order does there, whose ticket names the stream; NULL: the free
 * was refused, or is not to be told. It is not remembered where the driver has handed the memory
 * out again meanwhile. */
struct sc_allocation sc_track_device_begin_free(struct sc_track *track, uintptr_t address);
void sc_track_device_end_free(struct sc_track *track, const struct sc_allocation *allocation,
                              bool freed, struct sc_op_info *info);

/* The origin of the block that contains the address, or 0. */
uint32_t sc_track_device_origin(struct sc_track *track, uintptr_t address);

/* Does a block begin there, or is none known that contains the address? */
bool sc_track_device_begins_block(struct sc_track *track, uintptr_t address);

/* How large the block is that begins there; 0: none is known. */
size_t sc_track_device_block_bytes(struct sc_track *track, uintptr_t address);

/* Of a kernel's addresses. Leaves those that lie in a block which is known, or where an operation
 * is, each once, in their order. Returns how many. A block that is taken for flags
 * (track/kernel_flags.h) does not count. */
unsigned sc_track_device_keep_known(struct sc_track *track, uintptr_t *addresses, unsigned count);

/* The context is gone, and its device memory with it. */
void sc_track_device_context_gone(struct sc_track *track, uint32_t context);

#endif
