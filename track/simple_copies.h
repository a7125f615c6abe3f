/* Copies between the device and pinned memory, on a stream without ties: what most programs copy
 * most. Nothing that is in flight conflicts with one, which a few looks tell. So little is to be
 * asked before the call, and little to be noted behind it.
 *
 * Of a small one to the device, the device reads a snapshot. One to the host is as simple once an
 * equal one is in flight, whose pages are kept off already: they stay so.
 *
 * Such an operation is one like others (track/inflight.h), and is found, compared and forgotten as
 * they are.
 */
#ifndef SC_TRACK_SIMPLE_COPIES_H
#define SC_TRACK_SIMPLE_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/checks.h"
#include "common/op_kinds.h"

struct sc_issued;
struct sc_op_info;
struct sc_slot;
struct sc_staging;
struct SC_LOCK sc_track;

struct sc_simple_copy {
    enum sc_direction direction; /* SC_H2D or SC_D2H; the caller's, as are the next ones */
    uint32_t stream;
    uintptr_t host, device;
    size_t size_bytes;
    uint32_t range;
    bool is_guarded;      /* SC_D2H: its pages are to be kept off */
    struct sc_slot *slot; /* SC_H2D: for the snapshot */
    /* Behind the call: what the operation tells of it. */
    const char *api;
    uint64_t ticks;
    uint32_t stack;
    int32_t thread;
};

/* Is the copy such a one, and has the stream a slot for it? Finds the range and takes the slot,
 * which the caller fills. False: nothing was done. Takes the lock where the range is not known. */
bool sc_track_begin_upload(struct sc_track *track, struct sc_staging *staging,
                           struct sc_simple_copy *copy) SC_EXCLUDES(*track);

/* The same of one to the host. */
bool sc_track_begin_download(struct sc_track *track, struct sc_simple_copy *copy)
    SC_EXCLUDES(*track);

/* The driver has accepted it. Returns the operation's number. 0: it is to be recorded as any other
 * (sc_track_describe_simply). */
uint64_t sc_track_issue_simply(struct sc_track *track, const struct sc_simple_copy *copy,
                               struct sc_issued *issued) SC_EXCLUDES(*track);

/* As it is described to others. Lock-free. */
void sc_track_describe_simply(struct sc_track *track, const struct sc_simple_copy *copy,
                              struct sc_op_info *info);

#endif
