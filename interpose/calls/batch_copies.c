#include "interpose/calls/batch_copies.h"

#include <errno.h>

#include "interpose/base/compiler.h"
#include "interpose/base/process.h"
#include "interpose/base/unwind.h"
#include "interpose/calls/device_uses.h"
#include "interpose/calls/issue.h"
#include "interpose/driver/addresses.h"
#include "interpose/driver/replaying.h"
#include "interpose/memory/snapshots.h"
#include "interpose/streams/contexts.h"
#include "report/options.h"
#include "track/hazard.h"
#include "track/inflight.h"
#include "track/pool.h"
#include "track/shape.h"
#include "track/spans.h"
#include "track/staging.h"
#include "track/ticks.h"
#include "track/track.h"

#include "track/poison.h"

enum { STAGED_BYTES_MAX = 64 * 1024 };

struct sc_copy_side sc_batch_copies_side_at(CUdeviceptr address, size_t size_bytes)
{
    struct sc_copy_side side = sc_copy_side_at(address, size_bytes);
    if (!side.used && size_bytes && sc_issue_is_kept_registered(&side.shape))
        side.used = side.host = true;
    return side;
}

/* ---- what a copy does with memory ---- */

/* In any order the driver stages what is small within the call. */
static bool is_staged(const struct sc_batch_copy *copy, const struct sc_issue *issue)
{
    return copy->order == CU_MEMCPY_SRC_ACCESS_ORDER_ANY &&
           sc_shape_hull_bytes(&copy->sides.src.shape) <= STAGED_BYTES_MAX &&
           !issue->stream->context->reads_pageable;
}

static void add_pageable_source(struct sc_issue *issue, const struct sc_batch_copy *copy)
{
    unsigned at = issue->count;
    sc_issue_pageable(issue, SC_H2D, &copy->sides.src.shape,
                      copy->order == CU_MEMCPY_SRC_ACCESS_ORDER_ANY);
    if (issue->count > at)
        issue->ops[at].taken = is_staged(copy, issue);
}

static void add_source(struct sc_issue *issue, const struct sc_batch_copy *copy)
{
    const struct sc_copy_side *src = &copy->sides.src;
    if (copy->order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL)
        sc_issue_touch(issue, SC_TOUCH_READ, &src->shape);
    else if (src->known)
        sc_issue_host_shape(issue, SC_H2D, &src->shape);
    else
        add_pageable_source(issue, copy);
}

static void add_destination(struct sc_issue *issue, const struct sc_copy_side *dst)
{
    if (dst->known)
        sc_issue_host_shape(issue, SC_D2H, &dst->shape);
    else
        sc_issue_pageable(issue, SC_D2H, &dst->shape, false);
}

static void add_side(struct sc_issue *issue, const struct sc_batch_copy *copy, bool is_source)
{
    const struct sc_copy_side *side = is_source ? &copy->sides.src : &copy->sides.dst;
    unsigned ops = issue->count;
    unsigned touches = issue->touch_count;
    if (!side->used)
        return;
    if (is_source)
        add_source(issue, copy);
    else
        add_destination(issue, side);
    sc_issue_folded(issue, ops, touches, &side->fold);
}

/* A batch is no wait for its stream, also where a range went away while we looked at it. */
static void describe(struct sc_issue *issue, struct sc_batch *batch, size_t index)
{
    struct sc_batch_copy copy = {.order = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    sc_issue_on(issue, batch->call, batch->stream);
    batch->describe(batch, index, &copy);
    issue->is_empty = copy.sides.is_empty;
    if (copy.sides.is_empty)
        return;
    add_side(issue, &copy, true);
    add_side(issue, &copy, false);
    if (sc_issue_tells_device(issue))
        sc_device_uses_of_sides(&issue->uses, &copy.sides);
    issue->joins_stream = false;
}

/* ---- before the call ---- */

static size_t scratch_bytes(const struct sc_batch *batch)
{
    return batch->count * (sizeof *batch->slots + batch->scratch_bytes);
}

static bool can_replace(struct sc_batch *batch)
{
    if (batch->slots)
        return true;
    batch->slots = sc_pages_map(scratch_bytes(batch));
    batch->scratch = batch->slots ? batch->slots + batch->count : NULL;
    return batch->slots != NULL;
}

static struct sc_op_info *source_op(struct sc_issue *issue)
{
    return issue->count && issue->ops[0].direction == SC_H2D ? &issue->ops[0] : NULL;
}

static void replace_source(struct sc_batch *batch, size_t index, struct sc_issue *issue)
{
    struct sc_op_info *op = source_op(issue);
    if (op && sc_snapshots_are_for(op) && can_replace(batch) &&
        sc_snapshots_take(batch->stream->context, op))
        batch->slots[index] = op->slot;
}

void sc_batch_copies_begin(struct sc_batch *batch)
{
    int saved = errno;
    struct sc_issue issue;
    batch->stream = sc_active() ? sc_streams_find(batch->handle, batch->call->per_thread) : NULL;
    for (size_t i = 0; batch->stream && i < batch->count; i++) {
        describe(&issue, batch, i);
        sc_issue_ready(&issue);
        if (batch->scratch_bytes)
            replace_source(batch, i, &issue);
    }
    if (batch->stream)
        sc_track_begin(&sc_track, batch->stream->id, &batch->ordered);
    errno = saved;
}

const void *sc_batch_copies_source(const struct sc_batch *batch, size_t index)
{
    return batch->slots && batch->slots[index] ? batch->slots[index]->bytes : NULL;
}

/* ---- behind the call ---- */

/* A range that has come or gone meanwhile may leave a slot without an operation. */
static void hand_over(struct sc_batch *batch, size_t index, struct sc_issue *issue)
{
    struct sc_slot *slot = batch->slots ? batch->slots[index] : NULL;
    struct sc_op_info *op = source_op(issue);
    if (slot && op && op->shape.rows == 1)
        op->slot = slot;
    else if (slot)
        sc_track_give_slot(&sc_track, slot);
}

static void note_uses_of_device(const struct sc_issue *issue, const struct sc_issued_call *issued)
{
    struct sc_op_info moment = {
        .ticket = {.stream = issue->stream->id},
        .stack = issued->stack,
        .ticks = issued->ticks,
        .thread = sc_thread_id(),
    };
    sc_device_uses_note_beside(&issue->uses, issue->call, issue->stream,
                               issue->count ? &issue->ops[0] : &moment);
}

static void note_first_use(struct sc_recent_use *use, const struct sc_issue *issue)
{
    for (unsigned i = 0; i < issue->count && !use->size_bytes; i++) {
        const struct sc_op_info *op = &issue->ops[i];
        bool writes = sc_direction_writes_host(op->direction);
        use->direction = op->direction;
        use->size_bytes = sc_shape_hull_bytes(&op->shape);
        *(writes ? &use->address : &use->source) = op->shape.address;
    }
}

static void record(struct sc_batch *batch, size_t index, struct sc_issued_call *issued,
                   struct sc_unwind_owner *owner)
{
    struct sc_issue issue;
    describe(&issue, batch, index);
    issue.owner = owner;
    hand_over(batch, index, &issue);
    if (issue.is_empty)
        return;
    if ((issue.count || issue.uses.count) && !issued->stack)
        issued->stack = sc_unwind_here(batch->call->site);
    note_first_use(&issued->use, &issue);
    if (issue.count)
        issued->size_bytes += sc_issue_record(&issue, issued->stack, issued->ticks);
    for (unsigned i = 0; i < issue.count; i++) {
        issued->number = issue.ops[i].ticket.number;
        issued->snapshotted &= issue.ops[i].slot != NULL;
        issued->writes_host |= sc_direction_writes_host(issue.ops[i].direction);
    }
    if (issue.uses.count)
        note_uses_of_device(&issue, issued);
}

static void record_all(struct sc_batch *batch)
{
    struct sc_issued_call issued = {
        .call = batch->call,
        .stream = batch->stream,
        .ticks = sc_ticks(),
        .snapshotted = true,
        .use = {.direction = SC_NO_DIRECTION},
    };
    struct sc_unwind_owner owner = {0};
    for (size_t i = 0; i < batch->count; i++)
        record(batch, i, &issued, &owner);
    sc_issue_recorded(&issued);
}

static void give_back_all(struct sc_batch *batch)
{
    for (size_t i = 0; batch->slots && i < batch->count; i++)
        if (batch->slots[i])
            sc_track_give_slot(&sc_track, batch->slots[i]);
}

CUresult sc_batch_copies_end(struct sc_batch *batch, CUresult result)
{
    int saved = errno;
    if (!batch->stream)
        return result;
    sc_track_end(&sc_track, &batch->ordered, result == CUDA_SUCCESS);
    if (result == CUDA_SUCCESS)
        record_all(batch);
    else
        give_back_all(batch);
    if (batch->slots)
        sc_pages_unmap(batch->slots, scratch_bytes(batch));
    errno = saved;
    return result;
}
