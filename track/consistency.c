#include "track/consistency.h"

#ifdef SC_DEBUG

#include "common/checks.h"
#include "common/pages.h"
#include "track/graphs_internal.h"
#include "track/hold_internal.h"
#include "track/inflight.h"
#include "track/order.h"
#include "track/spans.h"
#include "track/spans_calls.h"

#include "common/poison.h"

/* Reads a number that only grows; the lock is held. */
static uint64_t read_number(const _Atomic uint64_t *number)
{
    return atomic_load_explicit(number, memory_order_relaxed);
}

/* Reads a count; the lock is held. */
static uint32_t read_count(const _Atomic uint32_t *count)
{
    return atomic_load_explicit(count, memory_order_relaxed);
}

/* ---- operations ---- */

/* Asserts that the operation's neighbours in its range's list link back to it, and that the range's
 * counts are possible. */
static void check_range_links(struct sc_inflight *inflight, uint32_t id)
{
    const struct sc_op *op = sc_inflight_op(inflight, id);
    const struct sc_range *range =
        sc_inflight_range(inflight, sc_inflight_list_owner(inflight, &op->info));
    SC_ASSERT(op->info.range < sc_pool_first_unused(&inflight->ranges));
    SC_ASSERT(id == (op->range_previous ? sc_inflight_op(inflight, op->range_previous)->range_next
                                        : range->first_op));
    SC_ASSERT(id == (op->range_next ? sc_inflight_op(inflight, op->range_next)->range_previous
                                    : range->last_op));
    SC_ASSERT(read_count(&range->op_count) > 0);
    SC_ASSERT(read_count(&range->writer_count) + read_count(&range->source_count) <=
              read_count(&range->op_count));
}

/* Asserts that the stream's neighbours in the list of streams with operations link back to it. */
static void check_busy_links(struct sc_inflight *inflight, uint32_t id)
{
    const struct sc_stream *stream = sc_order_stream(inflight->order, id);
    SC_ASSERT(id == (stream->busy_previous
                         ? sc_order_stream(inflight->order, stream->busy_previous)->busy_next
                         : inflight->busy));
    if (stream->busy_next)
        SC_ASSERT(sc_order_stream(inflight->order, stream->busy_next)->busy_previous == id);
}

/* Asserts that the operation's neighbours in its stream's list link back to it. */
static void check_stream_links(struct sc_inflight *inflight, uint32_t id)
{
    const struct sc_op *op = sc_inflight_op(inflight, id);
    const struct sc_stream *stream = sc_order_stream(inflight->order, op->info.ticket.stream);
    SC_ASSERT(stream->references > 0);
    SC_ASSERT(id == (op->stream_previous
                         ? sc_inflight_op(inflight, op->stream_previous)->stream_next
                         : stream->first_op));
    SC_ASSERT(id == (op->stream_next ? sc_inflight_op(inflight, op->stream_next)->stream_previous
                                     : stream->last_op));
}

/* Asserts what holds of an operation's record after it was added, moved or issued again. */
void sc_consistency_of_op(struct sc_inflight *inflight, uint32_t id)
{
    const struct sc_op *op = sc_inflight_op(inflight, id);
    SC_ASSERT(id != 0 && id < sc_pool_first_unused(&inflight->ops));
    SC_ASSERT(op->info.ticket.stream != 0);
    SC_ASSERT(atomic_load_explicit(&op->node.size_bytes, memory_order_relaxed) != 0);
    SC_ASSERT(!op->first_span || sc_spans_at(&inflight->guards, op->first_span)->op == id);
    SC_ASSERT(inflight->retained <= inflight->ops.live);
    SC_ASSERT(inflight->awaiting_guard <= inflight->ops.live);
    check_range_links(inflight, id);
    check_stream_links(inflight, id);
    check_busy_links(inflight, op->info.ticket.stream);
}

/* Asserts that the range's list of operations is linked in both directions, and that the counts
 * kept of it are right. */
void sc_consistency_of_range(struct sc_inflight *inflight, uint32_t id)
{
    const struct sc_range *range = sc_inflight_range(inflight, id);
    uint32_t count = 0, writers = 0, sources = 0, previous = 0;
    for (uint32_t at = range->first_op; at; at = sc_inflight_op(inflight, at)->range_next) {
        const struct sc_op *op = sc_inflight_op(inflight, at);
        SC_ASSERT(sc_inflight_list_owner(inflight, &op->info) == id);
        SC_ASSERT(op->range_previous == previous);
        previous = at;
        writers += sc_direction_writes_host(op->info.direction);
        sources += op->info.direction == SC_H2D;
        SC_ASSERT(++count <= inflight->ops.live);
    }
    SC_ASSERT(range->last_op == previous);
    SC_ASSERT(count == read_count(&range->op_count));
    SC_ASSERT(writers == read_count(&range->writer_count));
    SC_ASSERT(sources == read_count(&range->source_count));
}

/* Asserts that the stream's list of operations is linked in both directions, and that those which
 * were seen complete come first, up to `first_open`. */
void sc_consistency_of_stream(struct sc_inflight *inflight, uint32_t id)
{
    const struct sc_stream *stream = sc_order_stream(inflight->order, id);
    uint32_t count = 0, previous = 0;
    bool is_open = false;
    for (uint32_t at = stream->first_op; at; at = sc_inflight_op(inflight, at)->stream_next) {
        const struct sc_op *op = sc_inflight_op(inflight, at);
        SC_ASSERT(op->stream_previous == previous);
        SC_ASSERT(op->info.ticket.stream == id);
        is_open |= at == stream->first_open;
        SC_ASSERT(is_open || op->retained);
        SC_ASSERT(++count <= inflight->ops.live);
        previous = at;
    }
    SC_ASSERT(stream->last_op == previous);
    SC_ASSERT(stream->first_open ? is_open : !is_open);
}

/* ---- order ---- */

/* Asserts that the stream's numbers and ties fit together: nothing is known done that was not
 * issued, and a call sees by a bit what it may come after. */
void sc_consistency_of_order(struct sc_order *order, uint32_t id)
{
    struct sc_stream *stream = sc_order_stream(order, id);
    SC_ASSERT(id != 0 && id < sc_pool_first_unused(&order->streams));
    SC_ASSERT(stream->references < sc_pool_first_unused(&order->streams) ||
              stream->references < 1 << 30);
    SC_ASSERT(read_number(&stream->done) <= read_number(&stream->front.issued));
    SC_ASSERT(read_number(&stream->complete) <= read_number(&stream->front.issued));
    SC_ASSERT(read_number(&stream->ended) <= read_number(&stream->calls));
    SC_ASSERT(read_number(&stream->done_calls) <= read_number(&stream->calls));
    SC_ASSERT(stream->kind != SC_STREAM_LEGACY || stream->context == id);
    SC_ASSERT(stream->kind == SC_STREAM_LEGACY || stream->context != id);
    SC_ASSERT(sc_stream_front_has_ties(&stream->front, SC_TIE_KIND) ==
                  (stream->kind == SC_STREAM_BLOCKING) ||
              stream->kind == SC_STREAM_LEGACY);
    SC_ASSERT(sc_stream_front_has_ties(&stream->front, SC_TIE_DUE) == (stream->due != NULL));
    SC_ASSERT(sc_stream_front_has_ties(&stream->front, SC_TIE_JOINED) || !stream->joined);
    SC_ASSERT(stream->kind == SC_STREAM_LEGACY || (!stream->gate && !stream->awaited));
    SC_ASSERT(stream->is_live || sc_order_is_idle(stream));
}

/* ---- holds ---- */

/* Returns how many bytes count for the hold (memory kept after a free): none if the memory stays
 * the program's. */
static uint64_t held_bytes(const struct sc_hold *hold)
{
    return hold->kind == SC_HOLD_WAIT || hold->kind == SC_HOLD_UNREGISTER
               ? 0
               : atomic_load_explicit(&hold->node.size_bytes, memory_order_relaxed);
}

/* Asserts that the list of holds is in order of age, and that the sum of its bytes is right. */
void sc_consistency_of_holds(struct sc_holds *holds)
{
    uint64_t bytes = 0, age = 0;
    uint32_t count = 0, previous = 0;
    for (uint32_t id = holds->oldest; id; id = sc_holds_at(holds, id)->next) {
        const struct sc_hold *hold = sc_holds_at(holds, id);
        SC_ASSERT(hold->previous == previous);
        SC_ASSERT(hold->age > age);
        SC_ASSERT(hold->ticket_count <= hold->ticket_capacity);
        SC_ASSERT(++count <= holds->pool.live);
        bytes += held_bytes(hold);
        age = hold->age;
        previous = id;
    }
    SC_ASSERT(holds->newest == previous);
    SC_ASSERT(count == holds->pool.live);
    SC_ASSERT(bytes == holds->held_bytes);
    SC_ASSERT(age <= holds->made);
}

/* ---- graphs ---- */

/* Counts the graph's uses (of memory by nodes) by kind, and asserts that the counts kept of them
 * are right. A hole is the empty place of a dropped use. */
static void check_uses(const struct sc_graph *graph)
{
    uint32_t freed = 0, stacks = 0, holes = 0, of_device = 0, addresses = 0;
    for (uint32_t i = 1; i <= graph->uses.count; i++) {
        const struct sc_graph_use *use = sc_graph_use_at(graph, i);
        freed += use->freed;
        stacks += use->kind == SC_STACK;
        of_device += sc_graph_is_of_device(use);
        addresses += sc_graph_is_address(use);
        SC_ASSERT(!sc_graph_is_of_device(use) || !use->interval);
    }
    for (uint32_t use = graph->first_hole; use; use = sc_graph_use_at(graph, use)->interval_next) {
        SC_ASSERT(use <= graph->uses.count && sc_graph_use_at(graph, use)->disabled);
        SC_ASSERT(++holes <= graph->hole_count);
    }
    SC_ASSERT(graph->uses.count <= graph->uses.capacity);
    SC_ASSERT(holes == graph->hole_count && freed == graph->freed_count);
    SC_ASSERT(stacks == graph->stack_count && graph->waiting_count <= graph->uses.count);
    SC_ASSERT(of_device == graph->device_count + graph->address_count);
    SC_ASSERT(addresses == graph->address_count);
}

/* Asserts that each use (of a piece of memory by a node) in the list belongs to this interval (a
 * piece of memory), and links back to the use before it. */
static void check_interval_links(const struct sc_graph *graph, uint32_t first, uint32_t interval)
{
    uint32_t count = 0, previous = 0;
    for (uint32_t use = first; use; use = sc_graph_use_at(graph, use)->interval_next) {
        SC_ASSERT(sc_graph_use_at(graph, use)->interval == interval);
        SC_ASSERT(!graph->links || graph->links[use - 1].interval_previous == previous);
        SC_ASSERT(++count <= graph->uses.count);
        previous = use;
    }
    SC_ASSERT(count > 0);
}

/* Asserts that the graph's counts are right, and its lists linked in both directions. */
void sc_consistency_of_graph(struct sc_graphs *graphs, const struct sc_graph *graph)
{
    uint32_t count = 0, previous = 0;
    check_uses(graph);
    for (uint32_t id = graph->first_interval; id; id = sc_graphs_interval_at(graphs, id)->next) {
        const struct sc_graph_interval *interval = sc_graphs_interval_at(graphs, id);
        SC_ASSERT(interval->previous == previous);
        SC_ASSERT(++count <= graphs->intervals.live);
        check_interval_links(graph, interval->first_use, id);
        previous = id;
    }
}

/* ---- spans ---- */

/* Asserts that each span (a run of protected pages) of the list waits for its system call, and
 * counts the spans: all, those that forbid reading, and those that have ended. */
static void check_unapplied_list(struct sc_spans *spans, uint32_t first, uint32_t *count,
                                 uint32_t *hiding, uint32_t *dead)
{
    for (uint32_t id = first; id; id = sc_spans_at(spans, id)->unapplied_next) {
        const struct sc_span *span = sc_spans_at(spans, id);
        SC_ASSERT(span->unapplied);
        SC_ASSERT(atomic_load(&span->used));
        *hiding += span->access == SC_ACCESS_NONE;
        *dead += !span->live;
        SC_ASSERT(++*count <= spans->pool.live);
    }
}

/* Asserts that the counts of spans (runs of pages to be protected) are those of the lists. */
void sc_consistency_of_spans(struct sc_spans *spans)
{
    uint32_t count = 0, hiding = 0, dead = 0;
    for (unsigned stripe = 0; stripe < SC_SPANS_STRIPES; stripe++) {
        uint32_t refused = read_count(&spans->refused[stripe]);
        SC_ASSERT((!spans->unapplied[stripe] && !refused) ||
                  (read_number(&spans->unapplied_stripes) >> stripe & 1));
        check_unapplied_list(spans, spans->unapplied[stripe], &count, &hiding, &dead);
        check_unapplied_list(spans, refused, &count, &hiding, &dead);
    }
    SC_ASSERT(count == read_count(&spans->unapplied_count));
    SC_ASSERT(hiding == spans->unreadable_unapplied);
    /* Other spans have ended, and a thread makes their system call or has just made it. */
    SC_ASSERT(spans->live + dead <= spans->pool.live);
    SC_ASSERT(spans->live + dead <= read_count(&spans->busy));
    SC_ASSERT(spans->unreadable_unapplied <= spans->unreadable);
    SC_ASSERT(spans->unreadable <= spans->pool.live);
}

#endif
