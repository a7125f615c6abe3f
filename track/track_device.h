/* The tracker's operations on device memory (track/device.h), and its allocations.
 *
 * Locks: every function takes the tracker's lock for itself, unless its comment says "lock-free".
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

/* The driver has handed out device memory, at once or in a stream's order: nothing is in flight
 * there. `context`: the id of its context's legacy stream, 0: not known. */
void sc_track_device_allocated(struct sc_track *track, uintptr_t address, size_t size_bytes,
                               uint32_t context, uint32_t origin) SC_EXCLUDES(*track);

/* The driver has answered to a free that was begun (sc_allocations_begin_free). `info`: what a free
 * in a stream's order does there, whose ticket names the stream; NULL: the free was refused, or is
 * not to be told. It is not remembered where the driver has handed the memory out again meanwhile.
 */
void sc_track_device_end_free(struct sc_track *track, const struct sc_allocation *allocation,
                              bool freed, struct sc_op_info *info) SC_EXCLUDES(*track);

/* Leaves those of a kernel's addresses that lie in a block which is known, or where an operation
 * is, each once, in their order. Returns how many. A block that is taken for flags
 * (track/kernel_flags.h) does not count. */
unsigned sc_track_device_keep_known(struct sc_track *track, uintptr_t *addresses, unsigned count)
    SC_EXCLUDES(*track);

#endif
