/* The tracker's operations on device memory (track/device.h), and its blocks of device memory
 * (track/allocations.h).
 *
 * Locks: every function takes the tracker's lock for itself, unless its comment says "lock-free".
 */

/* Terms (docs/glossary.md):
 *   flag: a word in host memory by which a kernel tells the host how far it has come
 *   in flight: issued, and the host does not know yet that it is done
 *   legacy stream: a context's default stream, which is ordered with all its blocking streams
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   ticket: the name of an operation: its stream, its number there, and its epoch
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_TRACK_TRACK_DEVICE_H
#define SC_TRACK_TRACK_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/checks.h"

struct sc_allocation;
struct sc_op_info;
struct SC_LOCK sc_track;
extern struct sc_track sc_track; /* the process's own */

/* Notes that the driver has handed out device memory, at once or in a stream's order. Operations in
 * flight there are forgotten, since they are over or the driver orders later work after them.
 * `context`: the id of the legacy stream of its context; 0: not known. */
void sc_track_device_allocated(struct sc_track *track, uintptr_t address, size_t size_bytes,
                               uint32_t context, uint32_t origin) SC_EXCLUDES(*track);

/* Ends a free that sc_allocations_begin_free began, after the driver has answered. `freed`: the
 * driver has taken the memory back. `info`: the free as an operation in a stream's order, to be
 * recorded; its ticket (stream and number) names the stream. NULL: the driver has refused, or the
 * free is not to be recorded. It is not recorded either if the driver has handed the memory out
 * again meanwhile. */
void sc_track_device_end_free(struct sc_track *track, const struct sc_allocation *allocation,
                              bool freed, struct sc_op_info *info) SC_EXCLUDES(*track);

/* Removes from a kernel's addresses those that lie neither in a known block nor where an operation
 * is in flight, and those that were listed before; the order stays. Also removes addresses in
 * blocks that are so small that they may hold flags (track/kernel_flags.h). Returns how many are
 * left. */
unsigned sc_track_device_keep_known(struct sc_track *track, uintptr_t *addresses, unsigned count)
    SC_EXCLUDES(*track);

#endif
