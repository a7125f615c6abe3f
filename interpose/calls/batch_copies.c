#include "interpose/calls/batch_copies.h"

#include <string.h>

#include "common/op_kinds.h"
#include "common/pages.h"
#include "common/shape.h"
#include "common/ticks.h"
#include "interpose/base/process.h"
#include "interpose/base/unwind.h"
#include "interpose/calls/batch.h"
#include "interpose/calls/batch_sources.h"
#include "interpose/calls/beside_uses.h"
#include "interpose/calls/device_uses.h"
#include "interpose/calls/issue.h"
#include "interpose/calls/issue_ops.h"
#include "interpose/capture/beside.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/relaxed.h"
#include "interpose/driver/replaying.h"
#include "interpose/graph/copy_sides.h"
#include "interpose/reaper/culprit.h"
#include "interpose/reaper/hazards.h"
#include "interpose/reaper/large_copies.h"
#include "interpose/streams/contexts.h"
#include "interpose/streams/streams.h"
#include "report/options.h"
#include "track/copy_manner.h"
#include "track/op_info.h"
#include "track/order_calls.h"
#include "track/track.h"
#include "track/track_front.h"
#include "track/track_order.h"

#include "common/poison.h"

/* ---- what a copy does with memory ---- */

/* Adds a pageable source as an operation in flight: by the contract of its access order the driver
 * may read it after the call. `taken`: this driver has read it by then, so a hazard with it is
 * latent. Of a source with order ANY the program says that its bytes are complete already. */
static void add_pageable_source(struct sc_issue *issue, const struct sc_batch_copy *copy,
                                enum sc_copy_time read)
{
    unsigned at = issue->host_count;
    sc_issue_add_pageable(issue, SC_H2D, &copy->sides.src.shape,
                          copy->order == CU_MEMCPY_SRC_ACCESS_ORDER_ANY);
    if (issue->host_count > at)
        issue->host[at].taken = read == SC_TAKEN;
}

/* Adds the source: as a touch if the driver reads it within the call, else as an operation in
 * flight, on a known allocation or registration or on pageable memory. */
static void add_source(struct sc_issue *issue, const struct sc_batch_copy *copy,
                       enum sc_copy_time read)
{
    const struct sc_copy_side *src = &copy->sides.src;
    if (read == SC_IN_CALL)
        sc_issue_add_touch(issue, SC_TOUCH_READ, &src->shape);
    else if (src->known)
        sc_issue_add_host_shape(issue, SC_H2D, &src->shape);
    else
        add_pageable_source(issue, copy, read);
}

/* Adds the destination: as a touch if the driver writes it within the call, else as an operation in
 * flight, on a known allocation or registration or on pageable memory. */
static void add_destination(struct sc_issue *issue, const struct sc_copy_side *dst,
                            enum sc_copy_time written)
{
    if (written == SC_IN_CALL)
        sc_issue_add_touch(issue, SC_TOUCH_WRITE, &dst->shape);
    else if (dst->known)
        sc_issue_add_host_shape(issue, SC_D2H, &dst->shape);
    else
        sc_issue_add_pageable(issue, SC_D2H, &dst->shape, /*is_there=*/false);
}

/* Stores when the driver reads and writes the two sides of the copy (its manner), and adds those
 * that are host memory to the issue, each with the gaps within its rows (the fold). */
static void add_sides(struct sc_issue *issue, struct sc_batch_copy *copy)
{
    const struct sc_copy_sides *sides = &copy->sides;
    copy->manner = sc_copy_sides_manner(sides, sc_batch_sources_call(copy),
                                        issue->stream->context->reads_pageable);
    if (sides->src.used)
        add_source(issue, copy, copy->manner.read);
    sc_issue_set_fold(issue, 0, &sides->src.fold);
    unsigned from = issue->host_count;
    if (sides->dst.used)
        add_destination(issue, &sides->dst, copy->manner.written);
    sc_issue_set_fold(issue, from, &sides->dst.fold);
}

/* Fills in `copy` and `issue` with what one copy of the batch does with memory. Called before the
 * driver's call and again after it, when what was found out about the addresses is not asked for
 * again (`known`). Whether the call waits for its stream depends on all copies together
 * (judge_all), so the issue of one copy does not say so. */
static void describe_copy(struct sc_issue *issue, struct sc_batch *batch, size_t index,
                          struct sc_batch_copy *copy)
{
    const struct sc_batch_source *known = batch->sources ? &batch->sources[index] : NULL;
    *copy = (struct sc_batch_copy){
        .src_is = known ? (enum sc_side_as)known->src_is : SC_SIDE_ASKED,
        .dst_is = known ? (enum sc_side_as)known->dst_is : SC_SIDE_ASKED,
        .order = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM,
    };
    sc_issue_begin_uncaptured(issue, batch->call, batch->stream);
    batch->describe(batch, index, copy);
    issue->is_empty = copy->sides.is_empty;
    if (copy->sides.is_empty)
        return;
    add_sides(issue, copy);
    if (sc_issue_needs_device(issue))
        sc_copy_sides_add_device(&copy->sides, &issue->uses);
    issue->joins_stream = false;
}

/* ---- before the call ---- */

/* Returns what is remembered of an address until after the driver's call (enum sc_side_as): whether
 * it is pageable host memory. The driver is asked for that before the call alone. */
static uint8_t known_side(const struct sc_copy_side *side)
{
    return side->host && !side->known ? SC_SIDE_HOST : SC_SIDE_KNOWN;
}

/* Stores for describe_copy, which describes the copy again after the call, what the driver has said
 * of its addresses. Nothing is stored if there is no memory for the records. */
static void note_sides(struct sc_batch *batch, size_t index, const struct sc_batch_copy *copy)
{
    struct sc_batch_source *source = sc_batch_sources_at(batch, index);
    if (!source || copy->sides.is_empty)
        return;
    source->src_is = known_side(&copy->sides.src);
    source->dst_is = known_side(&copy->sides.dst);
}

/* Called before the driver's call: judges each copy of the batch against what is in flight, in
 * mode=fix makes the stream wait for what conflicts, and replaces sources that the program may
 * change too early. Copies of one batch have no order among each other, so none is judged against
 * another one. Small sources are gathered, and read by few system calls. */
static void judge_all(struct sc_batch *batch)
{
    struct sc_batch_gathered gathered;
    struct sc_issue issue;
    struct sc_batch_copy copy;
    bool replaces = sc_batch_sources_are_replaced(batch);
    gathered.count = 0;
    for (size_t i = 0; i < batch->count; i++) {
        describe_copy(&issue, batch, i, &copy);
        batch->waits |= copy.manner.waits;
        note_sides(batch, i, &copy);
        sc_issue_judge_and_order(&issue);
        if (replaces)
            sc_batch_sources_replace(batch, i, &issue, &copy, &gathered);
    }
    sc_batch_sources_read(&gathered);
}

/* Called before the driver's call: judges all copies, and begins the batch as one call on its
 * stream. If a copy makes the call wait for the stream, the work that the host will have waited for
 * is stored as well (the point). */
void sc_batch_copies_begin(struct sc_batch *batch)
{
    SC_KEEP_ERRNO();
    batch->stream = sc_active() ? sc_streams_find(batch->handle, batch->call->per_thread) : NULL;
    if (batch->stream) {
        judge_all(batch);
        if (batch->waits)
            batch->point =
                SC_TRACKED(sc_order_begin_to_wait(track.order, batch->stream->id, &batch->ordered));
        else
            sc_track_begin_call(&sc_track, batch->stream->id, &batch->ordered);
    }
}

/* ---- behind the call ---- */

/* Asks the driver, behind the call, whether the stream is idle: then the whole batch is complete.
 * Asked only if a source would else stay protected until the batch is done. */
static bool is_stream_idle(const struct sc_batch *batch)
{
    bool per_thread = batch->call->per_thread;
    SC_RELAXED();
    CUresult result = per_thread ? sc_real.cuStreamQuery_ptsz(batch->handle)
                                 : sc_real.cuStreamQuery(batch->handle);
    return result == CUDA_SUCCESS;
}

/* Records, for later calls to be compared with, what the copy does with device memory. These uses
 * share the ticket (the place on the stream) of the copy's operation on host memory, if it has one;
 * else they get one of their own. */
static void note_uses_of_device(const struct sc_issue *issue, const struct sc_issue_ops *ops,
                                const struct sc_issued_call *issued)
{
    struct sc_op_info moment = {
        .ticket = {.stream = issue->stream->id},
        .stack = issued->use.stack,
        .ticks = issued->ticks,
        .thread = sc_thread_id(),
    };
    sc_device_uses_note_all(issue->uses.of, issue->uses.count, issue->call, issue->stream,
                            ops->count ? &ops->of[0] : &moment);
}

/* What record_copy keeps from one copy of the batch to the next. */
struct recording {
    struct sc_issued_call issued;
    struct sc_unwind_owner owner; /* the frame in which the last local lies */
    bool asked, complete;         /* the driver was asked whether the stream is idle; its answer */
};

/* Called before a copy is recorded: leaves its source unprotected if the whole batch is complete by
 * now. The question costs a driver call, so it is asked once for a batch, and only for a source
 * that would be protected: a large pageable one without a copy. With strict=1 protection lasts
 * until the program has waited, whatever is complete. */
static void skip_guard_if_complete(const struct sc_batch *batch, struct recording *recording,
                                   struct sc_issue *issue, struct sc_issue_ops *ops)
{
    struct sc_op_info *op = sc_batch_sources_op(ops);
    if (!op || op->range || sc_ops_is_copied(op) ||
        op->shape.width_bytes <= SC_COMPARED_WHOLE_BYTES || sc_track_guards_until_known(&sc_track))
        return;
    if (!recording->asked)
        recording->complete = is_stream_idle(batch);
    recording->asked = true;
    issue->is_complete = recording->complete;
    if (recording->complete)
        op->guard_bytes = 0;
}

/* Adds an operation to what is noted once for the whole call: the last number, whether every source
 * is read from a snapshot, whether host memory is written. */
static void count_op(struct sc_issued_call *issued, const struct sc_op_info *op)
{
    issued->number = op->ticket.number;
    issued->snapshotted &= sc_ops_is_copied(op);
    issued->writes_host |= sc_direction_writes_host(op->direction);
}

/* Has the program to wait here until the driver has read the source? That is so in mode=fix if this
 * driver reads the source after the call, against its contract, and no copy could be given to it:
 * in a replay, where the call came through no wrapper. */
static bool must_await(const struct sc_batch_source *source, const struct sc_batch_copy *copy)
{
    return !(source && source->copy) && sc_batch_sources_is_late(copy) &&
           sc_options.mode == SC_MODE_FIX && sc_replaying_is_on();
}

/* Called for a source that the driver reads after the call: keeps the library's copy of it until
 * the device has read that, or, if there is none, waits here until the source itself is read.
 * Either is recorded as an operation. */
static void keep_source_until_read(struct sc_batch_source *source, const struct sc_batch_copy *copy,
                                   struct sc_issued_call *issued)
{
    struct sc_op_info read = {
        .api = issued->call->api,
        .shape = copy->sides.src.shape,
        .fold = copy->sides.src.fold,
        .ticket = {.stream = issued->stream->id},
        .access = SC_ACCESS_ALL,
        .stack = issued->use.stack,
        .ticks = issued->ticks,
        .thread = sc_thread_id(),
    };
    if (source && source->copy)
        sc_large_copies_keep(source->copy, source->copy_bytes, &read);
    else
        sc_large_copies_await(&read);
    count_op(issued, &read);
    issued->snapshotted = false; /* needs a mark: the copy is freed when that has occurred */
    issued->size_bytes += sc_shape_hull_bytes(&read.shape);
    if (sc_batch_sources_is_late(copy))
        sc_large_copies_count_late();
}

/* Records what one copy of an accepted batch does with memory: its operations, what the device
 * reads instead of the source, and its uses of device memory. The stack is unwound once for the
 * batch, for the first copy that needs it. Device memory that is written within the call is not
 * noted. */
static void record_copy(struct sc_batch *batch, size_t index, struct recording *recording)
{
    struct sc_issue issue;
    struct sc_issue_ops ops;
    struct sc_batch_copy copy;
    struct sc_issued_call *issued = &recording->issued;
    struct sc_batch_source *source = batch->sources ? &batch->sources[index] : NULL;
    describe_copy(&issue, batch, index, &copy);
    issue.owner = &recording->owner;
    sc_issue_describe(&issue, &ops);
    if (source)
        sc_batch_sources_hand_over(source, &ops);
    if (issue.is_empty)
        return;
    if ((ops.count || issue.uses.count) && !issued->use.stack)
        issued->use.stack = sc_unwind_here(batch->call->site);
    for (unsigned i = 0; i < ops.count && !issued->use.size_bytes; i++)
        sc_issue_set_history_host(&issued->use, ops.of[i].direction, &ops.of[i].shape);
    skip_guard_if_complete(batch, recording, &issue, &ops);
    if (ops.count)
        issued->size_bytes += sc_issue_record(&issue, &ops, issued->use.stack, issued->ticks);
    for (unsigned i = 0; i < ops.count; i++)
        count_op(issued, &ops.of[i]);
    if ((source && source->copy) || must_await(source, &copy))
        keep_source_until_read(source, &copy, issued);
    if (issue.uses.count && sc_issue_records_device(&issue) && copy.manner.written == SC_LATE)
        note_uses_of_device(&issue, &ops, issued);
    if (sc_beside_needs_calls())
        sc_beside_uses_note_issued(batch->call, batch->stream, &issue.uses, true, false);
}

/* Records all copies of an accepted batch, and then once for the whole call: the mark (an event by
 * which completion is learnt), the entry of the history (for the post-mortem), the change of
 * protected pages. */
static void record_all(struct sc_batch *batch)
{
    struct recording recording = {
        .issued = {.call = batch->call,
                   .stream = batch->stream,
                   .ticks = sc_ticks(),
                   .snapshotted = true,
                   .use = {.direction = SC_NO_DIRECTION}},
    };
    for (size_t i = 0; i < batch->count; i++)
        record_copy(batch, i, &recording);
    sc_issue_finish_call(&recording.issued);
}

/* Called for a batch that waits for its stream: if the call has succeeded, the host knows the
 * stream's earlier work to be done (the point that was stored before the call). */
static void end_wait_for_stream(struct sc_batch *batch, CUresult result)
{
    if (result != CUDA_SUCCESS) {
        sc_track_release_point(&sc_track, &batch->point);
        return;
    }
    sc_hazards_note_done_and_report(&batch->point, SC_CULPRIT_OF(batch->call));
}

/* Called when the driver has answered. An accepted batch is recorded; of a refused one, memory that
 * the device may have begun to read is kept. Returns `result`. */
CUresult sc_batch_copies_end(struct sc_batch *batch, CUresult result)
{
    SC_KEEP_ERRNO();
    if (!batch->stream)
        return result;
    sc_track_end_call(&sc_track, &batch->ordered, result == CUDA_SUCCESS);
    if (result == CUDA_SUCCESS)
        record_all(batch);
    if (batch->waits)
        end_wait_for_stream(batch, result);
    sc_batch_sources_end(batch, result != CUDA_SUCCESS);
    return result;
}
