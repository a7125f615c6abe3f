/* Judges and records one asynchronous operation: what its wrapper calls around the driver's call,
 * in this order:
 *
 * - sc_issue_begin finds the stream.
 * - sc_issue_add_host names a host range that the operation reads or writes.
 * - sc_issue_begin_call orders the operation after what it conflicts with (mode=fix), and tells the
 *   tracker that the call begins.
 * - sc_issue_source returns where the device is to read the source.
 * - sc_issue_end records the operation if the driver has accepted it, and protects its pages.
 *
 * While the library is inactive, each of them does next to nothing. If the stream captures, the
 * ranges become uses of its graph. What the driver reads or writes before the call returns is no
 * operation but a touch, which is compared with the operations in flight
 * (interpose/calls/at_once.h).
 *
 * Thread-safe: each running wrapper has a struct sc_issue of its own. Locks: none may be held.
 * errno is kept by sc_issue_end, and may change before. Calls the driver: not for a signal handler.
 */

/* Terms (docs/glossary.md):
 *   complete: finished by the device, whether or not the program knows
 *   in flight: issued, and the host does not know yet that it is done
 *   legacy stream: a context's default stream, which is ordered with all its blocking streams
 *   mark: an event of the library's behind an operation, by which it learns that this is complete
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   range: host memory that the driver knows: one allocation or one registration
 *   simple copy: a copy between device and pinned memory, on a stream without ties, with no
 *       conflict
 *   snapshot: a copy of a small source, which the device reads instead of the source
 *   source: the memory that a copy reads
 *   ticks: a time of the processor's counter
 *   touch: a read or write of host memory by the program, by the kernel for it, or within a call
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 *   wrapper: our function in the place of one of the driver's
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

/* One operation, which its wrapper fills in step by step. It lies on the wrapper's stack while the
 * driver is called, so it keeps as little as possible. */
struct sc_issue {
    /* NULL: the library is inactive, or the stream is unknown or captures */
    struct sc_stream_record *stream;
    /* the graph that the stream's capture adds to; 0: the stream does not capture */
    uintptr_t graph;
    uintptr_t captured_stream; /* the stream's handle, if `graph` is not 0 */
    const struct sc_call *call;
    struct sc_host_use host[SC_ISSUE_HOST_MAX];
    struct sc_slot *slot; /* the snapshot of the operation's only source, or NULL */
    struct sc_device_uses uses;
    uint8_t host_count;
    /* how many of `host` the driver uses after the call: each becomes an operation */
    uint8_t op_count;
    /* the call returns only when the stream's earlier work, and its own, is done */
    bool joins_stream;
    /* with joins_stream: the earlier work is done then, but the target is not written yet */
    bool lands_late;
    /* the device must read the program's source: the driver would treat a copy of a snapshot
     * differently */
    bool keeps_source;
    bool is_empty;    /* a copy of no bytes, which is no work */
    bool is_complete; /* the stream was seen to have no work left after the call */
    /* conflicts are searched for before the call, in every mode, and not again after it: by then
     * the stream may come after more work than the operations do */
    bool is_judged;
    /* the operation is made in a private stream, since a capture stood in its way; that is reported
     * already */
    bool is_detour;
    bool by_graph;                 /* the operations are those of a launched graph */
    uint8_t unsure;                /* as in a struct sc_op_info */
    uint64_t graph_ticks;          /* of the launch, if `by_graph`: sc_ticks() */
    const struct sc_point *after;  /* as in a struct sc_op_info */
    struct sc_history_entry named; /* what the call copies, for the history; 0 bytes: not set */
    struct sc_order_call ordered;
    /* the call's place among the calls on a legacy stream; 0: it is on another stream */
    uint64_t place;
    struct sc_point point; /* with joins_stream: all that the call waits for */
    /* the frame of the function to which the call's last local variable belongs, for a call with
     * many such sources; NULL: the call has few */
    struct sc_unwind_owner *owner;
};

/* Returns true if the operation is to be noted at all; false if the library is inactive. */
static inline bool sc_issue_is_on(const struct sc_issue *issue)
{
    return issue->stream || issue->graph;
}

/* Begins an operation on the stream that the call names. */
void sc_issue_begin(struct sc_issue *issue, const struct sc_call *call, CUstream stream);

/* Sets what the history (from which the post-mortem of a lost context is written) says that the
 * call copies. If this is not called, the history names the operation's host range. */
static inline void sc_issue_set_history(struct sc_issue *issue, enum sc_direction direction,
                                        uintptr_t address, uintptr_t source, size_t size_bytes)
{
    issue->named.direction = direction;
    issue->named.address = address;
    issue->named.source = source;
    issue->named.size_bytes = size_bytes;
}

/* Enters the host memory that the operation uses into an entry of the history, from which the
 * post-mortem is written. */
static inline void sc_issue_set_history_host(struct sc_history_entry *use,
                                             enum sc_direction direction,
                                             const struct sc_shape *shape)
{
    use->direction = direction;
    use->size_bytes = sc_shape_hull_bytes(shape);
    *(sc_direction_writes_host(direction) ? &use->address : &use->source) = shape->address;
}

/* Add the only host range of an operation whose other side is device memory. The range becomes an
 * operation if the device uses it after the call, else a touch (track/copy_manner.h). */
void sc_issue_add_host(struct sc_issue *issue, enum sc_direction direction, const void *address,
                       size_t size_bytes);
void sc_issue_add_host_shape(struct sc_issue *issue, enum sc_direction direction,
                             const struct sc_shape *shape);

/* Adds memory that the driver itself reads or writes before the call returns. It may also be device
 * memory. */
void sc_issue_add_touch(struct sc_issue *issue, enum sc_touch touch, const struct sc_shape *shape);

/* Returns true if the operation's uses of device memory are to be judged and recorded. */
static inline bool sc_issue_records_device(const struct sc_issue *issue)
{
    return sc_unlikely(sc_track_watches_device(&sc_track)) && issue->stream;
}

/* Returns true if the operation's uses of device memory are needed: by the tracker
 * (sc_issue_records_device), or by a capture of the thread (capture/beside.h). */
static inline bool sc_issue_needs_device(const struct sc_issue *issue)
{
    return sc_issue_records_device(issue) || (sc_beside_needs_calls() && sc_issue_is_on(issue));
}

/* Adds a use of device memory, if such uses are needed. */
static inline void sc_issue_add_device(struct sc_issue *issue, const struct sc_device_use *use)
{
    if (sc_issue_needs_device(issue))
        sc_device_uses_add(&issue->uses, use);
}

/* Adds both sides of a copy. What the device uses after the call becomes an operation, the rest a
 * touch (track/copy_manner.h). */
void sc_issue_add_sides(struct sc_issue *issue, const struct sc_copy_sides *sides);

/* Sets the gaps within the rows (the fold) of the host ranges from index `from` on. */
void sc_issue_set_fold(struct sc_issue *issue, unsigned from, const struct sc_fold *fold);

/* Adds pageable memory that the driver may use after the call has returned, as for batch copies,
 * whose access order says when the driver may read it. `is_there`: the source's bytes are complete
 * when the call is made, by the call's contract. */
void sc_issue_add_pageable(struct sc_issue *issue, enum sc_direction direction,
                           const struct sc_shape *shape, bool is_there);

/* Begins an operation on a stream that is known not to capture, so that the driver is not asked
 * about the stream. */
void sc_issue_begin_uncaptured(struct sc_issue *issue, const struct sc_call *call,
                               struct sc_stream_record *stream);

/* Marks the operations as those of a launched graph, whose sources are neither copied nor compared,
 * since other nodes may write them. `unsure`: why their order is not certain (enum sc_unsure);
 * `ticks`: the time of the launch. */
void sc_issue_set_graph(struct sc_issue *issue, uint8_t unsure, uint64_t ticks);

/* Judges the memory that was added for the call, and in mode=fix makes its stream wait for the
 * operations that conflict. For a caller that begins the call on the stream by itself. */
void sc_issue_judge_and_order(struct sc_issue *issue);

/* Judges and orders (sc_issue_judge_and_order), and notes in the tracker that the call begins. The
 * driver's call follows, and then sc_issue_end. */
void sc_issue_begin_call(struct sc_issue *issue);

/* Judges only what is read or written before the call returns (touches). For a call that leaves
 * nothing in flight. */
void sc_issue_judge_touches(const struct sc_issue *issue);

/* Takes a snapshot of the source of the operation's only copy, for the device to read instead.
 * Returns it, packed: without gaps between rows (memory/snapshots.h). NULL: none was taken. */
const void *sc_issue_snapshot(struct sc_issue *issue);
/* Takes a snapshot of a source without gaps. Returns what the wrapper passes to the driver as the
 * source: the snapshot, or `source` if none was taken. */
const void *sc_issue_source(struct sc_issue *issue, const void *source);

/* Records the operations if the driver has accepted the call, protects their pages, and records a
 * mark (completion event) if one is due. Returns `result`. */
CUresult sc_issue_end(struct sc_issue *issue, CUresult result);

/* Fills `ops` with the operations of the call as the tracker records them (issue_ops.h), for a
 * caller that records them by sc_issue_record. */
void sc_issue_describe(const struct sc_issue *issue, struct sc_issue_ops *ops);

/* Records the operations of a call that the driver has accepted, with this stack and time, as
 * sc_issue_end does, but without a mark (completion event). `ops` has at least one operation.
 * Returns the sum of their bytes. */
size_t sc_issue_record(struct sc_issue *issue, struct sc_issue_ops *ops, uint32_t stack,
                       uint64_t now_ticks);

/* Chooses which pages are protected for the operation. Called before the operation is recorded, by
 * callers that record many at once; recording itself chooses for the others. */
void sc_issue_choose_guard(const struct sc_issue *issue, struct sc_op_info *op);

/* All operations that one call has issued, so that sc_issue_finish_call can do once for the call,
 * and not for each operation, what follows: record a mark (completion event), have pages protected,
 * add an entry to the history, from which the post-mortem is written. */
struct sc_issued_call {
    const struct sc_call *call;
    struct sc_stream_record *stream;
    uint64_t ticks;
    uint64_t number; /* number of the last operation; 0: none was recorded */
    size_t size_bytes;
    bool snapshotted; /* the device reads every source from a snapshot */
    bool writes_host;
    struct sc_history_entry use; /* for the history: stack, direction and bytes */
};

/* Records a simple copy (calls/simple_copies.h) that the driver has accepted. Returns the number of
 * the operation. */
struct sc_simple_copy;
uint64_t sc_issue_record_simple_copy(const struct sc_call *call, struct sc_stream_record *stream,
                                     const struct sc_simple_copy *copy);

/* Called when the call's operations are recorded: has their pages protected, notes that the
 * stream's queue has work, records a mark (completion event) if one is due, and adds an entry to
 * the history. */
void sc_issue_finish_call(const struct sc_issued_call *issued);

/* Compares, for the last time, the sources in flight that overlap these bytes, which the device in
 * stream order, or the call itself, is about to write. Reports those that have changed (SC201). */
void sc_issue_seal(const struct sc_call *call, uintptr_t address, size_t size_bytes);

/* Returns true if the stream, as the call names it, belongs to a capture. */
bool sc_issue_is_captured(const struct sc_call *call, CUstream stream);

#endif
