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

/* The driver has handed out device memory, at once or in a stream's order. What was in flight there
 * is forgotten. `context`: the id of its context's legacy stream; 0: not known. */
void sc_track_device_allocated(struct sc_track *track, uintptr_t address, size_t size_bytes,
                               uint32_t context, uint32_t origin) SC_EXCLUDES(*track);

/* Notes the driver's answer to a free that was begun (sc_allocations_begin_free). `info`: the free
 * as an operation in a stream's order, whose ticket names the stream; NULL: it was refused, or is
 * not to be noted. It is not noted either if the driver has handed the memory out again
 * meanwhile. */
void sc_track_device_end_free(struct sc_track *track, const struct sc_allocation *allocation,
                              bool freed, struct sc_op_info *info) SC_EXCLUDES(*track);

/* Keeps, of a kernel's addresses, those that lie in a known block or where an operation is, each
 * once and in their order. Returns how many. Addresses in blocks so small that they may hold flags
 * (track/kernel_flags.h) are not kept. */
unsigned sc_track_device_keep_known(struct sc_track *track, uintptr_t *addresses, unsigned count)
    SC_EXCLUDES(*track);

#endif
