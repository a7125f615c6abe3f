/* The quick way of the copies that programs make most: between the device and pinned memory, on a
 * stream without ties, with nothing in flight that conflicts. A few looks tell that a copy is such
 * a one (a simple copy). Then little is asked before the call, and little noted behind it.
 *
 * For a small one to the device, the device reads a snapshot: that of an equal earlier copy, if the
 * source has not changed since, or else a new one. One to the host is simple only once an equal one
 * is in flight, whose pages are guarded already and stay so.
 *
 * A simple copy is an operation like others (track/inflight.h), and is found, compared and
 * forgotten as they are. */
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
    bool to_host;    /* the caller's, as are the next ones */
    bool is_guarded; /* of one to the host: its pages are to be kept off */
    uint32_t stream;
    uintptr_t host, device;
    size_t size_bytes;
    uint32_t range;
    struct sc_slot *slot; /* of one to the device: for the snapshot */
    bool is_filled;       /* it is an earlier one's, which has what the source has */
    /* Behind the call: what the operation tells of it. */
    const char *api;
    uint64_t ticks;
    uint32_t stack;
    int32_t thread;
};

/* Is the copy a simple one? Finds its range, and takes a slot for the snapshot, which the caller
 * fills unless that is done already. False: it is not, and nothing was done. */
bool sc_track_begin_simple_copy(struct sc_track *track, struct sc_staging *staging,
                                struct sc_simple_copy *copy) SC_EXCLUDES(*track);

/* Records a simple copy that the driver has accepted, and sets the ticket of `info`. False: nothing
 * was recorded, and the caller records `info` as any other operation (sc_track_issue). */
bool sc_track_issue_simple_copy(struct sc_track *track, const struct sc_simple_copy *copy,
                                struct sc_op_info *info, struct sc_issued *issued)
    SC_EXCLUDES(*track);

#endif
