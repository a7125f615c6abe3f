/* The tracker's ranges: host memory that the driver knows (allocations and registrations).
 *
 * Locks: every function takes the tracker's lock for itself, unless its comment says "lock-free".
 */

/* Terms (docs/glossary.md):
 *   in flight: issued, and the host does not know yet that it is done
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   origin: the call that made a buffer or a stream, with its stack
 *   range: host memory that the driver knows: one allocation or one registration
 *   source: the memory that a copy reads
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_TRACK_TRACK_RANGES_H
#define SC_TRACK_TRACK_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/checks.h"
#include "common/op_kinds.h"
#include "common/pages.h"

struct SC_LOCK sc_track;
extern struct sc_track sc_track; /* the process's own */

struct sc_range_info {
    uint32_t range; /* 0: there is no range (host memory known to the driver) */
    uintptr_t address;
    size_t size_bytes;
    enum sc_buffer_kind kind;
    uint32_t context;
    enum sc_guarding guarding;
    enum sc_snapshots snapshots;
    uint32_t origin; /* the call that made it (track/origins.h) */
};

/* Notes that the driver hands out memory at these addresses, before it is added as a range (host
 * memory known to the driver). Operations that are still in flight there are dropped: they were of
 * a former owner, as when a context that ends on another thread has freed its memory before the
 * library notices. */
void sc_track_note_allocated(struct sc_track *track, uintptr_t address, size_t size_bytes)
    SC_EXCLUDES(*track);

void sc_track_add_range(struct sc_track *track, uintptr_t address, size_t size_bytes,
                        enum sc_buffer_kind kind, uint32_t context, uint32_t origin)
    SC_EXCLUDES(*track);

/* Returns the range (host memory known to the driver) that contains the address; with range 0 if
 * there is none. Lock-free unless the ranges are being changed. */
struct sc_range_info sc_track_find_range(struct sc_track *track, uintptr_t address)
    SC_EXCLUDES(*track);

/* Returns false only if a call that names the address as device memory cannot mean host memory: no
 * managed memory is known, and the address lies in no range. */
bool sc_track_may_be_host(struct sc_track *track, uintptr_t address) SC_EXCLUDES(*track);

/* Returns the range (host memory known to the driver) with this id as it is now. It has no bytes if
 * the range was removed, and may be another one that has got the id. Lock-free. */
struct sc_range_info sc_track_reread_range(struct sc_track *track, uint32_t range);

/* Returns false only if no operation in flight could conflict with one of this direction and stream
 * in the range (0: in no range). Lock-free. */
bool sc_track_may_conflict(struct sc_track *track, uint32_t range, enum sc_direction direction,
                           uint32_t stream);

/* Returns false only if sc_inflight_seal would find no source when bytes of the range (0: in no
 * range) are written. Pinned memory shares pages with other pinned memory alone, and only if
 * neither has whole pages. Lock-free. */
bool sc_track_may_seal(struct sc_track *track, uint32_t range, enum sc_buffer_kind kind);

#endif
