/* Copies between the device and pinned memory, on a stream without ties: what most programs copy
 * most. Nothing that is in flight conflicts with one, which a few looks tell. So little is to be
 * asked before the call, and little to be noted behind it.
 *
 * Of a small one to the device, the device reads a snapshot: that of an equal one that it follows,
 * if the source has not changed since. One to the host is as simple once an equal one is in flight,
 * whose pages are kept off already: they stay so.
 *
 * Such an operation is one like others (track/inflight.h), and is found, compared and forgotten as
 * they are.
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

/* Is the copy such a one? Finds the range, and takes a slot for the snapshot, which the caller
 * fills if it is not filled already. False: nothing was done. */
bool sc_track_begin_simply(struct sc_track *track, struct sc_staging *staging,
                           struct sc_simple_copy *copy) SC_EXCLUDES(*track);

/* The driver has accepted it. Of `info` the ticket is set. False: it is to be recorded as any other
 * (sc_track_issue), as which `info` describes it. */
bool sc_track_issue_simply(struct sc_track *track, const struct sc_simple_copy *copy,
                           struct sc_op_info *info, struct sc_issued *issued) SC_EXCLUDES(*track);

#endif
