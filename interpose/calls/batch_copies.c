#include "interpose/calls/batch_copies.h"

#include <errno.h>
#include <string.h>

#include "interpose/base/process.h"
#include "interpose/base/unwind.h"
#include "interpose/calls/beside_uses.h"
#include "interpose/calls/device_uses.h"
#include "interpose/calls/issue.h"
#include "interpose/capture/beside.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/relaxed.h"
#include "interpose/driver/replaying.h"
#include "interpose/guard/guard.h"
#include "interpose/memory/snapshots.h"
#include "interpose/reaper/large_copies.h"
#include "interpose/streams/contexts.h"
#include "report/options.h"
#include "track/hazard.h"
#include "track/inflight.h"
#include "track/peek.h"
#include "track/pool.h"
#include "track/shape.h"
#include "track/spans.h"
#include "track/staging.h"
#include "track/ticks.h"
#include "track/track.h"

#include "track/poison.h"

enum { STAGED_BYTES_MAX = 64 * 1024 };

/* ---- what is kept of each copy until the call is over ---- */

struct sc_batch_source {
    uint8_t src_is, dst_is;   /* enum sc_batch_side */
    struct sc_slot *slot;     /* of all of it */
    struct sc_slot *edges[2]; /* of the bytes before and behind the guarded pages */
    uint32_t edge_bytes[2];
    bool is_guard_chosen;
    uintptr_t guard_address;
    size_t guard_bytes;
    void *copy; /* of copy_bytes */
    size_t copy_bytes;
};

static size_t scratch_bytes(const struct sc_batch *batch)
{
    return batch->count * (sizeof *batch->sources + batch->scratch_bytes);
}

static struct sc_batch_source *source_at(struct sc_batch *batch, size_t index)
{
    size_t size_bytes = scratch_bytes(batch);
    bool few = size_bytes <= sizeof batch->few;
    if (!batch->sources) {
        if (few)
            memset(batch->few, 0, size_bytes);
        batch->sources = few ? (void *)batch->few : sc_pages_map(size_bytes);
        batch->scratch = batch->sources ? batch->sources + batch->count : NULL;
    }
    return batch->sources ? &batch->sources[index] : NULL;
}

/* ---- the sides of a copy ---- */

static struct sc_copy_side look_up(CUdeviceptr address, size_t size_bytes, enum sc_batch_side is)
{
    switch (is) {
    case SC_BATCH_HOST:
        return sc_copy_side_of_host((const void *)(uintptr_t)address, size_bytes);
    case SC_BATCH_OTHER:
        return sc_copy_side_pinned(address, size_bytes);
    case SC_BATCH_UNKNOWN:
        break;
    }
    return sc_copy_side_at(address, size_bytes);
}

struct sc_copy_side sc_batch_copies_side_at(CUdeviceptr address, size_t size_bytes,
                                            enum sc_batch_side is)
{
    struct sc_copy_side side = look_up(address, size_bytes, is);
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
static void describe(struct sc_issue *issue, struct sc_batch *batch, size_t index,
                     struct sc_batch_copy *copy)
{
    const struct sc_batch_source *known = batch->sources ? &batch->sources[index] : NULL;
    *copy = (struct sc_batch_copy){
        .src_is = known ? (enum sc_batch_side)known->src_is : SC_BATCH_UNKNOWN,
        .dst_is = known ? (enum sc_batch_side)known->dst_is : SC_BATCH_UNKNOWN,
        .order = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM,
    };
    sc_issue_on(issue, batch->call, batch->stream);
    batch->describe(batch, index, copy);
    issue->is_empty = copy->sides.is_empty;
    if (copy->sides.is_empty)
        return;
    add_side(issue, copy, true);
    add_side(issue, copy, false);
    if (sc_issue_wants_device(issue))
        sc_device_uses_of_sides(&issue->uses, &copy->sides);
    issue->joins_stream = false;
}

/* ---- sources that are replaced ----
 *
 * In mode=fix a small source is read from a snapshot. Of a large pageable one the whole pages are
 * guarded, and what lies before and behind them, on pages that hold other memory too, is read from
 * snapshots: the copy is made in pieces. What cannot be guarded since it may be on a stack, and
 * what the driver would read late against its contract, is read from a copy of the library's. */

static struct sc_op_info *source_op(struct sc_issue *issue)
{
    return issue->count && issue->ops[0].direction == SC_H2D ? &issue->ops[0] : NULL;
}

/* What others' operations have guarded cannot be read by way of the kernel. What the call was to
 * wait for of that, it has waited for. */
static void copy_source(struct sc_batch *batch, size_t index, const struct sc_shape *shape)
{
    struct sc_batch_source *source = source_at(batch, index);
    if (!source)
        return;
    source->copy_bytes = sc_shape_hull_bytes(shape);
    source->copy = sc_large_copies_make(shape->address, source->copy_bytes);
    if (!source->copy) {
        sc_guard_let_go((const void *)shape->address, source->copy_bytes);
        source->copy = sc_large_copies_make(shape->address, source->copy_bytes);
    }
    batch->replaced |= source->copy != NULL;
}

static struct sc_slot *take_edge(const struct sc_batch *batch, const struct sc_op_info *op,
                                 uintptr_t address, size_t size_bytes)
{
    struct sc_op_info edge = *op;
    edge.shape = (struct sc_shape){address, size_bytes, size_bytes, 1};
    sc_snapshots_take(batch->stream->context, &edge);
    return edge.slot;
}

static void guard_source(struct sc_batch *batch, size_t index, const struct sc_issue *issue,
                         struct sc_op_info *op)
{
    struct sc_batch_source *source = source_at(batch, index);
    uintptr_t address = op->shape.address;
    if (!source)
        return;
    sc_issue_guard(issue, op);
    source->is_guard_chosen = true;
    source->guard_address = op->guard_address;
    source->guard_bytes = op->guard_bytes;
    uintptr_t guard_end = op->guard_address + op->guard_bytes;
    uintptr_t end = address + op->shape.width_bytes;
    if (!op->guard_bytes || !batch->splits)
        return;
    if (op->guard_address > address)
        source->edge_bytes[0] = (uint32_t)(op->guard_address - address);
    if (guard_end < end)
        source->edge_bytes[1] = (uint32_t)(end - guard_end);
    if (source->edge_bytes[0])
        source->edges[0] = take_edge(batch, op, address, source->edge_bytes[0]);
    if (source->edge_bytes[1])
        source->edges[1] = take_edge(batch, op, guard_end, source->edge_bytes[1]);
    batch->extra += (source->edges[0] != NULL) + (source->edges[1] != NULL);
    batch->replaced |= batch->extra != 0;
}

/* The program may be about to change it. No function of the host's and no graph is to write it
 * before; a copy may be. */
static void keep_source(struct sc_batch *batch, size_t index, const struct sc_issue *issue,
                        struct sc_op_info *op)
{
    size_t hull_bytes = sc_shape_hull_bytes(&op->shape);
    bool copied = op->kind == SC_STACK || sc_guard_may_be_stack(op->shape.address, hull_bytes);
    if (copied && sc_track_is_stable(&sc_track, op))
        copy_source(batch, index, &op->shape);
    else if (!copied && op->shape.rows == 1)
        guard_source(batch, index, issue, op);
}

/* The driver reads a large pageable source after the call, which the program may change by then. */
static bool is_late(const struct sc_batch_copy *copy)
{
    const struct sc_copy_side *src = &copy->sides.src;
    return copy->order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL && src->used && !src->known &&
           sc_shape_hull_bytes(&src->shape) > STAGED_BYTES_MAX;
}

/* Small pageable sources that are still to be read, many by one system call. */
struct gathered {
    unsigned count;
    struct sc_batch_source *sources[SC_PEEK_ITEMS_MAX];
    struct sc_peek_item items[SC_PEEK_ITEMS_MAX];
};

static void read_gathered(struct gathered *gathered)
{
    sc_peek_all(gathered->items, gathered->count);
    for (unsigned i = 0; i < gathered->count; i++) {
        struct sc_batch_source *source = gathered->sources[i];
        if (gathered->items[i].read)
            continue;
        sc_track_give_slot(&sc_track, source->slot);
        source->slot = NULL;
    }
    gathered->count = 0;
}

/* False: there is no slot. */
static bool gather(struct gathered *gathered, struct sc_batch *batch, size_t index,
                   const struct sc_op_info *op)
{
    struct sc_batch_source *source = source_at(batch, index);
    struct sc_slot *slot = source ? sc_snapshots_reserve(batch->stream->context, op) : NULL;
    if (!slot)
        return false;
    if (gathered->count == SC_PEEK_ITEMS_MAX)
        read_gathered(gathered);
    source->slot = slot;
    batch->replaced = true;
    gathered->sources[gathered->count] = source;
    gathered->items[gathered->count++] = (struct sc_peek_item){
        slot->bytes, op->shape.address, sc_shape_hull_bytes(&op->shape), false};
    return true;
}

static bool snapshot(struct sc_batch *batch, size_t index, struct sc_op_info *op)
{
    struct sc_batch_source *source = source_at(batch, index);
    if (source && sc_snapshots_take(batch->stream->context, op))
        source->slot = op->slot;
    batch->replaced |= op->slot != NULL;
    return op->slot != NULL;
}

static void replace_source(struct sc_batch *batch, size_t index, struct sc_issue *issue,
                           const struct sc_batch_copy *copy, struct gathered *gathered)
{
    struct sc_op_info *op = source_op(issue);
    bool replaced = false;
    if (!op && is_late(copy))
        copy_source(batch, index, &copy->sides.src.shape);
    if (!op)
        return;
    if (sc_snapshots_are_for(op))
        replaced = op->kind == SC_PAGEABLE ? gather(gathered, batch, index, op)
                                           : snapshot(batch, index, op);
    if (!replaced && !op->range && op->stable)
        keep_source(batch, index, issue, op);
}

static bool is_for_us(const struct sc_batch *batch)
{
    return sc_options.mode == SC_MODE_FIX && !sc_replaying_is_on() && batch->scratch_bytes;
}

unsigned sc_batch_copies_pieces(const struct sc_batch *batch, size_t index, size_t size_bytes,
                                struct sc_batch_piece pieces[SC_BATCH_PIECES_MAX])
{
    static const struct sc_batch_source nothing;
    const struct sc_batch_source *source = batch->sources ? &batch->sources[index] : &nothing;
    unsigned count = 0;
    size_t at = 0;
    size_t end = size_bytes - (source->edges[1] ? source->edge_bytes[1] : 0);
    if (source->edges[0]) {
        pieces[count++] =
            (struct sc_batch_piece){0, source->edge_bytes[0], source->edges[0]->bytes};
        at = source->edge_bytes[0];
    }
    pieces[count++] =
        (struct sc_batch_piece){at, end - at, source->slot ? source->slot->bytes : source->copy};
    if (source->edges[1])
        pieces[count++] =
            (struct sc_batch_piece){end, source->edge_bytes[1], source->edges[1]->bytes};
    return count;
}

/* ---- before the call ---- */

static uint8_t kind_of(const struct sc_copy_side *side)
{
    return side->host && !side->known ? SC_BATCH_HOST : SC_BATCH_OTHER;
}

/* What the driver has said of the addresses. */
static void remember(struct sc_batch *batch, size_t index, const struct sc_batch_copy *copy)
{
    struct sc_batch_source *source = source_at(batch, index);
    if (!source || copy->sides.is_empty)
        return;
    source->src_is = kind_of(&copy->sides.src);
    source->dst_is = kind_of(&copy->sides.dst);
}

static void prepare_all(struct sc_batch *batch)
{
    struct gathered gathered;
    struct sc_issue issue;
    struct sc_batch_copy copy;
    bool replaces = is_for_us(batch);
    gathered.count = 0;
    for (size_t i = 0; i < batch->count; i++) {
        describe(&issue, batch, i, &copy);
        remember(batch, i, &copy);
        sc_issue_ready(&issue);
        if (replaces)
            replace_source(batch, i, &issue, &copy, &gathered);
    }
    read_gathered(&gathered);
}

void sc_batch_copies_begin(struct sc_batch *batch)
{
    int saved = errno;
    batch->stream = sc_active() ? sc_streams_find(batch->handle, batch->call->per_thread) : NULL;
    if (batch->stream) {
        prepare_all(batch);
        sc_track_begin(&sc_track, batch->stream->id, &batch->ordered);
    }
    errno = saved;
}

/* ---- behind the call ---- */

/* Has the driver done all of it in the call? Asked where a source would be guarded until then. */
static bool is_complete(const struct sc_batch *batch)
{
    bool per_thread = batch->call->per_thread;
    struct sc_relaxed relaxed = sc_relaxed_begin();
    CUresult result = per_thread ? sc_real.cuStreamQuery_ptsz(batch->handle)
                                 : sc_real.cuStreamQuery(batch->handle);
    sc_relaxed_end(&relaxed);
    return result == CUDA_SUCCESS;
}

static void give_back(struct sc_slot *slot)
{
    if (slot)
        sc_track_give_slot(&sc_track, slot);
}

static void give_back_slots(struct sc_batch_source *source)
{
    give_back(source->slot);
    give_back(source->edges[0]);
    give_back(source->edges[1]);
}

/* A range that has come or gone meanwhile may leave slots without an operation. */
static void hand_over(struct sc_batch_source *source, struct sc_issue *issue)
{
    struct sc_op_info *op = source_op(issue);
    if (!op) {
        give_back_slots(source);
        return;
    }
    op->slot = source->slot;
    op->copied = source->copy != NULL;
    op->is_guard_chosen = source->is_guard_chosen;
    op->guard_address = source->guard_address;
    op->guard_bytes = source->guard_bytes;
    op->access = source->guard_bytes ? SC_ACCESS_READ : SC_ACCESS_ALL;
    op->shares_pages = source->is_guard_chosen || op->copied;
    for (unsigned edge = 0; edge < 2; edge++) {
        op->edges[edge] = source->edges[edge];
        op->edge_bytes[edge] = source->edge_bytes[edge];
    }
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

struct recording {
    struct sc_issued_call issued;
    struct sc_unwind_owner owner; /* of the last local */
    bool asked, complete;         /* whether the stream is idle */
};

/* A source that waits for nothing else would be guarded until it is done, which it may be. */
static void ask_if_over(const struct sc_batch *batch, struct recording *recording,
                        struct sc_issue *issue)
{
    struct sc_op_info *op = source_op(issue);
    if (!op || op->range || sc_ops_is_copied(op) ||
        op->shape.width_bytes <= SC_COMPARED_WHOLE_BYTES || sc_track.inflight.guard_until_known)
        return;
    if (!recording->asked)
        recording->complete = is_complete(batch);
    recording->asked = true;
    issue->is_complete = recording->complete;
    if (recording->complete)
        op->guard_bytes = 0;
}

static void count(struct sc_issued_call *issued, const struct sc_op_info *op)
{
    issued->number = op->ticket.number;
    issued->snapshotted &= sc_ops_is_copied(op);
    issued->writes_host |= sc_direction_writes_host(op->direction);
}

/* The call was made without us, with the program's own source. */
static bool must_wait(const struct sc_batch_source *source, const struct sc_batch_copy *copy)
{
    return !(source && source->copy) && is_late(copy) && sc_options.mode == SC_MODE_FIX &&
           sc_replaying_is_on();
}

static void keep_source_as_it_was(struct sc_batch_source *source, const struct sc_batch_copy *copy,
                                  struct sc_issued_call *issued)
{
    struct sc_op_info read = {
        .api = issued->call->api,
        .shape = copy->sides.src.shape,
        .fold = copy->sides.src.fold,
        .ticket = {.stream = issued->stream->id},
        .access = SC_ACCESS_ALL,
        .stack = issued->stack,
        .ticks = issued->ticks,
        .thread = sc_thread_id(),
    };
    if (source && source->copy)
        sc_large_copies_keep(source->copy, source->copy_bytes, &read);
    else
        sc_large_copies_await(&read);
    count(issued, &read);
    issued->snapshotted = false; /* a copy has to be given back */
    issued->size_bytes += sc_shape_hull_bytes(&read.shape);
    if (is_late(copy))
        sc_large_copies_count_late();
}

static void record(struct sc_batch *batch, size_t index, struct recording *recording)
{
    struct sc_issue issue;
    struct sc_batch_copy copy;
    struct sc_issued_call *issued = &recording->issued;
    struct sc_batch_source *source = batch->sources ? &batch->sources[index] : NULL;
    describe(&issue, batch, index, &copy);
    issue.owner = &recording->owner;
    if (source)
        hand_over(source, &issue);
    if (issue.is_empty)
        return;
    if ((issue.count || issue.uses.count) && !issued->stack)
        issued->stack = sc_unwind_here(batch->call->site);
    note_first_use(&issued->use, &issue);
    ask_if_over(batch, recording, &issue);
    if (issue.count)
        issued->size_bytes += sc_issue_record(&issue, issued->stack, issued->ticks);
    for (unsigned i = 0; i < issue.count; i++)
        count(issued, &issue.ops[i]);
    if ((source && source->copy) || must_wait(source, &copy))
        keep_source_as_it_was(source, &copy, issued);
    if (issue.uses.count && sc_issue_tells_device(&issue))
        note_uses_of_device(&issue, issued);
    if (sc_beside_is_asked())
        sc_beside_uses_issued(batch->call, batch->stream, &issue.uses, false);
}

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
        record(batch, i, &recording);
    sc_issue_recorded(&recording.issued);
}

/* The driver may have begun with copies before the one that it refused: what they read is kept as
 * if all were under way. */
static void keep_slot(const struct sc_batch *batch, struct sc_slot *slot)
{
    struct sc_order_call none = {0};
    SC_ISSUED(issued);
    struct sc_op_info read = {
        .api = batch->call->api,
        .shape = {(uintptr_t)slot->bytes, 1, 1, 1},
        .ticket = {.stream = batch->stream->id},
        .direction = SC_H2D,
        .kind = SC_PINNED,
        .access = SC_ACCESS_ALL,
        .slot = slot,
        .unjudged = true,
    };
    sc_track_issue(&sc_track, &none, &read, 1, &issued);
}

static void keep_refused(const struct sc_batch *batch, struct sc_batch_source *source)
{
    struct sc_slot *const slots[] = {source->slot, source->edges[0], source->edges[1]};
    struct sc_op_info read = {
        .api = batch->call->api,
        .ticket = {.stream = batch->stream->id},
        .access = SC_ACCESS_ALL,
    };
    for (unsigned i = 0; i < sizeof slots / sizeof slots[0]; i++)
        if (slots[i])
            keep_slot(batch, slots[i]);
    if (source->copy)
        sc_large_copies_keep(source->copy, source->copy_bytes, &read);
}

CUresult sc_batch_copies_end(struct sc_batch *batch, CUresult result)
{
    int saved = errno;
    if (!batch->stream)
        return result;
    sc_track_end(&sc_track, &batch->ordered, result == CUDA_SUCCESS);
    if (result == CUDA_SUCCESS)
        record_all(batch);
    for (size_t i = 0; result != CUDA_SUCCESS && batch->sources && i < batch->count; i++)
        keep_refused(batch, &batch->sources[i]);
    if (batch->sources && (void *)batch->sources != (void *)batch->few)
        sc_pages_unmap(batch->sources, scratch_bytes(batch));
    errno = saved;
    return result;
}
