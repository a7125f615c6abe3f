/* What every wrapper of an asynchronous operation does around the real call, in this order:
 *
 *     sc_issue_begin     finds the stream
 *     sc_issue_add_host      names a host range that the operation reads or writes
 *     sc_issue_begin_call      orders it after what it conflicts with (mode=fix), as
 * sc_issue_judge_and_order does alone, and tells the tracker that the call begins sc_issue_source
 * says where the device is to read a plain source sc_issue_end       records the operation if the
 * driver has accepted it, and guards its pages
 *
 * Each of them does next to nothing where the library is inactive. Where the stream captures, the
 * ranges become uses of its graph. What the driver reads or writes within the call is no operation.
 * It is held against those in flight (interpose/calls/at_once.h).
 *
 * Thread-safe; an issue is its wrapper's. Locks: none may be held. errno is kept by sc_issue_end,
 * and may change before. Calls the driver: not for a signal handler.
 */
#ifndef SC_INTERPOSE_CALLS_ISSUE_H
#define SC_INTERPOSE_CALLS_ISSUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/op_kinds.h"
#include "common/points.h"
#include "interpose/base/recently.h"
#include "interpose/capture/beside.h"
#include "interpose/driver/driver.h"
#include "interpose/graph/host_use.h"
#include "track/device_use.h"
#include "track/track_front.h"

enum sc_touch;
struct sc_call;
struct sc_copy_sides;
struct sc_fold;
struct sc_issue_ops;
struct sc_op_info;
struct sc_shape;
struct sc_stream_record;
struct sc_unwind_owner;

/* One operation as its wrapper builds it up. It stands on the wrapper's stack while the driver is
 * called, so it keeps no more than it must. */
struct sc_issue {
    struct sc_stream_record *stream; /* NULL: nothing is issued */
    uintptr_t graph; /* the graph that the capturing stream adds to; 0: nothing captures */
    uintptr_t captured_stream; /* the stream's handle, if `graph` is not 0 */
    const struct sc_call *call;
    struct sc_host_use host[SC_ISSUE_HOST_MAX];
    struct sc_slot *slot; /* a snapshot of the one source, or NULL */
    struct sc_device_uses uses;
    uint8_t host_count;
    uint8_t op_count;  /* those of `host` that the driver uses after the call: the operations */
    bool waits_after;  /* behind the call the wrapper waits for the operation: the program has
                          unregistered the memory, but the unregistering is held, so the driver still
                          takes it for registered */
    bool joins_stream; /* the call returns when the stream's earlier work, and its own, are done */
    bool lands_late;   /* with joins_stream: the earlier work is done then, but the target is not
                          written yet */
    bool keeps_source; /* no snapshot may replace the source: the driver would treat such a copy
                          differently */
    bool is_empty;     /* of no bytes: no work */
    bool is_complete;  /* the stream was seen idle after the call */
    bool is_judged; /* conflicts are looked for before the call, in every mode, and not again behind
                       it: behind it, the stream may come after more than the operations do */
    bool is_detour; /* a capture stood in the way of the operation; that is reported already */
    bool by_graph;  /* the operations are those of a launched graph */
    uint8_t unsure; /* as in a struct sc_op_info */
    uint64_t graph_ticks;          /* of the launch, if `by_graph`: sc_ticks() */
    const struct sc_point *after;  /* as in a struct sc_op_info */
    struct sc_history_entry named; /* what the call has named; 0 bytes: nothing */
    struct sc_order_call ordered;
    uint64_t place; /* the call's place among the calls on a legacy stream; 0: the stream is none */
    struct sc_point point;         /* with joins_stream: what the call waits for */
    struct sc_unwind_owner *owner; /* the frame in which the call's last local lies, for a call with
                                      many locals; NULL: the call has few */
};

/* Has the operation to be noted at all? False if the library is inactive. */
static inline bool sc_issue_is_on(const struct sc_issue *issue)
{
    return issue->stream || issue->graph;
}

/* Begins the issue of an operation on the stream that the call names. */
void sc_issue_begin(struct sc_issue *issue, const struct sc_call *call, CUstream stream);

/* Notes for the history what the call names. Otherwise the history gets the call's host range. */
static inline void sc_issue_set_history(struct sc_issue *issue, enum sc_direction direction,
                                        uintptr_t address, uintptr_t source, size_t size_bytes)
{
    issue->named.direction = direction;
    issue->named.address = address;
    issue->named.source = source;
    issue->named.size_bytes = size_bytes;
}

/* Notes in a history entry the host memory that the operation uses. */
static inline void sc_issue_set_history_host(struct sc_history_entry *use,
                                             enum sc_direction direction,
                                             const struct sc_shape *shape)
{
    use->direction = direction;
    use->size_bytes = sc_shape_hull_bytes(shape);
    *(sc_direction_writes_host(direction) ? &use->address : &use->source) = shape->address;
}

/* Names the only host range of an operation whose other side is device memory. The range becomes an
 * operation if the device uses it after the call, else a touch (track/copy_manner.h). */
void sc_issue_add_host(struct sc_issue *issue, enum sc_direction direction, const void *address,
                       size_t size_bytes);
void sc_issue_add_host_shape(struct sc_issue *issue, enum sc_direction direction,
                             const struct sc_shape *shape);

/* Names memory that the driver itself reads or writes within the call. The memory may also be the
 * device's. */
void sc_issue_add_touch(struct sc_issue *issue, enum sc_touch touch, const struct sc_shape *shape);

/* Are the operation's uses of device memory to be judged and noted? */
static inline bool sc_issue_records_device(const struct sc_issue *issue)
{
    return sc_unlikely(sc_track_watches_device(&sc_track)) && issue->stream;
}

/* Does anybody want to know the uses of device memory: the tracker (sc_issue_records_device), or a
 * capture of the thread's (capture/beside.h)? */
static inline bool sc_issue_needs_device(const struct sc_issue *issue)
{
    return sc_issue_records_device(issue) || (sc_beside_needs_calls() && sc_issue_is_on(issue));
}

/* Names a use of device memory, if somebody wants to know. */
static inline void sc_issue_add_device(struct sc_issue *issue, const struct sc_device_use *use)
{
    if (sc_issue_needs_device(issue))
        sc_device_uses_add(&issue->uses, use);
}

/* Names both sides of a copy. What the device uses after the call becomes an operation, the rest a
 * touch (track/copy_manner.h). */
void sc_issue_add_sides(struct sc_issue *issue, const struct sc_copy_sides *sides);

/* Sets the fold of the host ranges from index `from` on: the gaps within their rows. */
void sc_issue_set_fold(struct sc_issue *issue, unsigned from, const struct sc_fold *fold);

/* As sc_issue_add_host_shape, for pageable memory that the driver may use after the call has
 * returned (batch copies). `is_there`: the source's bytes are complete when the call is made, by
 * the call's contract. */
void sc_issue_add_pageable(struct sc_issue *issue, enum sc_direction direction,
                           const struct sc_shape *shape, bool is_there);

/* Begins an issue on a stream that is known not to capture. */
void sc_issue_begin_uncaptured(struct sc_issue *issue, const struct sc_call *call,
                               struct sc_stream_record *stream);

/* Marks the issue's operations as those of a launched graph. `unsure`: bits of enum sc_unsure;
 * `ticks`: the time of the launch. */
void sc_issue_set_graph(struct sc_issue *issue, uint8_t unsure, uint64_t ticks);

/* Judges what was named, and orders it after its conflicts (mode=fix). */
void sc_issue_judge_and_order(struct sc_issue *issue);

/* As sc_issue_judge_and_order, and tells the tracker that the call begins. The call to the driver
 * follows, and then sc_issue_end. */
void sc_issue_begin_call(struct sc_issue *issue);

/* Judges only what is touched within the call. */
void sc_issue_judge_touches(const struct sc_issue *issue);

/* Takes a snapshot of the source of the issue's only copy, for the device to read instead. The
 * snapshot is packed: its rows have no gaps (memory/snapshots.h). NULL: none was taken. */
const void *sc_issue_snapshot(struct sc_issue *issue);
/* The same for a source without gaps. Returns what to pass to the driver: the snapshot, or `source`
 * if none was taken. */
const void *sc_issue_source(struct sc_issue *issue, const void *source);

/* Records the operations if the driver has accepted the call. Returns `result`. */
CUresult sc_issue_end(struct sc_issue *issue, CUresult result);

/* Fills `ops`, a block of the caller's, with the issue's operations (issue_ops.h). */
void sc_issue_describe(const struct sc_issue *issue, struct sc_issue_ops *ops);

/* Records the operations of a call that the driver has accepted, with this stack and time, as
 * sc_issue_end does, but without a mark. `ops` has at least one. Returns the sum of their bytes. */
size_t sc_issue_record(struct sc_issue *issue, struct sc_issue_ops *ops, uint32_t stack,
                       uint64_t now_ticks);

/* Is this pageable memory that the program has unregistered, while the library still holds the
 * unregistering back? The driver then takes the memory for registered. */
bool sc_issue_is_kept_registered(const struct sc_shape *shape);

/* Chooses which pages the guard protects for the operation, before the operation is recorded. */
void sc_issue_choose_guard(const struct sc_issue *issue, struct sc_op_info *op);

/* All operations that one call has issued together, so that what is needed once for a call (a mark,
 * telling the kernel of protected pages, an entry of the history) is not done for each of them
 * (sc_issue_finish_call). */
struct sc_issued_call {
    const struct sc_call *call;
    struct sc_stream_record *stream;
    uint64_t ticks;
    uint64_t number; /* of the last operation; 0: none was recorded */
    size_t size_bytes;
    bool snapshotted; /* the device reads every source from a snapshot */
    bool writes_host;
    struct sc_history_entry use; /* for the history: stack, direction and bytes */
};

/* A simple copy (calls/simple_copies.h) that the driver has accepted is recorded. Returns the
 * operation's number. */
struct sc_simple_copy;
uint64_t sc_issue_record_simple_copy(const struct sc_call *call, struct sc_stream_record *stream,
                                     const struct sc_simple_copy *copy);

/* To be called when the call's operations are recorded: has their pages protected, notes the
 * stream's queue, records a mark if one is due, and adds an entry to the history. */
void sc_issue_finish_call(const struct sc_issued_call *issued);

/* The device, or the call itself, is about to write these bytes in order: sources in flight there
 * are compared for the last time, and those that have changed are reported (SC201). */
void sc_issue_seal(const struct sc_call *call, uintptr_t address, size_t size_bytes);

/* Is the stream, as the call names it, part of a capture? */
bool sc_issue_is_captured(const struct sc_call *call, CUstream stream);

#endif
