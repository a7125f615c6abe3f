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
#include "interpose/calls/sync.h"
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
#include "interpose/streams/contexts.h"
#include "interpose/streams/marks.h"
#include "interpose/streams/streams.h"
#include "interpose/streams/unfinished.h"
#include "report/options.h"
#include "track/copy_manner.h"
#include "track/history.h"
#include "track/hold.h"
#include "track/hold_kind.h"
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
#include "track/track_holds.h"
#include "track/track_ops.h"
#include "track/track_order.h"
#include "track/track_parts.h"
#include "track/track_ranges.h"
#include "track/track_streams.h"
#include "track/track_views.h"

#include "common/poison.h"

enum { TAKEN_EARLY_BYTES = 24 * 1024 };

/* Initialises an issue, except members that are set before they are read. */
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
    issue->waits_after = false;
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

/* Makes the issue one of a node of the captured graph, not of an operation, since the stream
 * captures. */
static __attribute__((noinline)) void make_node_issue(struct sc_issue *issue)
{
    issue->captured_stream = (uintptr_t)issue->stream->handle;
    issue->graph = sc_streams_graph(issue->stream);
    issue->stream = NULL;
}

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

/* Adds an empty use. Returns NULL if the issue has as many as a call can have. */
SC_INLINED struct sc_host_use *add_use(struct sc_issue *issue)
{
    return issue->host_count < SC_ISSUE_HOST_MAX ? &issue->host[issue->host_count++] : NULL;
}

/* Adds an operation. Of `range`, neither the address nor the snapshot and guard settings are used.
 */
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

/* Describes a use as an operation, for conflicts and for the tracker. */
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

SC_INLINED_HERE void sc_issue_describe(const struct sc_issue *issue, struct sc_issue_ops *ops)
{
    struct sc_op_info *op = ops->of;
    for (const struct sc_host_use *use = issue->host, *end = use + issue->host_count; use < end;
         use++)
        if (!use->in_call)
            describe_op(issue, use, op++);
    ops->count = (unsigned)(op - ops->of);
}

/* Adds an operation on memory in a range of the tracker's. */
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

/* Such memory is held: its registration ends when no graph uses it any more. */
bool sc_issue_is_kept_registered(const struct sc_shape *shape)
{
    return sc_track_is_held(&sc_track, shape->address, sc_shape_hull_bytes(shape),
                            SC_HOLDS_UNREGISTERED);
}

/* Adds memory that the call itself reads or writes before it returns. */
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

/* Does the device work with pageable memory itself, without staging it? */
static bool works_in_place(const struct sc_issue *issue)
{
    return issue->stream && issue->stream->context->reads_pageable;
}

/* Adds a use as an operation or as a touch, depending on `when` the driver uses the memory. The
 * range is 0 if the memory is pageable, or another thread has unregistered it meanwhile. */
static __attribute__((noinline)) void
add_use_by_time(struct sc_issue *issue, enum sc_direction direction, const struct sc_shape *shape,
                const struct sc_range_info *range, enum sc_copy_time when)
{
    if (sc_likely(range->range && when != SC_IN_CALL)) {
        add_op_on_range(issue, direction, shape, range);
        return;
    }
    if (!range->range && issue->stream && sc_issue_is_kept_registered(shape))
        issue->waits_after = true;
    if (when != SC_IN_CALL && (issue->graph || works_in_place(issue)))
        sc_issue_add_pageable(issue, direction, shape, /*is_there=*/false);
    else if (direction == SC_H2D || direction == SC_D2H)
        sc_issue_add_touch(issue, direction == SC_H2D ? SC_TOUCH_READ : SC_TOUCH_WRITE, shape);
}

/* Notes that the call waits for its stream, if the driver makes the copy so; and whether the target
 * is written only after that wait. */
static void set_waits(struct sc_issue *issue, const struct sc_copy_manner *manner)
{
    issue->joins_stream |= manner->waits;
    issue->lands_late |= manner->waits && manner->written == SC_LATE;
}

/* Returns when the driver uses pageable memory, in a copy whose other side is device memory. */
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

/* Returns when the driver uses memory that is the only host range of its operation. Only copies use
 * pageable memory within the call. */
static enum sc_copy_time time_of_lone_range(struct sc_issue *issue, enum sc_direction direction,
                                            size_t size_bytes)
{
    bool is_copy = direction == SC_H2D || direction == SC_D2H;
    if (issue->graph || !is_copy)
        return SC_LATE;
    return time_of_pageable(issue, direction, size_bytes);
}

/* Adds the only host range of an operation. */
SC_INLINED void host_shape(struct sc_issue *issue, enum sc_direction direction,
                           const struct sc_shape *shape)
{
    size_t hull_bytes = sc_shape_hull_bytes(shape);
    issue->is_empty = hull_bytes == 0;
    if (issue->is_empty)
        return;
    const struct sc_range_info range = sc_track_find_range(&sc_track, shape->address);
    if (sc_likely(range.range && sc_copy_manner_is_late_beside_device(range.kind)))
        add_op_on_range(issue, direction, shape, &range);
    else
        add_use_by_time(issue, direction, shape, &range,
                        time_of_lone_range(issue, direction, hull_bytes));
}

void sc_issue_add_host_shape(struct sc_issue *issue, enum sc_direction direction,
                             const struct sc_shape *shape)
{
    if (sc_issue_is_on(issue))
        host_shape(issue, direction, shape);
}

void sc_issue_set_fold(struct sc_issue *issue, unsigned from, const struct sc_fold *fold)
{
    for (unsigned i = from; i < issue->host_count; i++)
        issue->host[i].fold = *fold;
}

void sc_issue_add_host(struct sc_issue *issue, enum sc_direction direction, const void *address,
                       size_t size_bytes)
{
    sc_issue_add_host_shape(issue, direction,
                            &(struct sc_shape){(uintptr_t)address, size_bytes, size_bytes, 1});
}

/* Adds one side of a copy, with the gaps within its rows. */
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

static bool are_same_manner(const struct sc_copy_manner *a, const struct sc_copy_manner *b)
{
    return a->waits == b->waits && a->read == b->read && a->written == b->written;
}

/* Would the driver make the copy in the same manner if it read the source from pinned memory of the
 * library's? */
static bool may_read_pinned(const struct sc_copy_case *copy, const struct sc_copy_manner *manner)
{
    struct sc_copy_case elsewhere = *copy;
    elsewhere.src = SC_PLACE_LOCKED;
    const struct sc_copy_manner other = sc_copy_manner_of(&elsewhere);
    return are_same_manner(manner, &other);
}

/* Returns how the driver makes the copy. Both sides of a node's copy count as used late: the real
 * manner is found at the launch. */
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

/* Enters what the copy reads and writes into its history entry. */
static void name_sides(struct sc_issue *issue, const struct sc_copy_sides *sides)
{
    const struct sc_shape *dst = &sides->dst.shape, *src = &sides->src.shape;
    size_t size_bytes = sc_shape_hull_bytes(dst);
    sc_issue_set_history(issue, sc_copy_sides_direction(sides), dst->address, src->address,
                         size_bytes ? size_bytes : sc_shape_hull_bytes(src));
}

/* Adds the memory at both sides of a copy: as an operation what the driver uses after the call, as
 * a touch what it uses within the call. */
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

/* Reports the conflicts that were kept (SC204), and counts the others as not judged. `number`: that
 * of the issue's operation, which was issued or is about to be. */
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

static uint64_t next_number(const struct sc_stream_record *stream)
{
    return sc_track_issued(&sc_track, stream->id) + 1;
}

/* Orders the stream after the operation that `op` would race with. Returns false if no edge may or
 * can be made. */
static bool order_after_one(const struct sc_issue *issue, const struct sc_op_info *op,
                            const struct sc_ops *single)
{
    return !sc_replaying_follows() && sc_hazards_heals(op) && sc_hazards_heals(&single->ops[0]) &&
           sc_edges_order_after(issue->stream, &single->ops[0], issue->call->api);
}

/* Reports the conflicts that are left, for which no edge could be made. */
static __attribute__((noinline)) void report_unordered_left(const struct sc_issue *issue,
                                                            const struct sc_op_info *op)
{
    SC_OPS(left);
    sc_track_conflicts(&sc_track, op, /*awaited=*/false, &left);
    report_unordered(issue, SC_ACTION_REPORTED, &left, next_number(issue->stream));
}

/* Orders the operation after its conflicts, by edges. What is left is found again after the call,
 * unless the issue is judged only before it. */
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

/* Orders a launch that uses freed memory, which is a hazard by itself (SC401), after all operations
 * for which the memory is held: so it reads what they would have left there. */
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

/* Orders a launch after the operations for which memory is held that the graph uses. */
SC_INLINED void order_after_held(const struct sc_issue *issue, const struct sc_host_use *use)
{
    if (issue->by_graph && use->kind == SC_PAGEABLE &&
        sc_track_may_have(&sc_track, SC_NEAR_HOLDS, use->shape.address,
                          sc_shape_hull_bytes(&use->shape)))
        order_after_all_held(issue, use);
}

/* Compares, for the last time, sources in flight in bytes that the device or the call is about to
 * write correctly; otherwise that write would be mistaken for the program's. */
void sc_issue_seal(const struct sc_call *call, uintptr_t address, size_t size_bytes)
{
    SC_OPS(overwritten);
    if (!sc_active() || size_bytes == 0 || sc_at_once_is_idle())
        return;
    SC_TRACKED(sc_inflight_seal(track.inflight, address, size_bytes, &overwritten));
    if (!sc_replaying_is_on()) /* the driver may have written the bytes already */
        sc_hazards_report_overwritten(&overwritten, SC_CULPRIT_OF(call));
}

/* Makes the stream wait in its own queue if the driver could read a small source too early. If
 * nothing is queued in the stream, the driver reads a small contiguous source within the call. But
 * work of the legacy stream, or work that the context waits for, may still be about to write it
 * (docs/driver.md, Sources taken early). `has_known_writers`: copies in flight may write the
 * source. Done in every mode: while the library does its own work before the call, the stream's
 * queue may run empty. */
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

SC_INLINED bool may_conflict(const struct sc_issue *issue, const struct sc_host_use *use)
{
    return sc_track_may_conflict(&sc_track, use->range, use->direction, issue->stream->id);
}

/* Orders a use after operations that may write the same memory, or read what the use writes
 * (mode=fix). */
SC_INLINED void order_use(const struct sc_issue *issue, const struct sc_host_use *use)
{
    bool has_known_writers = may_conflict(issue, use);
    avoid_early_take(issue, use, has_known_writers);
    if (sc_unlikely(has_known_writers))
        order_after_conflicts(issue, use);
}

/* Orders a use before the driver can begin, and seals what it writes: earlier sources on the same
 * bytes may correctly change from now on. */
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
    if (sc_direction_writes_host(use->direction) &&
        sc_track_may_seal(&sc_track, use->range, use->kind))
        sc_issue_seal(issue->call, use->shape.address, sc_shape_hull_bytes(&use->shape));
}

/* Notes that the issue is a run of a launched graph, with the reasons for its uncertain order, and
 * the time of the launch. */
void sc_issue_set_graph(struct sc_issue *issue, uint8_t unsure, uint64_t ticks)
{
    issue->by_graph = true;
    issue->unsure = unsure;
    issue->graph_ticks = ticks;
    for (unsigned i = 0; i < issue->host_count; i++)
        issue->host[i].stable = false; /* other nodes may write it */
}

/* A call that waits for its stream gets no edge, since the wait would then include the other
 * stream's work without limit. */
static enum sc_device_healing healing_of(const struct sc_issue *issue)
{
    return issue->joins_stream ? SC_HEALED_BY_WAIT : SC_HEALED_BY_EDGE;
}

/* Only orders the operation. The wrapper is run before the driver makes the call, and is run again
 * after it. */
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

static bool is_unjudged(const struct sc_issue *issue)
{
    return issue->unsure & SC_UNSURE_UNJUDGED;
}

/* Judges the touches, and then seals what they write, since the call writes in order, as the device
 * does. */
static __attribute__((noinline)) void judge_touches(const struct sc_issue *issue)
{
    for (unsigned i = 0; i < issue->host_count; i++)
        if (issue->host[i].in_call)
            judge_touch(issue, &issue->host[i]);
    for (unsigned i = 0; i < issue->host_count; i++) {
        const struct sc_host_use *use = &issue->host[i];
        if (use->in_call && sc_direction_writes_host(use->direction))
            sc_issue_seal(issue->call, use->shape.address, sc_shape_hull_bytes(&use->shape));
    }
}

/* Touches are the host ranges that are no operations. */
void sc_issue_judge_touches(const struct sc_issue *issue)
{
    if (issue->host_count != issue->op_count && !is_unjudged(issue))
        judge_touches(issue);
}

/* Judges and orders all uses that were added, before the call. */
SC_INLINED void make_ready(struct sc_issue *issue)
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
         use++)
        if (!use->in_call && !is_unjudged(issue))
            prepare_use(issue, use);
    if (sc_unlikely(issue->uses.count) && sc_issue_records_device(issue))
        sc_device_uses_judge(&issue->uses, issue->call, issue->stream, healing_of(issue));
}

void sc_issue_judge_and_order(struct sc_issue *issue)
{
    if (issue->stream && !issue->is_empty)
        make_ready(issue);
}

/* Begins the call on its stream; a call that waits also takes the point of what it waits for. */
void sc_issue_begin_call(struct sc_issue *issue)
{
    if (!issue->stream || issue->is_empty)
        return;
    make_ready(issue);
    if (sc_unlikely(sc_replaying_prepares()))
        return;
    if (issue->joins_stream)
        issue->point =
            SC_TRACKED(sc_order_begin_to_wait(track.order, issue->stream->id, &issue->ordered));
    else
        sc_track_begin_call(&sc_track, issue->stream->id, &issue->ordered);
    issue->place = sc_order_place(&issue->ordered);
}

/* Returns the first host use that is an operation, or NULL. A source comes before a target, and at
 * most the source is a touch. */
SC_INLINED const struct sc_host_use *first_op(const struct sc_issue *issue)
{
    return issue->op_count ? &issue->host[issue->host[0].in_call] : NULL;
}

/* Takes a snapshot of the source. Returns NULL if none may or can be taken. */
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

const void *sc_issue_source(struct sc_issue *issue, const void *source)
{
    const void *instead = sc_issue_snapshot(issue);
    return instead ? instead : source;
}

/* Returns the reason why none of the operation's pages may be protected; SC_NO_VERDICT_COUNT: they
 * may be. The driver accesses pageable memory through the program's mapping, on a thread that the
 * guard lets pass. But a device that uses that mapping itself would fail at a protected page: in a
 * copy to the host, and in a later kernel that writes there. */
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

/* Notes what has to be compared of a pageable source whose pages are not protected. Returns true
 * for a small source: all of it is compared. */
static bool note_compared_parts(struct sc_op_info *op)
{
    bool compared = !op->range && op->direction == SC_H2D && op->stable;
    op->is_compared_whole = compared && sc_shape_hull_bytes(&op->shape) <= SC_COMPARED_WHOLE_BYTES;
    op->shares_pages |= compared;
    return op->is_compared_whole;
}

/* Has the driver read the pageable source within the call, and does the guard watch no longer than
 * that? */
static bool is_source_done(const struct sc_issue *issue, const struct sc_op_info *op)
{
    return issue->is_complete && !op->range && op->direction == SC_H2D &&
           !sc_track_guards_until_known(&sc_track);
}

/* Chooses the pages to protect, or counts the operation as not watched. If a wait for the host with
 * unseen end comes before the operation, the pages are protected later, when that wait is over
 * (sc_inflight_guard_seen). */
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

/* Chooses the pages to guard, unless the device reads a snapshot, which needs no guard. */
static inline void choose_guard(const struct sc_issue *issue, struct sc_op_info *op)
{
    if (!sc_ops_is_copied(op) && op->direction != SC_PREFETCH && !op->is_guard_chosen)
        choose_guard_pages(issue, op);
}

void sc_issue_choose_guard(const struct sc_issue *issue, struct sc_op_info *op)
{
    choose_guard(issue, op);
    op->is_guard_chosen = true;
}

/* Notes in whose frame the local lies that the operation uses. */
static void note_frame(const struct sc_issue *issue, struct sc_op_info *op)
{
    struct sc_unwind_owner unknown = {0};
    sc_returned_frames_note(op, issue->owner ? issue->owner : &unknown);
}

/* Fills in the members of the operation that are only known when it is recorded. */
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

/* All threads share stripe 0: it is attended where the pages are surely to change. */
static uint64_t stripes_to_lock(const struct sc_op_info *op)
{
    uint64_t stripes =
        sc_spans_stripe_bits(sc_track_parts.guards, op->guard_address, op->guard_bytes);
    return op->is_simple ? stripes : stripes & ~UINT64_C(1);
}

/* What the issue's operations have in common. */
struct recorded {
    size_t size_bytes;
    bool has_uncopied; /* the device reads or writes at least one where the program has it */
    bool writes_host;
};

SC_INLINED void report_late(const struct sc_issue *issue, const struct sc_issued *issued,
                            uint64_t number)
{
    if (sc_unlikely(issued->conflicts.count) && !issue->is_judged)
        report_unordered(issue, SC_ACTION_REPORTED, &issued->conflicts, number);
    if (sc_unlikely(issued->overwritten.count))
        sc_hazards_report_overwritten(&issued->overwritten, SC_CULPRIT_OF(issue->call));
}

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
    report_late(issue, &issued, ops->of[0].ticket.number);
    return all;
}

size_t sc_issue_record(struct sc_issue *issue, struct sc_issue_ops *ops, uint32_t stack,
                       uint64_t now_ticks)
{
    return record_ops(issue, ops, stack, now_ticks).size_bytes;
}

/* Records a simple copy by the general way: its pages have still to be chosen, or another thread
 * has issued something meanwhile. */
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

/* Records an accepted copy by the quick way, or by the general one if that is not possible. */
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

/* Is all of it done when the call returns? */
static bool is_over_in_call(const struct sc_issue *issue)
{
    return issue->joins_stream && !issue->lands_late;
}

/* Are the issue's uses of device memory to be noted after the call? */
static bool notes_uses_of_device(const struct sc_issue *issue)
{
    return sc_unlikely(issue->uses.count) && sc_issue_records_device(issue) &&
           !is_over_in_call(issue);
}

/* Adds the call to the history: with what it has named, else with its first host range. `number`:
 * the operation's; 0: the call has done its work already. */
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

/* Notes a copy within the device, or a memset there. */
static void note_device_work(const struct sc_issue *issue)
{
    uint64_t now = sc_unfinished_now(issue->stream);
    if (issue->stream->kind != SC_STREAM_NONBLOCKING)
        sc_unfinished_queued(issue->stream, now);
    note_in_history(issue, 0, now, next_number(issue->stream));
}

/* Notes an accepted call of which no host memory was recorded. */
static __attribute__((noinline)) void note_unrecorded(const struct sc_issue *issue)
{
    if (is_over_in_call(issue))
        note_in_history(issue, 0, sc_ticks(), 0);
    else
        note_device_work(issue);
}

/* Notes an accepted call: operations, history, queue, mark, and uses of device memory. */
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

/* Does what is needed once for a call after its operations: an entry in the history, the pages, the
 * stream's queue, and a mark. Work without a recorded operation has the number of the stream's next
 * operation: it is done before that one. */
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

/* Ends an issue of which nothing is recorded: the driver has refused the call, or the call has no
 * operation on host memory. */
static __attribute__((noinline)) void end_unrecorded(struct sc_issue *issue, CUresult result)
{
    sc_track_end_call(&sc_track, &issue->ordered, result == CUDA_SUCCESS);
    if (issue->slot)
        sc_snapshots_return(issue->slot);
    if (result == CUDA_SUCCESS && notes_uses_of_device(issue))
        sc_device_uses_note(&issue->uses, issue->call, issue->stream, issue->place);
}

/* Notes the new node of the captured graph: what it uses of host memory and of the device's. */
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

/* Notes, if the call has succeeded, that the host has waited in it for the stream's earlier work.
 */
static __attribute__((noinline)) void end_blocking_call(struct sc_issue *issue, CUresult result)
{
    if (result != CUDA_SUCCESS) {
        sc_track_release_point(&sc_track, &issue->point);
        return;
    }
    sc_hazards_note_done_and_report(&issue->point, SC_CULPRIT_OF(issue->call));
}

CUresult sc_issue_end(struct sc_issue *issue, CUresult result)
{
    if (sc_unlikely(issue->waits_after) && result == CUDA_SUCCESS)
        sc_sync_stream(issue->call, issue->stream->handle);
    if (!issue->stream && (!issue->graph || result != CUDA_SUCCESS))
        return result;
    SC_KEEP_ERRNO();
    if (issue->stream)
        sc_unfinished_legacy(issue->stream);
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

bool sc_issue_is_captured(const struct sc_call *call, CUstream handle)
{
    return sc_streams_find_captured(handle, call->per_thread) != NULL;
}
