/* What every wrapper of an asynchronous operation does around the real call, in this order:
 *
 *     sc_issue_begin     finds the stream
 *     sc_issue_host      names a host range that the operation reads or writes
 *     sc_issue_call      orders it after what it conflicts with (mode=fix), as sc_issue_ready does
 *                        alone, and tells the tracker that the call begins
 *     sc_issue_source    says where the device is to read a plain source
 *     sc_issue_end       records the operation if the driver has accepted it, and guards its pages
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

/* It stands on the caller's stack while the driver is called, so it keeps no more than it must. */
struct sc_issue {
    struct sc_stream_record *stream; /* NULL: nothing is issued */
    uintptr_t graph;                 /* that a capture adds to instead, or 0 */
    uintptr_t captured_stream;
    const struct sc_call *call;
    struct sc_host_use host[SC_ISSUE_HOST_MAX];
    struct sc_slot *slot; /* a snapshot of the one source, or NULL */
    struct sc_device_uses uses;
    uint8_t host_count;
    uint8_t op_count;  /* those of them that the driver uses after the call */
    bool waits_after;  /* for itself: the memory is still registered, and the program has
                          unregistered it */
    bool joins_stream; /* returns only when the stream's earlier work and itself are done */
    bool lands_late;   /* all that it joins is done then, but it has not written its target yet */
    bool keeps_source; /* the driver would treat the copy otherwise if it read another place */
    bool is_empty;     /* of no bytes: no work */
    bool is_complete;  /* the stream was seen idle after the call */
    bool is_judged; /* before the call, in every mode, since its stream may come after more behind
                     * it than the operations do: no conflict is looked for then */
    bool is_detour; /* a capture stood in the way of the operation, which is reported */
    bool by_graph;
    uint8_t unsure;                /* as of a struct sc_op_info */
    uint64_t graph_ticks;          /* of the launch, if `by_graph` */
    const struct sc_point *after;  /* as of a struct sc_op_info */
    struct sc_history_entry named; /* direction and bytes */
    struct sc_order_call ordered;
    uint64_t place; /* of the call, in a legacy stream */
    struct sc_point point;
    struct sc_unwind_owner *owner; /* of the call's last local, among many; NULL: it has few */
};

/* Is anything to be found out about the operation? */
static inline bool sc_issue_is_on(const struct sc_issue *issue)
{
    return issue->stream || issue->graph;
}

void sc_issue_begin(struct sc_issue *issue, const struct sc_call *call, CUstream stream);

/* What the call names, for the history of its stream. Without it, its host range is noted there. */
static inline void sc_issue_names(struct sc_issue *issue, enum sc_direction direction,
                                  uintptr_t address, uintptr_t source, size_t size_bytes)
{
    issue->named.direction = direction;
    issue->named.address = address;
    issue->named.source = source;
    issue->named.size_bytes = size_bytes;
}

/* The history is told of host memory that the operation uses. */
static inline void sc_issue_use_host(struct sc_history_entry *use, enum sc_direction direction,
                                     const struct sc_shape *shape)
{
    use->direction = direction;
    use->size_bytes = sc_shape_hull_bytes(shape);
    *(sc_direction_writes_host(direction) ? &use->address : &use->source) = shape->address;
}

/* The one host range of an operation whose other side is device memory, if there is one. It is an
 * operation as far as the device uses it after the call (track/copy_manner.h). */
void sc_issue_host(struct sc_issue *issue, enum sc_direction direction, const void *address,
                   size_t size_bytes);
void sc_issue_host_shape(struct sc_issue *issue, enum sc_direction direction,
                         const struct sc_shape *shape);

/* Memory that the driver itself reads or writes within the call. It may also be the device's. */
void sc_issue_touch(struct sc_issue *issue, enum sc_touch touch, const struct sc_shape *shape);

/* Is what the operation does with device memory to be told? */
static inline bool sc_issue_tells_device(const struct sc_issue *issue)
{
    return sc_unlikely(sc_track_watches_device(&sc_track)) && issue->stream;
}

/* The same, also for what a capture of the thread's may lack. */
static inline bool sc_issue_wants_device(const struct sc_issue *issue)
{
    return sc_issue_tells_device(issue) || (sc_beside_is_asked() && sc_issue_is_on(issue));
}

/* Device memory that the operation uses so. */
static inline void sc_issue_device(struct sc_issue *issue, const struct sc_device_use *use)
{
    if (sc_issue_wants_device(issue))
        sc_device_uses_add(&issue->uses, use);
}

/* Both sides of a copy, as far as the device uses them after the call (track/copy_manner.h). */
void sc_issue_sides(struct sc_issue *issue, const struct sc_copy_sides *sides);

/* The rows of what was named since `host_count` was `from` are folded so. */
void sc_issue_folded(struct sc_issue *issue, unsigned from, const struct sc_fold *fold);

/* The same for pageable memory that the driver may use after the call has returned (batch copies).
 * `is_there`: the bytes of a source have to be there when the call is made. */
void sc_issue_pageable(struct sc_issue *issue, enum sc_direction direction,
                       const struct sc_shape *shape, bool is_there);

/* An issue on a stream that is known not to capture. */
void sc_issue_on(struct sc_issue *issue, const struct sc_call *call,
                 struct sc_stream_record *stream);

/* Its operations are those of a graph that is launched. */
void sc_issue_of_graph(struct sc_issue *issue, uint8_t unsure, uint64_t ticks);

void sc_issue_ready(struct sc_issue *issue);

/* sc_issue_ready; the call to the driver follows, and behind it sc_issue_end. */
void sc_issue_call(struct sc_issue *issue);

/* Only what is touched within the call. */
void sc_issue_judge_touches(const struct sc_issue *issue);

/* A snapshot of the source of the only copy, which the device is to read instead, packed
 * (memory/snapshots.h), or NULL; and `source`, a plain one, or its snapshot. */
const void *sc_issue_snapshot(struct sc_issue *issue);
const void *sc_issue_source(struct sc_issue *issue, const void *source);

CUresult sc_issue_end(struct sc_issue *issue, CUresult result);

/* The operations of the issue, of which the caller has the block (issue_ops.h). */
void sc_issue_describe(const struct sc_issue *issue, struct sc_issue_ops *ops);

/* What sc_issue_end does where the driver has accepted, without the mark: the operations, of which
 * there is one at least, are recorded with this stack and time. Returns their bytes. */
size_t sc_issue_record(struct sc_issue *issue, struct sc_issue_ops *ops, uint32_t stack,
                       uint64_t now_ticks);

/* Does the driver take pageable memory for registered, since its unregistering is held? */
bool sc_issue_is_kept_registered(const struct sc_shape *shape);

/* Chooses what of the operation is to be guarded, before it is recorded. */
void sc_issue_guard(const struct sc_issue *issue, struct sc_op_info *op);

/* What a call has issued, all of its operations together. */
struct sc_issued_call {
    const struct sc_call *call;
    struct sc_stream_record *stream;
    uint64_t ticks;
    uint64_t number; /* of the last operation; 0: none was recorded */
    size_t size_bytes;
    bool snapshotted; /* every source is */
    bool writes_host;
    struct sc_history_entry use; /* for the history: stack, direction and bytes */
};

/* A simple copy (calls/simple_copies.h) that the driver has accepted is recorded. Returns the
 * operation's number. */
struct sc_simple_copy;
uint64_t sc_issue_simply(const struct sc_call *call, struct sc_stream_record *stream,
                         const struct sc_simple_copy *copy);

/* Behind the records: the pages are brought into line, the queue is noted, a mark follows if one is
 * due, and the history has an entry. */
void sc_issue_recorded(const struct sc_issued_call *issued);

/* The device, or the call itself, is about to write these bytes in order. */
void sc_issue_seal(const struct sc_call *call, uintptr_t address, size_t size_bytes);

/* Is the stream, as the call names it, part of a capture? */
bool sc_issue_is_captured(const struct sc_call *call, CUstream stream);

#endif
