#include "interpose/calls/batch_sources.h"

#include <string.h>

#include "common/op_kinds.h"
#include "common/own_pages.h"
#include "common/pages.h"
#include "common/shape.h"
#include "common/unsure.h"
#include "interpose/base/plain_memory.h"
#include "interpose/base/process.h"
#include "interpose/calls/issue.h"
#include "interpose/calls/issue_ops.h"
#include "interpose/driver/replaying.h"
#include "interpose/graph/copy_sides.h"
#include "interpose/guard/door.h"
#include "interpose/memory/snapshots.h"
#include "interpose/reaper/large_copies.h"
#include "interpose/streams/streams.h"
#include "report/options.h"
#include "track/copy_manner.h"
#include "track/inflight_calls.h"
#include "track/staging.h"
#include "track/track.h"
#include "track/track_ops.h"
#include "track/track_order.h"

#include "common/poison.h"

/* Returns how many bytes the records of all sources take, with the wrapper's scratch memory. */
static size_t scratch_bytes(const struct sc_batch *batch)
{
    return batch->count * (sizeof *batch->sources + batch->scratch_bytes);
}

/* Returns the record of how the device is to read one copy's source; NULL: there is no memory. The
 * first call makes the records of all copies: in the batch itself, which lies on the wrapper's
 * stack, if they fit there, else in mapped pages. */
struct sc_batch_source *sc_batch_sources_at(struct sc_batch *batch, size_t index)
{
    size_t size_bytes = scratch_bytes(batch);
    bool fits = size_bytes <= sizeof batch->few;
    if (!batch->sources) {
        if (fits)
            memset(batch->few, 0, size_bytes);
        batch->sources = fits ? (void *)batch->few : sc_pages_map(size_bytes);
    }
    return batch->sources ? &batch->sources[index] : NULL;
}

/* Returns the operation of a copy that reads its source in host memory, which comes first; NULL:
 * the source is device memory, or is read within the call. */
struct sc_op_info *sc_batch_sources_op(struct sc_issue_ops *ops)
{
    return ops->count && ops->of[0].direction == SC_H2D ? &ops->of[0] : NULL;
}

/* Copies a source into memory of the library's, which the device reads instead. The copy is made by
 * a system call, which fails at pages that are protected for other operations: these are then
 * unprotected. Nothing is missed by that: what the call had to wait for there, it has waited for.
 */
static void make_large_copy(struct sc_batch *batch, size_t index, const struct sc_shape *shape)
{
    struct sc_batch_source *source = sc_batch_sources_at(batch, index);
    if (!source)
        return;
    source->copy_bytes = sc_shape_hull_bytes(shape);
    source->copy = sc_large_copies_make(shape->address, source->copy_bytes);
    if (!source->copy) {
        sc_guard_unprotect((const void *)shape->address, source->copy_bytes);
        source->copy = sc_large_copies_make(shape->address, source->copy_bytes);
    }
    batch->replaced |= source->copy != NULL;
}

/* Describes the operation's source for a snapshot of it. */
static struct sc_slot_source slot_source(const struct sc_op_info *op)
{
    return (struct sc_slot_source){op->ticket.stream, op->range, op->kind, &op->shape, &op->fold};
}

/* Takes a snapshot of one end of the source: the bytes before or after its protected pages. They
 * share pages with other memory, so they cannot be protected. NULL: none is taken. */
static struct sc_slot *take_edge_snapshot(const struct sc_batch *batch, const struct sc_op_info *op,
                                          uintptr_t address, size_t size_bytes)
{
    struct sc_slot_source edge = slot_source(op);
    const struct sc_shape shape = {address, size_bytes, size_bytes, 1};
    edge.shape = &shape;
    return sc_snapshots_take(batch->stream->context, op->direction, op->stable, &edge);
}

/* Returns how many bytes lie between one end of a source and its protected pages: a part of a page,
 * which is read from a snapshot. 0: there are none, or so many that they are no such part. */
static uint16_t edge_between(uintptr_t from, uintptr_t to)
{
    size_t size_bytes = to > from ? to - from : 0;
    return size_bytes <= UINT16_MAX ? (uint16_t)size_bytes : 0;
}

/* Chooses the whole pages of a large pageable source for protection. If the wrapper can have one
 * copy made in several pieces (`splits`), also takes snapshots of the bytes before and after those
 * pages, which the device then reads in pieces of their own. What was chosen is kept for the
 * recording behind the call. */
static void guard_and_split(struct sc_batch *batch, size_t index, const struct sc_issue *issue,
                            struct sc_op_info *op)
{
    struct sc_batch_source *source = sc_batch_sources_at(batch, index);
    uintptr_t address = op->shape.address;
    if (!source)
        return;
    op->unseen_waits = sc_track_find_unseen_before(&sc_track, batch->stream->id, NULL);
    sc_issue_choose_guard(issue, op);
    source->is_guard_chosen = true;
    source->guard_address = op->guard_address;
    source->guard_bytes = op->guard_bytes;
    uintptr_t guard_end = op->guard_address + op->guard_bytes;
    uintptr_t end = address + op->shape.width_bytes;
    if (!op->guard_bytes || !batch->splits)
        return;
    source->edge_bytes[0] = edge_between(address, op->guard_address);
    source->edge_bytes[1] = edge_between(guard_end, end);
    if (source->edge_bytes[0])
        source->edges[0] = take_edge_snapshot(batch, op, address, source->edge_bytes[0]);
    if (source->edge_bytes[1])
        source->edges[1] = take_edge_snapshot(batch, op, guard_end, source->edge_bytes[1]);
    batch->extra += (source->edges[0] != NULL) + (source->edges[1] != NULL);
    batch->replaced |= batch->extra != 0;
}

/* Keeps a large pageable source as it is until the device has read it, although the program may
 * change it at once: by page protection, or, if the source may lie on a stack, whose pages cannot
 * be protected, by a copy. No copy is made while work in flight may still write the source. */
static void protect_source(struct sc_batch *batch, size_t index, const struct sc_issue *issue,
                           struct sc_op_info *op)
{
    size_t hull_bytes = sc_shape_hull_bytes(&op->shape);
    bool must_copy =
        op->kind == SC_STACK || sc_plain_memory_may_be_stack(op->shape.address, hull_bytes);
    if (must_copy && SC_TRACKED(sc_inflight_is_stable(track.inflight, op)))
        make_large_copy(batch, index, &op->shape);
    else if (!must_copy)
        guard_and_split(batch, index, issue, op);
}

/* Returns as which kind of call (track/copy_manner.h) the copy counts: its access order says when
 * the driver may read the source. An unknown order counts as the default, STREAM. */
enum sc_copy_call sc_batch_sources_call(const struct sc_batch_copy *copy)
{
    switch (copy->order) {
    case CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL:
        return SC_COPY_BATCH_DURING_CALL;
    case CU_MEMCPY_SRC_ACCESS_ORDER_ANY:
        return SC_COPY_BATCH_ANY;
    default:
        return SC_COPY_BATCH_STREAM;
    }
}

/* Does this driver read the source after the call has returned, although the copy's access order
 * promises that it has read it by then? The program may then change the source too early, and
 * correctly so. */
bool sc_batch_sources_is_late(const struct sc_batch_copy *copy)
{
    const struct sc_copy_case asked =
        sc_copy_sides_case(&copy->sides, sc_batch_sources_call(copy), /*in_place=*/false);
    return sc_copy_manner_breaks_promise(&asked);
}

/* Copies all gathered sources into their slots (places for snapshots) by one system call, which
 * harms nobody if a source cannot be read. Such a source loses its slot, and the device reads where
 * the program says. */
void sc_batch_sources_read(struct sc_batch_gathered *gathered)
{
    sc_peek_all(gathered->items, gathered->count);
    for (unsigned i = 0; i < gathered->count; i++) {
        struct sc_batch_source *source = gathered->sources[i];
        if (gathered->items[i].read)
            continue;
        sc_snapshots_return(source->slot);
        source->slot = NULL;
    }
    gathered->count = 0;
}

/* Takes a slot (a place for a snapshot) for a small pageable source, and adds the source to those
 * that are copied together later, by one system call. If there are as many as one call can copy,
 * they are copied now. Returns false if there is no slot. */
static bool gather_source(struct sc_batch_gathered *gathered, struct sc_batch *batch, size_t index,
                          const struct sc_op_info *op)
{
    struct sc_batch_source *source = sc_batch_sources_at(batch, index);
    const struct sc_slot_source read = slot_source(op);
    struct sc_slot *slot = source ? sc_snapshots_reserve(batch->stream->context, &read) : NULL;
    if (!slot)
        return false;
    if (gathered->count == SC_PEEK_ITEMS_MAX)
        sc_batch_sources_read(gathered);
    source->slot = slot;
    batch->replaced = true;
    gathered->sources[gathered->count] = source;
    gathered->items[gathered->count++] = (struct sc_peek_item){
        slot->bytes, op->shape.address, sc_shape_hull_bytes(&op->shape), false};
    return true;
}

/* Takes a snapshot of the source at once, for the device to read instead. Returns false if none may
 * or can be taken. */
static bool take_snapshot(struct sc_batch *batch, size_t index, const struct sc_op_info *op)
{
    struct sc_batch_source *source = sc_batch_sources_at(batch, index);
    const struct sc_slot_source read = slot_source(op);
    if (!source)
        return false;
    source->slot = sc_snapshots_take(batch->stream->context, op->direction, op->stable, &read);
    batch->replaced |= source->slot != NULL;
    return source->slot != NULL;
}

/* Decides, before the driver's call, what the device is to read in place of one copy's source,
 * which the program may change at once: a snapshot, a copy in memory of the library's, or the
 * source itself with its pages protected. Without an operation (`op` NULL) the source counts as
 * read within the call: it is copied only if this driver reads it later all the same. A small
 * source gets a snapshot: pageable memory without gaps together with other sources (gather_source),
 * other memory at once. What gets none is protected or copied if it is pageable and no work may
 * still write it (`stable`). */
void sc_batch_sources_replace(struct sc_batch *batch, size_t index, const struct sc_issue *issue,
                              const struct sc_batch_copy *copy, struct sc_batch_gathered *gathered)
{
    struct sc_issue_ops ops;
    sc_issue_describe(issue, &ops);
    struct sc_op_info *op = sc_batch_sources_op(&ops);
    bool replaced = false;
    if (!op && sc_batch_sources_is_late(copy))
        make_large_copy(batch, index, &copy->sides.src.shape);
    if (!op)
        return;
    if (op->kind != SC_PAGEABLE || !sc_shape_is_whole(&op->shape, &op->fold))
        replaced = take_snapshot(batch, index, op);
    else if (sc_snapshots_are_for(op->direction, op->stable, SC_PAGEABLE, &op->shape, &op->fold))
        replaced = gather_source(gathered, batch, index, op);
    if (!replaced && !op->range && op->stable)
        protect_source(batch, index, issue, op);
}

/* May sources of the batch be replaced? Only in mode=fix and by a wrapper that can pass other
 * addresses to the driver. In a replay the driver has made the call already. */
bool sc_batch_sources_are_replaced(const struct sc_batch *batch)
{
    return sc_options.mode == SC_MODE_FIX && !sc_replaying_is_on() && batch->scratch_bytes;
}

/* Splits a copy into the pieces that the device is to make, and returns their number: one, or up to
 * three if the ends of a protected source are read from snapshots. Each piece says where its bytes
 * are read (`source`; NULL: where the program says). */
unsigned sc_batch_sources_pieces(const struct sc_batch *batch, size_t index, size_t size_bytes,
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

/* Releases a snapshot that no operation reads; NULL: there is none. */
static void release_slot(struct sc_slot *slot)
{
    if (slot)
        sc_snapshots_return(slot);
}

/* Called when the driver has accepted the batch: enters what replaces the source into the copy's
 * operation, which frees that when the device has read it. If another thread has registered or
 * freed memory there during the call, the copy may have no such operation: then its snapshots are
 * released at once. */
void sc_batch_sources_hand_over(struct sc_batch_source *source, struct sc_issue_ops *ops)
{
    struct sc_op_info *op = sc_batch_sources_op(ops);
    if (!op) {
        release_slot(source->slot);
        release_slot(source->edges[0]);
        release_slot(source->edges[1]);
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

/* Keeps a snapshot of a refused batch from being used again: the driver may have begun the copies
 * before the one that it has refused. An operation is recorded that holds the snapshot until it is
 * complete, and of which nothing is reported (SC_UNSURE_UNJUDGED). */
static void keep_refused_slot(const struct sc_batch *batch, struct sc_slot *slot)
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
        .unsure = SC_UNSURE_UNJUDGED,
    };
    sc_track_issue(&sc_track, &none, &read, 1, &issued);
}

/* Called for each copy of a batch that the driver has refused: keeps all memory of the library's
 * that the device may have begun to read instead of the source. */
static void keep_refused_source(const struct sc_batch *batch, struct sc_batch_source *source)
{
    struct sc_slot *const slots[] = {source->slot, source->edges[0], source->edges[1]};
    struct sc_op_info read = {
        .api = batch->call->api,
        .ticket = {.stream = batch->stream->id},
        .access = SC_ACCESS_ALL,
    };
    for (unsigned i = 0; i < sizeof slots / sizeof slots[0]; i++)
        if (slots[i])
            keep_refused_slot(batch, slots[i]);
    if (source->copy)
        sc_large_copies_keep(source->copy, source->copy_bytes, &read);
}

/* Frees the records of the sources when the call is over. If the driver has refused the batch, what
 * it may have begun to read is kept before that; of an accepted batch, operations have it. */
void sc_batch_sources_end(struct sc_batch *batch, bool refused)
{
    for (size_t i = 0; refused && batch->sources && i < batch->count; i++)
        keep_refused_source(batch, &batch->sources[i]);
    if (batch->sources && (void *)batch->sources != (void *)batch->few)
        sc_pages_unmap(batch->sources, scratch_bytes(batch));
}
