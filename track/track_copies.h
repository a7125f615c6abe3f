/* The quick way for simple copies, which programs make most: copies between the device and pinned
 * memory, on a stream without ties (that has waited for no other stream), with nothing in flight
 * that conflicts. A few loads show that a copy is simple. Then little is done before the driver's
 * call, and little is recorded after it.
 *
 * For a small simple copy to the device, the device reads a snapshot: that of an equal earlier copy
 * if the source has not changed since, else a new one. A copy to the host is simple only if an
 * equal one is in flight whose pages are protected already and stay so.
 *
 * A simple copy becomes an operation like any other (track/inflight.h): it is found, compared and
 * forgotten as they are. */

/* Terms (docs/glossary.md):
 *   in flight: issued, and the host does not know yet that it is done
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   range: host memory that the driver knows: one allocation or one registration
 *   simple copy: a copy between device and pinned memory, on a stream without ties, with no
 *       conflict
 *   slot: the place of one snapshot in staging memory
 *   snapshot: a copy of a small source, which the device reads instead of the source
 *   source: the memory that a copy reads
 *   ticket: the name of an operation: its stream, its number there, and its epoch
 *   tie: what the next call on a stream may come after besides the stream's own work
 */

#ifndef SC_TRACK_TRACK_COPIES_H
#define SC_TRACK_TRACK_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/checks.h"

struct sc_issued;
struct sc_op_info;
struct sc_slot;
struct sc_staging;
struct SC_LOCK sc_track;

struct sc_simple_copy {
    bool to_host;    /* set by the caller, as the members up to size_bytes */
    bool is_guarded; /* of a copy to the host: its pages are to be protected */
    uint32_t stream;
    uintptr_t host, device;
    size_t size_bytes;
    uint32_t range;
    struct sc_slot *slot; /* of a copy to the device: the slot of its snapshot */
    bool is_filled;       /* the slot has the source's bytes already, from an equal earlier copy */
    /* Set after the driver's call, to be recorded: */
    const char *api;
    uint64_t ticks;
    uint32_t stack;
    int32_t thread;
};

/* Returns true if the copy is simple (of pinned memory, with nothing in flight that conflicts):
 * finds its range, and takes a slot for its snapshot, which the caller fills unless is_filled.
 * Returns false, having done nothing, if it is not. */
bool sc_track_begin_simple_copy(struct sc_track *track, struct sc_staging *staging,
                                struct sc_simple_copy *copy) SC_EXCLUDES(*track);

/* Records a simple copy that the driver has accepted, and stores its ticket in `info`. Returns
 * false, having recorded nothing, if the caller has to record `info` as any other operation
 * (sc_track_issue). */
bool sc_track_issue_simple_copy(struct sc_track *track, const struct sc_simple_copy *copy,
                                struct sc_op_info *info, struct sc_issued *issued)
    SC_EXCLUDES(*track);

#endif
