#include "interpose/calls/issue.h"

#include <string.h>

#include "common/hazard_words.h"
#include "common/pages.h"
#include "common/shape.h"
#include "common/ticks.h"
#include "common/unsure.h"
#include "cupti_hooks/current_call.h"
#include "interpose/base/compiler.h"
#include "interpose/base/process.h"
#include "interpose/base/recently.h"
#include "interpose/base/thread_stack.h"
#include "interpose/base/unwind.h"
#include "interpose/calls/at_once.h"
#include "interpose/calls/beside_uses.h"
#include "interpose/calls/device_uses.h"
#include "interpose/calls/issue_ops.h"
#include "interpose/driver/replaying.h"
#include "interpose/graph/copy_sides.h"
#include "interpose/graph/device_nodes.h"
#include "interpose/graph/node_uses.h"
#include "interpose/guard/door.h"
#include "interpose/losses/returned_frames.h"
#include "interpose/losses/stack_losses.h"
#include "interpose/memory/snapshots.h"
#include "interpose/reaper/culprit.h"
#include "interpose/reaper/edges.h"
#include "interpose/reaper/excuses.h"
#include "interpose/reaper/hazards.h"
#include "interpose/reaper/reaper.h"
#include "interpose/streams/contexts.h"
#include "interpose/streams/marks.h"
#include "interpose/streams/streams.h"
#include "interpose/streams/unfinished.h"
#include "report/options.h"
#include "track/copy_manner.h"
#include "track/history.h"
#include "track/hold.h"
#include "track/inflight_calls.h"
#include "track/no_verdicts.h"
#include "track/op_info.h"
#include "track/ops.h"
#include "track/order_calls.h"
#include "track/spans_calls.h"
#include "track/staging.h"
#include "track/stream_front.h"
#include "track/track.h"
#include "track/track_copies.h"
#include "track/track_front.h"
#include "track/track_ops.h"
#include "track/track_order.h"
#include "track/track_parts.h"
#include "track/track_ranges.h"
#include "track/track_streams.h"
#include "track/track_views.h"

#include "common/poison.h"

enum { TAKEN_EARLY_BYTES = 24 * 1024 };

/* Initialises the record of one asynchronous operation, which its wrapper then fills in; members
 * that are set before they are read stay as they are. Also finds the calling thread's stack, once
 * in each thread: it tells which pageable buffers are local variables. */
SC_INLINED_HERE void sc_issue_begin_uncaptured(struct sc_issue *issue, const struct sc_call *call,
                                               struct sc_stream_record *stream)
{
    sc_thread_stack_learn();
    issue->stream = stream;
    issue->call = call;
    issue->host_count = 0;
    issue->op_count = 0;
    issue->slot = NULL;
    issue->uses.count = 0;
    issue->joins_stream = false;
    issue->lands_late = false;
    issue->keeps_source = false;
    issue->is_empty = false;
    issue->is_complete = false;
    issue->is_judged = false;
    issue->is_detour = false;
    issue->by_graph = false;
    issue->unsure = 0;
    issue->after = NULL;
    issue->named.size_bytes = 0;
    issue->ordered.stream = 0;
    issue->place = 0;
    issue->graph = 0;
    issue->owner = NULL;
}

/* Called if the stream captures: the call adds a node to a graph, and nothing runs now. So the
 * memory that the wrapper names becomes a use of that graph, and no operation in flight. */
static __attribute__((noinline)) void make_node_issue(struct sc_issue *issue)
{
    issue->captured_stream = (uintptr_t)issue->stream->handle;
    issue->graph = sc_streams_graph(issue->stream);
    issue->stream = NULL;
}

/* Begins an asynchronous operation on the stream that a call names. While the library is inactive,
 * or if the stream is not known, `issue->stream` is NULL and all later steps do nothing. */
void sc_issue_begin(struct sc_issue *issue, const struct sc_call *call, CUstream stream)
{
    sc_issue_begin_uncaptured(issue, call,
                              sc_active() ? sc_streams_find(stream, call->per_thread) : NULL);
    if (issue->stream && sc_unlikely(sc_streams_is_capturing(issue->stream)))
        make_node_issue(issue);
}

/* Does the range contain all bytes of the shape? The library never reads bytes beyond an
 * allocation: the driver refuses such a call. */
static inline bool is_within_range(const struct sc_shape *shape, const struct sc_range_info *range)
{
    size_t offset = shape->address - range->address;
    return range->range && offset <= range->size_bytes &&
           sc_shape_hull_bytes(shape) <= range->size_bytes - offset;
}

/* Returns room for one more use of host memory by the call; NULL: the call has as many as any call
 * can have (a source and a target). The caller sets all members. */
SC_INLINED struct sc_host_use *add_use(struct sc_issue *issue)
{
    return issue->host_count < SC_ISSUE_HOST_MAX ? &issue->host[issue->host_count++] : NULL;
}

/* Adds host memory that the driver uses after the call has returned: that use becomes an operation
 * in flight. `range`: the allocation or registration that the memory lies in (id 0: none).
 * `stable`: no unfinished work may still write the bytes, so they can be copied or compared now. */
SC_INLINED void add_op(struct sc_issue *issue, enum sc_direction direction,
                       const struct sc_shape *shape, const struct sc_range_info *range, bool stable)
{
    struct sc_host_use *use = add_use(issue);
    if (!use)
        return;
    *use = (struct sc_host_use){
        .direction = direction,
        .kind = range->kind,
        .range = range->range,
        .origin = range->origin,
        .shape = *shape,
        .stable = stable,
    };
    issue->op_count++;
}

/* Fills in `op` from one use of the call: to search for operations in flight that conflict with it,
 * and later to record it. complete_op adds what is known only then. */
SC_INLINED void describe_op(const struct sc_issue *restrict issue,
                            const struct sc_host_use *restrict use, struct sc_op_info *restrict op)
{
    memset(op, 0, sizeof *op); /* in place, as a compound literal would not be */
    op->direction = use->direction;
    op->kind = use->kind;
    op->range = use->range;
    op->origin = use->origin;
    op->shape = use->shape;
    op->fold = use->fold;
    op->api = issue->call->api;
    op->ticket.stream = issue->stream->id;
    op->access = SC_ACCESS_ALL;
    op->ticks = issue->by_graph ? issue->graph_ticks : 0;
    op->slot = use->direction == SC_H2D ? issue->slot : NULL;
    op->stable = use->stable;
    op->taken = use->taken;
    op->by_graph = issue->by_graph;
    op->unsure = issue->unsure;
    op->after = issue->after;
}

/* Lists the operations of the call as the tracker records them. What the driver has read or written
 * before the call returns (`in_call`) is no operation and is left out. */
SC_INLINED_HERE void sc_issue_describe(const struct sc_issue *issue, struct sc_issue_ops *ops)
{
    struct sc_op_info *op = ops->of;
    for (const struct sc_host_use *use = issue->host, *end = use + issue->host_count; use < end;
         use++)
        if (!use->in_call)
            describe_op(issue, use, op++);
    ops->count = (unsigned)(op - ops->of);
}

/* Adds an operation on pinned, registered or managed memory (a range). Its bytes count as stable,
 * and a snapshot of them may be taken, only if they lie within the range (the library never reads
 * beyond an allocation) and no unfinished work of the stream may still write them. */
SC_INLINED void add_op_on_range(struct sc_issue *issue, enum sc_direction direction,
                                const struct sc_shape *shape, const struct sc_range_info *range)
{
    bool stable = issue->stream && is_within_range(shape, range) &&
                  range->snapshots != SC_SNAPSHOTS_NONE && sc_unfinished_is_clear(issue->stream);
    add_op(issue, direction, shape, range, stable);
}

/* Returns SC_STACK if pageable memory is a local variable of a caller (it lies above this frame on
 * the thread's stack), else SC_PAGEABLE. */
static enum sc_buffer_kind kind_of_pageable(const struct sc_shape *shape)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    uintptr_t last = shape->address + sc_shape_hull_bytes(shape) - 1;
    bool is_local = sc_thread_stack_holds(here) && sc_thread_stack_holds(last) &&
                    shape->address >= here && shape->address <= last;
    return is_local ? SC_STACK : SC_PAGEABLE;
}

/* Adds pageable memory that the device reads or writes after the call. It is stable if no work
 * before the copy may still write it, so that its bytes can be copied or compared. */
void sc_issue_add_pageable(struct sc_issue *issue, enum sc_direction direction,
                           const struct sc_shape *shape, bool is_there)
{
    if (!sc_issue_is_on(issue))
        return;
    enum sc_buffer_kind kind = issue->stream ? kind_of_pageable(shape) : SC_PAGEABLE;
    bool stable = issue->stream && (is_there || sc_unfinished_spares_pageable(issue->stream));
    add_op(issue, direction, shape, &(struct sc_range_info){.kind = kind}, stable);
}

/* Adds memory that the driver reads or writes before the call returns: a touch, which is compared
 * with operations in flight and becomes none itself. In a capture the call touches nothing. */
void sc_issue_add_touch(struct sc_issue *issue, enum sc_touch touch, const struct sc_shape *shape)
{
    struct sc_host_use *use = issue->stream && sc_shape_hull_bytes(shape) ? add_use(issue) : NULL;
    if (use)
        *use = (struct sc_host_use){
            .direction = touch == SC_TOUCH_READ ? SC_H2D : SC_D2H,
            .shape = *shape,
            .in_call = true,
        };
}

/* Does the device read and write pageable memory itself? Then it does so after the call has
 * returned; other drivers stage such memory by pinned buffers, mostly within the call. */
static bool works_in_place(const struct sc_issue *issue)
{
    return issue->stream && issue->stream->context->reads_pageable;
}

/* Adds host memory as an operation if the driver uses it after the call (`when`), else as a touch:
 * as memory that the call itself reads or writes. `range->range` is 0 if the memory is pageable, or
 * if another thread has just unregistered it. Pageable memory is used after the call only if the
 * device works with it directly, or by a node, of which the launch decides. */
static __attribute__((noinline)) void
add_use_by_time(struct sc_issue *issue, enum sc_direction direction, const struct sc_shape *shape,
                const struct sc_range_info *range, enum sc_copy_time when)
{
    if (sc_likely(range->range && when != SC_IN_CALL)) {
        add_op_on_range(issue, direction, shape, range);
        return;
    }
    if (when != SC_IN_CALL && (issue->graph || works_in_place(issue)))
        sc_issue_add_pageable(issue, direction, shape, /*is_there=*/false);
    else if (direction == SC_H2D || direction == SC_D2H)
        sc_issue_add_touch(issue, direction == SC_H2D ? SC_TOUCH_READ : SC_TOUCH_WRITE, shape);
}

/* Notes what the driver's manner of making the copy means for the host: whether the call returns
 * only when its stream's earlier work is done, and whether the target is written even later. */
static void set_waits(struct sc_issue *issue, const struct sc_copy_manner *manner)
{
    issue->joins_stream |= manner->waits;
    issue->lands_late |= manner->waits && manner->written == SC_LATE;
}

/* Returns when the driver uses pageable memory in a copy whose other side is device memory: within
 * the call or after it. Also notes in the issue whether such a call waits for its stream. */
static __attribute__((noinline)) enum sc_copy_time
time_of_pageable(struct sc_issue *issue, enum sc_direction direction, size_t size_bytes)
{
    struct sc_copy_case copy = {
        .call = SC_COPY_ASYNC, .in_place = works_in_place(issue), .size_bytes = size_bytes};
    *(direction == SC_H2D ? &copy.src : &copy.dst) = SC_PLACE_PAGEABLE;
    const struct sc_copy_manner manner = sc_copy_manner_of(&copy);
    set_waits(issue, &manner);
    return direction == SC_H2D ? manner.read : manner.written;
}

/* Returns when the driver uses memory that is the only host memory of its operation, and is
 * pageable or was just unregistered. Only copies use such memory within the call; a captured one
 * uses it at the launch. */
static enum sc_copy_time time_of_lone_range(struct sc_issue *issue, enum sc_direction direction,
                                            size_t size_bytes)
{
    bool is_copy = direction == SC_H2D || direction == SC_D2H;
    if (issue->graph || !is_copy)
        return SC_LATE;
    return time_of_pageable(issue, direction, size_bytes);
}

/* Adds the only host memory of an operation whose other side is device memory. Pinned, registered
 * and managed memory is used after the call; for other memory the driver's manner decides. */
SC_INLINED void add_lone_range(struct sc_issue *issue, enum sc_direction direction,
                               const struct sc_shape *shape)
{
    size_t hull_bytes = sc_shape_hull_bytes(shape);
    issue->is_empty = hull_bytes == 0;
    if (issue->is_empty)
        return;
    const struct sc_range_info range = sc_track_find_range(&sc_track, shape->address);
    if (sc_likely(range.range && sc_copy_manner_is_late_beside_device(range.kind))) {
        add_op_on_range(issue, direction, shape, &range);
        return;
    }
    if (!issue->by_graph)
        sc_reaper_end_registrations(shape->address, hull_bytes);
    add_use_by_time(issue, direction, shape, &range,
                    time_of_lone_range(issue, direction, hull_bytes));
}

/* Adds the only host memory of an operation, in rows, unless nothing is to be noted of the
 * operation. */
void sc_issue_add_host_shape(struct sc_issue *issue, enum sc_direction direction,
                             const struct sc_shape *shape)
{
    if (sc_issue_is_on(issue))
        add_lone_range(issue, direction, shape);
}

/* Sets the gaps within the rows (the fold) of the uses that were added from index `from` on. */
void sc_issue_set_fold(struct sc_issue *issue, unsigned from, const struct sc_fold *fold)
{
    for (unsigned i = from; i < issue->host_count; i++)
        issue->host[i].fold = *fold;
}

/* Adds the only host memory of an operation, which is contiguous. */
void sc_issue_add_host(struct sc_issue *issue, enum sc_direction direction, const void *address,
                       size_t size_bytes)
{
    sc_issue_add_host_shape(issue, direction,
                            &(struct sc_shape){(uintptr_t)address, size_bytes, size_bytes, 1});
}

/* Adds one side of a copy, if it is host memory (`side->used`), as memory that the driver uses
 * during the call or after it (`when`). The fold, the gaps within the rows, comes along. */
static void add_side(struct sc_issue *issue, enum sc_direction direction,
                     const struct sc_copy_side *side, enum sc_copy_time when)
{
    unsigned from = issue->host_count;
    if (!side->used)
        return;
    struct sc_range_info range = sc_track_find_range(&sc_track, side->shape.address);
    add_use_by_time(issue, direction, &side->shape, &range, when);
    sc_issue_set_fold(issue, from, &side->fold);
}

/* Does the driver make two copies alike: with the same wait, and each side used at the same time?
 */
static bool are_same_manner(const struct sc_copy_manner *a, const struct sc_copy_manner *b)
{
    return a->waits == b->waits && a->read == b->read && a->written == b->written;
}

/* Would the driver make the copy in the same manner if it read a snapshot, which lies in pinned
 * memory, instead of the program's source? If not, the program would notice the difference. */
static bool may_read_pinned(const struct sc_copy_case *copy, const struct sc_copy_manner *manner)
{
    struct sc_copy_case elsewhere = *copy;
    elsewhere.src = SC_PLACE_LOCKED;
    const struct sc_copy_manner other = sc_copy_manner_of(&elsewhere);
    return are_same_manner(manner, &other);
}

/* Returns when the driver uses the two sides of the copy, and notes in the issue whether the call
 * waits for its stream, and whether a snapshot may stand in for the source. Both sides of a
 * captured copy count as used late: its real manner is found at the launch. */
static struct sc_copy_manner manner_of(struct sc_issue *issue, const struct sc_copy_sides *sides)
{
    const struct sc_copy_case copy =
        sc_copy_sides_case(sides, SC_COPY_ASYNC, works_in_place(issue));
    if (issue->graph)
        return (struct sc_copy_manner){false, SC_LATE, SC_LATE};
    const struct sc_copy_manner manner = sc_copy_manner_of(&copy);
    set_waits(issue, &manner);
    issue->keeps_source = copy.src == SC_PLACE_MANAGED && !may_read_pinned(&copy, &manner);
    return manner;
}

/* Sets what the history, from which the post-mortem of a lost context is written, says of the copy:
 * its direction, both addresses and the size. */
static void name_sides(struct sc_issue *issue, const struct sc_copy_sides *sides)
{
    const struct sc_shape *dst = &sides->dst.shape, *src = &sides->src.shape;
    size_t size_bytes = sc_shape_hull_bytes(dst);
    sc_issue_set_history(issue, sc_copy_sides_direction(sides), dst->address, src->address,
                         size_bytes ? size_bytes : sc_shape_hull_bytes(src));
}

/* Adds both sides of a copy: as operations in flight what the driver uses after the call, as
 * touches what it uses within the call. `src.unasked`: the source is either device memory or
 * pageable memory that is read within the call, and counts as a touch, which finds nothing in
 * device memory. */
void sc_issue_add_sides(struct sc_issue *issue, const struct sc_copy_sides *sides)
{
    issue->is_empty |= sides->is_empty;
    if (sides->is_empty || !sc_issue_is_on(issue))
        return;
    const struct sc_copy_manner manner = manner_of(issue, sides);
    name_sides(issue, sides);
    add_side(issue, SC_H2D, &sides->src, manner.read);
    add_side(issue, SC_D2H, &sides->dst, manner.written);
    if (sides->src.unasked)
        sc_issue_add_touch(issue, SC_TOUCH_READ, &sides->src.shape);
    if (sc_issue_needs_device(issue))
        sc_copy_sides_add_device(sides, &issue->uses);
}

/* Reports that the call's operation is not ordered with each of the conflicting operations (SC204).
 * The list has room for few conflicts: those beyond it are only counted, as not judged. `number`:
 * the place on its stream of the call's operation, which was issued or is about to be. */
static void report_unordered(const struct sc_issue *issue, enum sc_action action,
                             const struct sc_ops *conflicts, uint64_t number)
{
    const struct sc_later later = {.ticket = {.stream = issue->stream->id, .number = number},
                                   .ticks = issue->by_graph ? issue->graph_ticks : 0};
    for (unsigned i = 0; i < sc_ops_count_kept(conflicts); i++)
        sc_hazards_report_order(SC204, action, conflicts, i, &later, SC_CULPRIT_OF(issue->call));
    sc_no_verdicts_add(sc_track_parts.no_verdicts, SC_NO_VERDICT_OPERATIONS, SC_NO_VERDICT_ROOM,
                       conflicts->count - sc_ops_count_kept(conflicts));
}

/* Returns the place that the stream's next operation will have on it. */
static uint64_t next_number(const struct sc_stream_record *stream)
{
    return sc_track_issued(&sc_track, stream->id) + 1;
}

/* Makes the stream wait for the only operation in `single`, with which `op` would race, by an event
 * (an edge). Returns false if that is not done: the driver has carried the call out already (a
 * replay), an option leaves such hazards as they are, or the driver refuses. */
static bool order_after_one(const struct sc_issue *issue, const struct sc_op_info *op,
                            const struct sc_ops *single)
{
    return !sc_replaying_follows() && sc_hazards_heals(op) && sc_hazards_heals(&single->ops[0]) &&
           sc_edges_order_after(issue->stream, &single->ops[0], issue->call->api);
}

/* Reports the conflicts that are left after order_after_conflicts has inserted its waits: those for
 * which it could insert none. */
static __attribute__((noinline)) void report_unordered_left(const struct sc_issue *issue,
                                                            const struct sc_op_info *op)
{
    SC_OPS(left);
    sc_track_conflicts(&sc_track, op, /*awaited=*/false, &left);
    report_unordered(issue, SC_ACTION_REPORTED, &left, next_number(issue->stream));
}

/* Makes the call's stream wait for each operation in flight that would race with the use, and
 * reports each (SC204). Conflicts that are left are reported when sc_track_issue finds them again
 * after the call; or here, if the call is judged only before it is made. */
static __attribute__((noinline)) void order_after_conflicts(const struct sc_issue *issue,
                                                            const struct sc_host_use *use)
{
    SC_OPS(conflicts);
    struct sc_op_info op;
    describe_op(issue, use, &op);
    op.unseen_waits = sc_track_find_unseen_before(&sc_track, issue->stream->id, issue->after);
    sc_track_conflicts(&sc_track, &op, /*awaited=*/false, &conflicts);
    for (unsigned i = 0; i < sc_ops_count_kept(&conflicts); i++) {
        struct sc_ops single = sc_ops_view_one(&conflicts, i);
        if (order_after_one(issue, &op, &single))
            report_unordered(issue, SC_ACTION_ORDERED, &single, next_number(issue->stream));
    }
    if (conflicts.count && issue->is_judged && !sc_replaying_prepares())
        report_unordered_left(issue, &op);
}

/* Makes a launch that uses freed memory (which is a hazard by itself, SC401) wait for all
 * operations for which the library keeps that memory: so the launch reads what they would have left
 * there. */
static __attribute__((noinline)) void order_after_all_held(const struct sc_issue *issue,
                                                           const struct sc_host_use *use)
{
    struct sc_ticket tickets[SC_TRACK_OPS_MAX];
    struct sc_op_info op;
    describe_op(issue, use, &op);
    unsigned count =
        SC_TRACKED(sc_holds_find_unordered(track.holds, &op, tickets, SC_TRACK_OPS_MAX));
    for (unsigned i = 0; i < count; i++)
        sc_marks_order_after(issue->stream, &tickets[i]);
}

/* Called before the driver's call. If the call launches a graph that uses pageable memory which the
 * program has freed, and the library keeps that memory for operations that are not done (a hold),
 * the launch is made to wait for these. */
SC_INLINED void order_after_held(const struct sc_issue *issue, const struct sc_host_use *use)
{
    if (issue->by_graph && use->kind == SC_PAGEABLE &&
        sc_track_may_have(&sc_track, SC_NEAR_HOLDS, use->shape.address,
                          sc_shape_hull_bytes(&use->shape)))
        order_after_all_held(issue, use);
}

/* Called before the device, or the driver within the call, writes these bytes, as the program wants
 * it to. Compares, for the last time, the sources of copies in flight there, and reports those that
 * the program has changed. A comparison after the write would take the write for the program's. */
void sc_issue_seal(const struct sc_call *call, uintptr_t address, size_t size_bytes)
{
    SC_OPS(overwritten);
    if (!sc_active() || size_bytes == 0 || sc_at_once_is_idle())
        return;
    SC_TRACKED(sc_inflight_seal(track.inflight, address, size_bytes, &overwritten));
    if (!sc_replaying_is_on()) /* the driver may have written the bytes already */
        sc_hazards_report_overwritten(&overwritten, SC_CULPRIT_OF(call));
}

/* Keeps the driver from reading a small source before earlier work has written it. With an empty
 * queue of the stream, the driver reads a small contiguous source of pinned memory within the call,
 * although work of the legacy stream, or work that the context waits for, may still be about to
 * write it (docs/driver.md, Sources taken early). If so, the stream is made to wait in its own
 * queue. `has_known_writers`: copies in flight may write the source; else only kernels and host
 * functions might, which `stable` rules out. Needed in every mode, since the queue may run empty
 * while the library does its own work before the call. */
SC_INLINED void avoid_early_take(const struct sc_issue *issue, const struct sc_host_use *use,
                                 bool has_known_writers)
{
    if (!has_known_writers && use->stable)
        return;
    if (use->direction != SC_H2D || !use->range || issue->by_graph || use->shape.rows != 1 ||
        use->shape.width_bytes > TAKEN_EARLY_BYTES)
        return;
    if (sc_unlikely(sc_unfinished_is_hidden(issue->stream, has_known_writers)))
        sc_marks_wait_for_itself(issue->stream);
}

/* May an operation in flight conflict with the use? If not, no search is needed. Lock-free. */
SC_INLINED bool may_conflict(const struct sc_issue *issue, const struct sc_host_use *use)
{
    return sc_track_may_conflict(&sc_track, use->range, use->direction, issue->stream->id);
}

/* In mode=fix: makes the call's stream wait for operations in flight that write the memory of the
 * use, or that read what the use writes, and keeps the driver from reading a small source before
 * those. */
SC_INLINED void order_use(const struct sc_issue *issue, const struct sc_host_use *use)
{
    bool has_known_writers = may_conflict(issue, use);
    avoid_early_take(issue, use, has_known_writers);
    if (sc_unlikely(has_known_writers))
        order_after_conflicts(issue, use);
}

/* Called before the driver's call, for each use of host memory after the call. In mode=fix its
 * conflicts are healed now. In mode=report they are found when the operation is recorded, unless
 * the call is judged only before it is made. In a replay nothing can be healed any more: the driver
 * has carried the call out. */
SC_INLINED void prepare_use(const struct sc_issue *issue, const struct sc_host_use *use)
{
    if (sc_options.mode == SC_MODE_FIX && !sc_replaying_is_on()) {
        order_after_held(issue, use);
        order_use(issue, use);
    } else {
        if (!sc_replaying_is_on() && sc_unlikely(sc_unfinished_is_hidden(issue->stream, true)))
            avoid_early_take(issue, use, may_conflict(issue, use));
        if (issue->is_judged)
            order_after_conflicts(issue, use);
    }
}

/* Sources in memory that the use writes may correctly change from now on, so they are compared for
 * the last time: also if nothing is reported of the use itself. */
SC_INLINED void seal_written(const struct sc_issue *issue, const struct sc_host_use *use)
{
    if (sc_direction_writes_host(use->direction) &&
        (use->in_call || sc_track_may_seal(&sc_track, use->range, use->kind)))
        sc_issue_seal(issue->call, use->shape.address, sc_shape_hull_bytes(&use->shape));
}

/* Notes that the operations are those of a launched graph, with the reasons why their order is not
 * certain (`unsure`) and the time of the launch. Other nodes may write their sources, so no source
 * is copied or compared. */
void sc_issue_set_graph(struct sc_issue *issue, uint8_t unsure, uint64_t ticks)
{
    issue->by_graph = true;
    issue->unsure = unsure;
    issue->graph_ticks = ticks;
    for (unsigned i = 0; i < issue->host_count; i++)
        issue->host[i].stable = false; /* other nodes may write it */
}

/* Returns how a race on device memory is healed in mode=fix: by an edge (the stream waits for an
 * event), or by a wait of the host, which ends after stall_limit. A call that waits for its stream
 * gets no edge: behind one it would wait for the other stream's work without limit. */
static enum sc_device_healing healing_of(const struct sc_issue *issue)
{
    return issue->joins_stream ? SC_HEALED_BY_WAIT : SC_HEALED_BY_EDGE;
}

/* Called in a replay that comes before the driver carries the call out: the call came through no
 * wrapper, so the wrapper is run before it and once more behind it. Now the stream is only made to
 * wait for what conflicts. Then the issue is emptied, since the second run records the call. */
static __attribute__((noinline)) void order_for_replay(struct sc_issue *issue)
{
    for (unsigned i = 0; i < issue->host_count; i++)
        if (!issue->host[i].in_call)
            order_use(issue, &issue->host[i]);
    if (sc_issue_records_device(issue))
        sc_device_uses_judge(&issue->uses, issue->call, issue->stream, healing_of(issue));
    issue->uses.count = 0;
    issue->host_count = 0;
    issue->op_count = 0;
    issue->joins_stream = false;
}

/* Compares memory that the driver reads or writes within the call with the operations in flight:
 * reports those that it would race with, and in mode=fix waits for them. */
static void judge_touch(const struct sc_issue *issue, const struct sc_host_use *use)
{
    sc_at_once(&(struct sc_at_once){
        .call = issue->call,
        .stream = issue->stream,
        .touch = use->direction == SC_H2D ? SC_TOUCH_READ : SC_TOUCH_WRITE,
        .shape = use->shape,
        .fold = use->fold,
        .after = issue->after,
    });
}

/* Is the order of a launch's operations not to be seen, so that nothing is reported of them? */
static bool is_unjudged(const struct sc_issue *issue)
{
    return issue->unsure & SC_UNSURE_UNJUDGED;
}

/* Judges all touches of the call: what the driver reads or writes before it returns. Then compares,
 * for the last time, sources of other copies in what the call writes: it changes them correctly. */
static __attribute__((noinline)) void judge_touches(const struct sc_issue *issue)
{
    for (unsigned i = 0; i < issue->host_count && !is_unjudged(issue); i++)
        if (issue->host[i].in_call)
            judge_touch(issue, &issue->host[i]);
    for (unsigned i = 0; i < issue->host_count; i++)
        if (issue->host[i].in_call)
            seal_written(issue, &issue->host[i]);
}

/* Judges what the call reads or writes before it returns (touches), if there is any: host memory of
 * the call that becomes no operation. */
void sc_issue_judge_touches(const struct sc_issue *issue)
{
    if (issue->host_count != issue->op_count)
        judge_touches(issue);
}

/* Called before the driver's call: judges all uses that the wrapper has added, and in mode=fix
 * makes the stream wait for operations that they conflict with. Before a call without operations on
 * host memory, earlier operations get their mark (an event by which completion is learnt): a mark
 * behind the call would occur only when its work is done, too. */
SC_INLINED void judge_and_order(struct sc_issue *issue)
{
    if (sc_unlikely(sc_replaying_prepares())) {
        order_for_replay(issue);
        return;
    }
    sc_issue_judge_touches(issue);
    sc_unfinished_legacy(issue->stream);
    if (!issue->joins_stream && issue->op_count == 0)
        sc_marks_before_work(issue->stream, SC_BEFORE_DEVICE_WORK);
    for (const struct sc_host_use *use = issue->host, *last = use + issue->host_count; use < last;
         use++) {
        if (use->in_call)
            continue;
        if (!is_unjudged(issue))
            prepare_use(issue, use);
        seal_written(issue, use);
    }
    if (sc_unlikely(issue->uses.count) && sc_issue_records_device(issue))
        sc_device_uses_judge(&issue->uses, issue->call, issue->stream, healing_of(issue));
}

/* Judges one operation of a call that issues several, and in mode=fix makes the stream wait for
 * what conflicts. The caller begins the call on the stream itself. An empty copy is no work. */
void sc_issue_judge_and_order(struct sc_issue *issue)
{
    if (issue->stream && !issue->is_empty)
        judge_and_order(issue);
}

/* Called before the driver's call: judges and orders its uses, and begins the call on its stream.
 * If the call will wait for the stream, also stores what the host will have waited for (the point).
 * A replay before the driver's call ends here: its second run begins the call. */
void sc_issue_begin_call(struct sc_issue *issue)
{
    if (!issue->stream || issue->is_empty)
        return;
    judge_and_order(issue);
    if (sc_unlikely(sc_replaying_prepares()))
        return;
    if (issue->joins_stream)
        issue->point =
            SC_TRACKED(sc_order_begin_to_wait(track.order, issue->stream->id, &issue->ordered));
    else
        sc_track_begin_call(&sc_track, issue->stream->id, &issue->ordered);
    issue->place = sc_order_place(&issue->ordered);
}

/* Returns the first host use of the call that becomes an operation, or NULL. Of two uses the first
 * is the source; only that one may be a touch (used before the call returns) beside an operation.
 */
SC_INLINED const struct sc_host_use *first_op(const struct sc_issue *issue)
{
    return issue->op_count ? &issue->host[issue->host[0].in_call] : NULL;
}

/* Takes a snapshot of the call's source: a copy in pinned memory, which the device then reads, so
 * that the program may change the source at once. Returns it; NULL: none may or can be taken, and
 * the device reads the source. */
SC_INLINED_HERE const void *sc_issue_snapshot(struct sc_issue *issue)
{
    const struct sc_host_use *use = first_op(issue);
    if (!issue->stream || !use || issue->keeps_source)
        return NULL;
    const struct sc_slot_source read = {issue->stream->id, use->range, use->kind, &use->shape,
                                        &use->fold};
    issue->slot = sc_snapshots_take(issue->stream->context, use->direction, use->stable, &read);
    return issue->slot ? issue->slot->bytes : NULL;
}

/* Returns what the wrapper passes to the driver as the source: a snapshot if one was taken, else
 * `source`. */
const void *sc_issue_source(struct sc_issue *issue, const void *source)
{
    const void *instead = sc_issue_snapshot(issue);
    return instead ? instead : source;
}

/* Returns the reason why none of the operation's pages may be protected (it is then counted by that
 * reason as not watched); SC_NO_VERDICT_COUNT: they may be. Stack pages are in use by the program
 * itself. The driver accesses pageable memory through the program's mapping, on a thread that the
 * guard lets pass; a device that uses that mapping itself would fail at a protected page. Behind a
 * wait whose end cannot be seen, the program may touch the pages correctly. */
static enum sc_no_verdict_reason reason_not_to_guard(const struct sc_issue *issue,
                                                     const struct sc_op_info *op)
{
    if (!sc_options.guard)
        return SC_NO_VERDICT_OFF;
    if (sc_ops_is_kernel(op) && issue->stream->context->reads_pageable)
        return SC_NO_VERDICT_PAGEABLE;
    if (op->kind == SC_STACK)
        return SC_NO_VERDICT_STACK;
    if (!op->range && op->by_graph)
        return SC_NO_VERDICT_PAGEABLE;
    if (sc_ops_is_unjudged(op) || op->unseen_waits.waits)
        return SC_NO_VERDICT_UNSEEN;
    return !op->range && issue->stream->context->reads_pageable ? SC_NO_VERDICT_PAGEABLE
                                                                : SC_NO_VERDICT_COUNT;
}

/* Notes in `op` which parts of a pageable source are to be compared when the copy is done, since no
 * page protection shows their change: all of a small source, else its first and last page, which
 * hold other memory as well. Returns true for a small source, which needs no protection. */
static bool note_compared_parts(struct sc_op_info *op)
{
    bool compared = !op->range && op->direction == SC_H2D && op->stable;
    op->is_compared_whole = compared && sc_shape_hull_bytes(&op->shape) <= SC_COMPARED_WHOLE_BYTES;
    op->shares_pages |= compared;
    return op->is_compared_whole;
}

/* Is it useless to protect a pageable source, since the copy is complete already? Protection lasts
 * until completion; with strict=1 longer, until the program has waited. */
static bool is_source_done(const struct sc_issue *issue, const struct sc_op_info *op)
{
    return issue->is_complete && !op->range && op->direction == SC_H2D &&
           !sc_track_guards_until_known(&sc_track);
}

/* Chooses the pages to protect for the operation (sc_guard_protect), or counts it as not watched,
 * by the reason why no page may be protected. If the device waits for the host before it, and
 * nobody sees when that wait ends, pages are chosen all the same, and are protected when the wait
 * is known to be over (sc_inflight_guard_seen). A small source that is compared needs no page. */
static __attribute__((noinline)) void choose_guard_pages(const struct sc_issue *issue,
                                                         struct sc_op_info *op)
{
    enum sc_no_verdict_reason reason = reason_not_to_guard(issue, op);
    bool guarded_later = op->range && !sc_ops_is_unjudged(op) && op->unseen_waits.waits;
    if (note_compared_parts(op) || is_source_done(issue, op))
        return;
    if (reason != SC_NO_VERDICT_COUNT) {
        sc_no_verdicts_note_unwatched(sc_track_parts.no_verdicts, reason,
                                      sc_shape_hull_bytes(&op->shape));
        if (reason != SC_NO_VERDICT_UNSEEN || !guarded_later)
            return;
    }
    if (!op->range) {
        sc_guard_protect(&(struct sc_range_info){.address = op->shape.address,
                                                 .size_bytes = sc_shape_hull_bytes(&op->shape),
                                                 .kind = SC_PAGEABLE},
                         op, issue->call->site);
        return;
    }
    const struct sc_range_info range = sc_track_reread_range(&sc_track, op->range);
    if (is_within_range(&op->shape, &range))
        sc_guard_protect(&range, op, issue->call->site);
}

/* Chooses the pages to protect for an operation, once. None are needed if the device reads a copy
 * of the source, or for a prefetch of managed memory, which changes no bytes. */
static inline void choose_guard(const struct sc_issue *issue, struct sc_op_info *op)
{
    if (!sc_ops_is_copied(op) && op->direction != SC_PREFETCH && !op->is_guard_chosen)
        choose_guard_pages(issue, op);
}

/* Chooses the pages of an operation before it is recorded, for a caller that records many at once,
 * and notes that they are chosen, so that recording does not choose again. */
void sc_issue_choose_guard(const struct sc_issue *issue, struct sc_op_info *op)
{
    choose_guard(issue, op);
    op->is_guard_chosen = true;
}

/* Notes in `op` which function's local variable the operation uses, so that it is reported when
 * that function returns too early. A call with many locals keeps the frame of the last one
 * (`issue->owner`): the next one mostly lies in the same. */
static void note_frame(const struct sc_issue *issue, struct sc_op_info *op)
{
    struct sc_unwind_owner unknown = {0};
    sc_returned_frames_note(op, issue->owner ? issue->owner : &unknown);
}

/* Fills in what is known of the operation only when the driver has accepted it: the thread, CUPTI's
 * names of the call, waits of the device before it whose end cannot be seen, the function whose
 * local variable it uses, and the pages to protect. */
SC_INLINED void complete_op(const struct sc_issue *issue, struct sc_op_info *op)
{
    op->thread = sc_thread_id();
    if (sc_current_call_may_be_known()) {
        op->runtime_api = sc_current_call_runtime_api();
        op->correlation_id = sc_current_call_correlation_id();
    }
    if (sc_unlikely(sc_track_attends(SC_ATTENDS_UNSEEN_WAITS)))
        op->unseen_waits = sc_track_find_unseen_before(&sc_track, issue->stream->id, NULL);
    op->ticket.epoch = issue->place;
    sc_stack_losses_note(op);
    if (sc_unlikely(op->kind == SC_STACK) && !op->by_graph)
        note_frame(issue, op);
    choose_guard(issue, op);
}

/* Returns which of the guard's locks (stripes, as bits) to take before the operation is recorded.
 * Stripe 0 is shared by all threads, so it is taken this early only for a simple copy, of which the
 * pages are sure to change. */
static uint64_t stripes_to_lock(const struct sc_op_info *op)
{
    uint64_t stripes =
        sc_spans_stripe_bits(sc_track_parts.guards, op->guard_address, op->guard_bytes);
    return op->is_simple ? stripes : stripes & ~UINT64_C(1);
}

/* What one call's operations come to: for the mark (an event by which completion is learnt) and the
 * times that are noted behind them. */
struct recorded {
    size_t size_bytes;
    bool has_uncopied; /* the device reads or writes at least one where the program has it */
    bool writes_host;
};

/* Reports what the tracker has found while it recorded the operations: conflicts (unless the call
 * was judged before it was made), and sources that the program has overwritten. `number`: the place
 * of the call's first operation on its stream. */
SC_INLINED void report_found(const struct sc_issue *issue, const struct sc_issued *issued,
                             uint64_t number)
{
    if (sc_unlikely(issued->conflicts.count) && !issue->is_judged)
        report_unordered(issue, SC_ACTION_REPORTED, &issued->conflicts, number);
    if (sc_unlikely(issued->overwritten.count))
        sc_hazards_report_overwritten(&issued->overwritten, SC_CULPRIT_OF(issue->call));
}

/* Records the operations of an accepted call with this stack and time: completes their
 * descriptions, gives them to the tracker, protects their pages, and reports what was found. The
 * guard's locks are taken before the tracker records the operations, and sc_guard_apply releases
 * them. */
static __attribute__((noinline)) struct recorded
record_ops(struct sc_issue *issue, struct sc_issue_ops *ops, uint32_t stack, uint64_t now_ticks)
{
    SC_ISSUED(issued);
    struct recorded all = {0, false, false};
    uint64_t stripes = 0;
    for (struct sc_op_info *op = ops->of, *end = op + ops->count; op < end; op++) {
        op->stack = stack;
        op->ticks = now_ticks;
        complete_op(issue, op);
        all.size_bytes += sc_shape_used_bytes(&op->shape, &op->fold);
        all.has_uncopied |= !sc_ops_is_copied(op);
        all.writes_host |= sc_direction_writes_host(op->direction);
        if (op->guard_bytes)
            stripes |= stripes_to_lock(op);
    }
    sc_guard_lock_stripes(stripes);
    sc_track_issue(&sc_track, &issue->ordered, ops->of, ops->count, &issued);
    sc_guard_apply(SC_GUARD_OWN);
    report_found(issue, &issued, ops->of[0].ticket.number);
    return all;
}

/* Records the operations of an accepted call as sc_issue_end does, but no mark (an event by which
 * completion is learnt) behind them: the caller records one for many calls. Returns the sum of
 * their bytes. */
size_t sc_issue_record(struct sc_issue *issue, struct sc_issue_ops *ops, uint32_t stack,
                       uint64_t now_ticks)
{
    return record_ops(issue, ops, stack, now_ticks).size_bytes;
}

/* Records a simple copy, which the driver has accepted, as any other operation. Called if the quick
 * way has failed: the pages to protect have still to be chosen, or another thread has issued
 * something meanwhile. `ops`: the copy's description, which gets its ticket (place on the stream).
 */
static __attribute__((noinline)) void record_as_any(const struct sc_call *call,
                                                    struct sc_stream_record *stream,
                                                    const struct sc_simple_copy *copy,
                                                    struct sc_issue_ops *ops)
{
    struct sc_issue issue;
    sc_issue_begin_uncaptured(&issue, call, stream);
    ops->count = 1;
    record_ops(&issue, ops, copy->stack, copy->ticks);
}

/* Records a simple copy (one that takes the quick way, calls/simple_copies.h), which the driver has
 * accepted: with few steps if possible, or else as any other operation. A copy to the host that
 * nobody guards is counted as not watched. Returns the copy's place on its stream. */
uint64_t sc_issue_record_simple_copy(const struct sc_call *call, struct sc_stream_record *stream,
                                     const struct sc_simple_copy *copy)
{
    SC_ISSUED(issued);
    struct sc_issue_ops ops;
    bool done = sc_track_issue_simple_copy(&sc_track, copy, &ops.of[0], &issued);
    if (sc_unlikely(issued.overwritten.count))
        sc_hazards_report_overwritten(&issued.overwritten, SC_CULPRIT_OF(call));
    if (!done)
        record_as_any(call, stream, copy, &ops);
    else if (!copy->slot && !copy->is_guarded)
        sc_no_verdicts_note_unwatched(sc_track_parts.no_verdicts, SC_NO_VERDICT_OFF,
                                      copy->size_bytes);
    return ops.of[0].ticket.number;
}

/* Is all that the call does done when it returns? Then nothing of it is in flight. */
static bool is_over_in_call(const struct sc_issue *issue)
{
    return issue->joins_stream && !issue->lands_late;
}

/* Are the call's uses of device memory to be noted behind the call, for later calls to be compared
 * with? Not if device memory is not watched, or if all is done when the call returns. */
static bool notes_uses_of_device(const struct sc_issue *issue)
{
    return sc_unlikely(issue->uses.count) && sc_issue_records_device(issue) &&
           !is_over_in_call(issue);
}

/* Adds the call to the stream's history, from which the post-mortem of a lost context is written:
 * with what the wrapper has named, else with the first host memory that it uses. `number`: the
 * operation's place on the stream; 0: the call has done its work already. */
static void note_in_history(const struct sc_issue *issue, uint32_t stack, uint64_t ticks,
                            uint64_t number)
{
    struct sc_history_entry use = {.direction = SC_NO_DIRECTION};
    const struct sc_host_use *first = first_op(issue);
    if (!sc_options.postmortem)
        return;
    if (issue->named.size_bytes)
        use = issue->named;
    else if (first)
        sc_issue_set_history_host(&use, first->direction, &first->shape);
    use.stack = stack;
    sc_recently_issued(issue->call->api, issue->call->site, issue->stream->id, ticks, number, use);
}

/* Notes an accepted call that is no operation on host memory, such as a memset of device memory:
 * that the queue of a blocking stream, or of the legacy stream, has work in it, and an entry of the
 * history (for the post-mortem of a lost context) with the number of the stream's next operation,
 * before which it is done. */
static void note_device_work(const struct sc_issue *issue)
{
    uint64_t now = sc_unfinished_now(issue->stream);
    if (issue->stream->kind != SC_STREAM_NONBLOCKING)
        sc_unfinished_queued(issue->stream, now);
    note_in_history(issue, 0, now, next_number(issue->stream));
}

/* Notes in the history (for the post-mortem of a lost context) an accepted call without an
 * operation on host memory: as done, or as work that the device has still to do. */
static __attribute__((noinline)) void note_unrecorded(const struct sc_issue *issue)
{
    if (is_over_in_call(issue))
        note_in_history(issue, 0, sc_ticks(), 0);
    else
        note_device_work(issue);
}

/* Records an accepted call with operations on host memory: the operations with the call's stack, an
 * entry of the history (for the post-mortem), that the stream's queue has work in it, a mark behind
 * them if one is due (an event by which their completion is learnt), and the call's uses of device
 * memory. */
SC_INLINED void record_issue(struct sc_issue *issue)
{
    struct sc_issue_ops ops;
    uint64_t now = sc_ticks();
    uint32_t stack = sc_unwind_here(issue->call->site);
    sc_issue_describe(issue, &ops);
    const struct recorded all = record_ops(issue, &ops, stack, now);
    note_in_history(issue, stack, now, ops.of[0].ticket.number);
    sc_unfinished_queued(issue->stream, now);
    if (all.writes_host)
        sc_unfinished_written(issue->stream);
    sc_marks_issued(issue->stream, all.size_bytes, !all.has_uncopied, now);
    if (notes_uses_of_device(issue))
        sc_device_uses_note_all(issue->uses.of, issue->uses.count, issue->call, issue->stream,
                                &ops.of[0]);
}

/* Does once for a call what follows its operations: an entry in the history (for the post-mortem),
 * page protection, the note that the stream's queue has work, and a mark (an event by which
 * completion is learnt) if one is due. Work without a recorded operation has the number of the
 * stream's next operation: it is done before that one. */
void sc_issue_finish_call(const struct sc_issued_call *issued)
{
    struct sc_stream_record *stream = issued->stream;
    sc_recently_issued(issued->call->api, issued->call->site, stream->id, issued->ticks,
                       issued->number ? issued->number : next_number(stream), issued->use);
    sc_guard_apply(SC_GUARD_OWN);
    sc_unfinished_queued(stream, issued->ticks);
    if (issued->writes_host)
        sc_unfinished_written(stream);
    if (issued->number)
        sc_marks_issued(stream, issued->size_bytes, issued->snapshotted, issued->ticks);
}

/* Ends a call of which no operation on host memory is recorded: the driver has refused it, or it
 * has none. The snapshot of a refused call is released. Uses of device memory are noted if the
 * driver has accepted the call. */
static __attribute__((noinline)) void end_unrecorded(struct sc_issue *issue, CUresult result)
{
    sc_track_end_call(&sc_track, &issue->ordered, result == CUDA_SUCCESS);
    if (issue->slot)
        sc_snapshots_return(issue->slot);
    if (result == CUDA_SUCCESS && notes_uses_of_device(issue))
        sc_device_uses_note(&issue->uses, issue->call, issue->stream, issue->place);
}

/* Called when a captured call has succeeded: notes what the graph's new node does with host memory
 * and with device memory, for the graph's launches; and, if this thread captures, for the rule that
 * finds work missing from its graph (SC305). Unwinds the stack only if there is anything to note.
 */
static __attribute__((noinline)) void note_captured_node(const struct sc_issue *issue)
{
    bool tells_beside = sc_unlikely(issue->uses.count) && sc_beside_is_own();
    bool has_device_node = !issue->host_count && issue->uses.count && sc_device_nodes_are_watched();
    if (!issue->host_count && !tells_beside && !has_device_node)
        return;
    const struct sc_graph_call call = {.graph = issue->graph,
                                       .by = issue->call,
                                       .stream = issue->captured_stream,
                                       .stack = sc_unwind_here(issue->call->site)};
    for (unsigned i = 0; i < issue->host_count; i++)
        sc_node_uses_note(&call, &issue->host[i]);
    if (has_device_node)
        sc_node_uses_note_device(&call, 0, &issue->uses);
    if (tells_beside)
        sc_beside_uses_note_captured(&call, &issue->uses);
}

/* Ends a call that waits for its stream: if it has succeeded, the host knows the stream's earlier
 * work to be done (the point that was stored before the call). */
static __attribute__((noinline)) void end_blocking_call(struct sc_issue *issue, CUresult result)
{
    if (result != CUDA_SUCCESS) {
        sc_track_release_point(&sc_track, &issue->point);
        return;
    }
    sc_hazards_note_done_and_report(&issue->point, SC_CULPRIT_OF(issue->call));
}

/* Called when the driver has answered: records the operations of an accepted call and protects
 * their pages; of a captured call, the graph's uses; of a refused call nothing. Returns `result`.
 */
CUresult sc_issue_end(struct sc_issue *issue, CUresult result)
{
    if (!issue->stream && (!issue->graph || result != CUDA_SUCCESS))
        return result;
    SC_KEEP_ERRNO();
    if (issue->stream)
        sc_unfinished_legacy(issue->stream); /* again: another thread may have waited meanwhile */
    if (issue->graph) {
        note_captured_node(issue);
        return result;
    }
    if (sc_unlikely(issue->uses.count) && sc_beside_needs_calls() && result == CUDA_SUCCESS)
        sc_beside_uses_note_issued(issue->call, issue->stream, &issue->uses, true,
                                   issue->is_detour);
    if (result == CUDA_SUCCESS && issue->op_count)
        record_issue(issue);
    else
        end_unrecorded(issue, result);
    if (issue->joins_stream)
        end_blocking_call(issue, result);
    if (result == CUDA_SUCCESS && !issue->op_count && !issue->is_empty)
        note_unrecorded(issue);
    return result;
}

/* Is the call's stream capturing, so that its work becomes a node of a graph? */
bool sc_issue_is_captured(const struct sc_call *call, CUstream handle)
{
    return sc_streams_find_captured(handle, call->per_thread) != NULL;
}
