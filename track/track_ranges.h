/* The tracker's ranges: host memory that the driver knows.
 *
 * Locks: every function takes the tracker's lock for itself, unless its comment says "lock-free".
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
    uint32_t range; /* 0: there is no range */
    uintptr_t address;
    size_t size_bytes;
    enum sc_buffer_kind kind;
    uint32_t context;
    enum sc_guarding guarding;
    enum sc_snapshots snapshots;
    uint32_t origin; /* track/origins.h */
};

/* The driver hands out new memory. Its former owner is gone, and operations in flight there are
 * dropped: a context that ends on another thread frees its memory before the library hears of that.
 * `again`: memory that was unregistered is registered again, so graphs' uses of it are valid again.
 */
void sc_track_note_allocated(struct sc_track *track, uintptr_t address, size_t size_bytes,
                             bool again) SC_EXCLUDES(*track);

void sc_track_add_range(struct sc_track *track, uintptr_t address, size_t size_bytes,
                        enum sc_buffer_kind kind, uint32_t context, uint32_t origin)
    SC_EXCLUDES(*track);

/* The range that contains the address; of id 0: none. Lock-free unless a change is under way. */
struct sc_range_info sc_track_find_range(struct sc_track *track, uintptr_t address)
    SC_EXCLUDES(*track);

/* May a call that names the address as the device's mean host memory? It cannot if no managed
 * memory is known and the address lies in no range. */
bool sc_track_may_be_host(struct sc_track *track, uintptr_t address) SC_EXCLUDES(*track);

/* The range with this id as it is now. It may have been removed (then it has no bytes), and another
 * one may have its id. Lock-free. */
struct sc_range_info sc_track_reread_range(struct sc_track *track, uint32_t range);

/* Could an operation of this direction and stream on the range (0: on no range) conflict with one
 * in flight? False only if there is nothing to conflict with. Lock-free. */
bool sc_track_may_conflict(struct sc_track *track, uint32_t range, enum sc_direction direction,
                           uint32_t stream);

/* May sc_inflight_seal find sources when bytes of the range (0: on no range) are written? Pinned
 * memory shares pages only with other pinned memory, and only if neither has whole pages.
 * Lock-free. */
bool sc_track_may_seal(struct sc_track *track, uint32_t range, enum sc_buffer_kind kind);

#endif
