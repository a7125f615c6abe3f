#include "interpose/reaper/hazards.h"

#include <sys/prctl.h>
#include <sys/syscall.h>

#include "common/hazard.h"
#include "common/hazard_event.h"
#include "common/hazard_words.h"
#include "common/kernel.h"
#include "common/now.h"
#include "common/op_kinds.h"
#include "common/pages.h"
#include "common/points.h"
#include "common/shape.h"
#include "common/ticks.h"
#include "cupti_hooks/current_call.h"
#include "interpose/base/compiler.h"
#include "interpose/base/process.h"
#include "interpose/base/unwind.h"
#include "interpose/guard/door.h"
#include "interpose/reaper/culprit.h"
#include "interpose/reaper/decided.h"
#include "interpose/reaper/excuses.h"
#include "interpose/reaper/reaper.h"
#include "interpose/streams/contexts.h"
#include "report/annotations.h"
#include "report/options.h"
#include "track/allocations.h"
#include "track/comparisons.h"
#include "track/graphs.h"
#include "track/no_verdicts.h"
#include "track/op_info.h"
#include "track/ops.h"
#include "track/spans_calls.h"
#include "track/track.h"
#include "track/track_order.h"
#include "track/track_parts.h"
#include "track/track_ranges.h"
#include "track/track_streams.h"

#include "common/poison.h"

enum { LOCKED_MAX = 8 };

enum sc_hazard_code sc_hazards_free_code(enum sc_direction direction)
{
    return sc_direction_writes_host(direction) ? SC102 : SC101;
}

bool sc_hazards_heals(const struct sc_op_info *op)
{
    return sc_options.mode == SC_MODE_FIX &&
           (!sc_ops_is_possible(op) || sc_options.kernels == SC_KERNELS_ORDER);
}

/* Describes the operation for the report. */
static struct sc_hazard_copy describe_copy(const struct sc_op_info *op)
{
    const struct sc_stream_view stream = sc_track_stream(&sc_track, op->ticket.stream);
    return (struct sc_hazard_copy){
        .api = op->api,
        .direction = op->direction,
        .address = op->shape.address,
        .size_bytes = sc_shape_hull_bytes(&op->shape),
        .stream = stream.handle,
        .device = stream.device,
        .seq = op->ticket.number,
        .thread = op->thread,
        .time_ns = sc_ticks_to_ns(op->ticks),
        .stack = op->stack,
        .runtime_api = op->runtime_api,
        .correlation_id = op->correlation_id,
        .stream_origin = stream.origin,
    };
}

/* Returns the culprit's stack: from the interrupted instruction, or from the call. */
static uint32_t stack_of(const struct sc_culprit *culprit)
{
    if (culprit->context)
        return sc_unwind_from(culprit->context, (uintptr_t)culprit->site);
    return culprit->site ? sc_unwind_here(culprit->site) : 0;
}

uint32_t sc_hazards_origin(uintptr_t address)
{
    return SC_TRACKED(sc_allocations_origin(track.allocations, address));
}

/* Describes the culprit for the report: who, where and when. */
struct sc_hazard_event sc_hazards_event(const struct sc_culprit *culprit)
{
    struct sc_hazard_event event = {
        .api = culprit->api,
        .thread = sc_thread_id(),
        .time_ns = sc_now_ns(),
        .runtime_api = sc_current_call_runtime_api(),
        .stack = stack_of(culprit),
    };
    sc_kernel_call(SYS_prctl, PR_GET_NAME, event.thread_name);
    return event;
}

/* Makes the hazard of one operation and an event. */
static struct sc_hazard hazard_of(enum sc_hazard_code code, enum sc_action action,
                                  const struct sc_op_info *op, const struct sc_buffer *buffer,
                                  const struct sc_hazard_event *event, bool found_later)
{
    struct sc_hazard hazard = {
        .code = code == SC_HAZARD_CODE_COUNT ? sc_hazards_free_code(op->direction) : code,
        .certainty = SC_LATENT,
        .action = action,
        .buffer_address = buffer->address,
        .buffer_size_bytes = buffer->size_bytes,
        .buffer_kind = op->kind,
        .buffer_origin = op->origin,
        .copy = describe_copy(op),
        .event = *event,
        .found_later = found_later,
    };
    sc_annotations_note(&hazard);
    return hazard;
}

/* A source may be read, so a touch that comes too early has written it. SC403: a launch reads it.
 */
enum sc_hazard_code sc_hazards_touch_code(const struct sc_op_info *op, enum sc_touch touch)
{
    if (!sc_direction_writes_host(op->direction))
        return op->by_graph ? SC403 : SC201;
    return touch == SC_TOUCH_READ ? SC202 : SC203;
}

/* Does the hazard not count, since the context is lost? To give memory back then is no mistake, as
 * a call has said that nothing runs any more. To read there is: the data never came. */
static bool is_void(const struct sc_op_info *op, enum sc_finding finding)
{
    return finding != SC_BY_TOUCH && sc_contexts_has_lost(op->ticket.stream);
}

/* Is the later call in a lost context, so that the driver refuses it? */
static bool is_refused(const struct sc_later *later)
{
    return later && sc_contexts_has_lost(later->ticket.stream);
}

/* Passes a hazard for each operation to the reaper. */
static void report(enum sc_hazard_code code, enum sc_action action, const struct sc_ops *ops,
                   const struct sc_buffer *buffer, const struct sc_culprit *culprit,
                   enum sc_finding finding, const struct sc_later *later)
{
    if (ops->count == 0 || is_refused(later))
        return;
    SC_KEEP_ERRNO();
    struct sc_hazard_event event = sc_hazards_event(culprit);
    for (unsigned i = 0; i < sc_ops_count_kept(ops); i++) {
        if (is_void(&ops->ops[i], finding))
            continue;
        struct sc_hazard hazard =
            hazard_of(code, action, &ops->ops[i], buffer, &event, finding == SC_LATER);
        sc_reaper_enqueue(&hazard, &ops->ops[i], finding, later);
    }
}

void sc_hazards_decide(struct sc_decided *decided)
{
    for (unsigned i = 0; i < sc_ops_count_kept(&decided->ops); i++)
        decided->counts[i] =
            sc_reaper_finds_hazard(&decided->ops.ops[i].ticket, &decided->certainty[i]);
}

/* Reports hazards whose certainty is already known. Those that do not count are counted as
 * undecided. */
void sc_hazards_report_decided(enum sc_hazard_code code, enum sc_action action,
                               const struct sc_decided *decided, const struct sc_buffer *buffer,
                               const struct sc_culprit *culprit)
{
    const struct sc_ops *ops = &decided->ops;
    if (ops->count == 0)
        return;
    SC_KEEP_ERRNO();
    struct sc_hazard_event event = sc_hazards_event(culprit);
    for (unsigned i = 0; i < sc_ops_count_kept(ops); i++) {
        struct sc_hazard hazard = hazard_of(code, action, &ops->ops[i], buffer, &event, false);
        hazard.certainty = decided->certainty[i];
        if (decided->counts[i])
            sc_reaper_report(&hazard);
        else
            sc_no_verdicts_add(sc_track_parts.no_verdicts, SC_NO_VERDICT_TOUCHES,
                               SC_NO_VERDICT_HEARD, 1);
    }
}

void sc_hazards_report(enum sc_hazard_code code, enum sc_action action, const struct sc_ops *ops,
                       const struct sc_buffer *buffer, const struct sc_culprit *culprit)
{
    report(code, action, ops, buffer, culprit, SC_BY_CALL, NULL);
}

void sc_hazards_report_touch(enum sc_hazard_code code, enum sc_action action,
                             const struct sc_ops *ops, const struct sc_buffer *buffer,
                             const struct sc_culprit *culprit)
{
    report(code, action, ops, buffer, culprit, SC_BY_TOUCH, NULL);
}

/* Returns the whole block that contains the operation's host memory, if it is known; else the
 * operation's own bytes. */
struct sc_buffer sc_hazards_buffer_of(const struct sc_op_info *op)
{
    struct sc_range_info range = sc_track_find_range(&sc_track, op->shape.address);
    if (range.range)
        return (struct sc_buffer){range.address, range.size_bytes};
    return (struct sc_buffer){op->shape.address, sc_shape_hull_bytes(&op->shape)};
}

/* Reports two operations of which the later one is not ordered after the earlier. */
void sc_hazards_report_order(enum sc_hazard_code code, enum sc_action action,
                             const struct sc_ops *ops, unsigned i, const struct sc_later *later,
                             const struct sc_culprit *culprit)
{
    struct sc_ops one = sc_ops_view_one(ops, i);
    struct sc_buffer buffer = sc_hazards_buffer_of(&one.ops[0]);
    report(code, action, &one, &buffer, culprit, SC_BY_ORDER, later);
}

/* Reports an operation on a local of a function that has returned. */
static void report_returned(const struct sc_op_info *op)
{
    if (is_void(op, SC_BY_CALL))
        return;
    struct sc_hazard_event event = {
        .api = "return",
        .thread = op->thread,
        .time_ns = sc_now_ns(),
        .stack = op->frame_stack,
    };
    struct sc_buffer buffer = {op->shape.address, sc_shape_hull_bytes(&op->shape)};
    struct sc_hazard hazard =
        hazard_of(sc_direction_writes_host(op->direction) ? SC203 : SC201,
                  sc_ops_is_copied(op) ? SC_ACTION_SNAPSHOTTED : SC_ACTION_REPORTED, op, &buffer,
                  &event, false);
    sc_reaper_enqueue(&hazard, op, SC_BY_CALL, NULL);
}

void sc_hazards_report_returned(const struct sc_ops *ops)
{
    SC_KEEP_ERRNO();
    for (unsigned i = 0; i < sc_ops_count_kept(ops); i++)
        report_returned(&ops->ops[i]);
}

/* Reports sources that the program has changed while the device still had to read them: found by
 * comparing bytes, after the fact. */
void sc_hazards_report_overwritten(const struct sc_ops *ops, const struct sc_culprit *where)
{
    for (unsigned i = 0; i < sc_ops_count_kept(ops); i++) {
        struct sc_ops one = sc_ops_view_one(ops, i);
        if (one.ops[0].returned) {
            sc_hazards_report_returned(&one);
            continue;
        }
        struct sc_buffer buffer = sc_hazards_buffer_of(&one.ops[0]);
        enum sc_hazard_code code = one.ops[0].by_graph ? SC403 : SC201;
        report(code, sc_ops_is_copied(&one.ops[0]) ? SC_ACTION_SNAPSHOTTED : SC_ACTION_REPORTED,
               &one, &buffer, where, SC_LATER, NULL);
    }
}

/* Returns the stripes of the point's stream that this thread should lock. 0 if these are many: then
 * other threads use them at the same time. */
static uint64_t stripes_to_lock(const struct sc_point *point)
{
    if (!sc_order_is_of_one_stream(point))
        return 0;
    uint64_t stripes = sc_spans_stripes_of_stream(sc_track_parts.guards, point->stream);
    if (!stripes)
        return 0;
    return __builtin_popcountll(stripes) <= LOCKED_MAX ? stripes : 0;
}

/* Records that the host knows, by a wait or a query, that all before the point is done. Ends the
 * operations before it, and reports sources among them that have changed. */
void sc_hazards_note_done_and_report(struct sc_point *point, const struct sc_culprit *where)
{
    SC_OPS(overwritten);
    uint64_t stripes = stripes_to_lock(point);
    struct sc_comparisons comparisons;
    sc_track_compare_sources(&sc_track, point, &comparisons);
    sc_guard_lock_stripes(stripes);
    sc_track_note_known(&sc_track, point, &comparisons, &overwritten);
    sc_guard_apply(SC_GUARD_OWN);
    if (sc_unlikely(overwritten.count))
        sc_hazards_report_overwritten(&overwritten, where);
}

/* Reports something that went wrong with a capture (SC3xx), where no buffer is concerned. */
void sc_hazards_report_capture(enum sc_hazard_code code, enum sc_action action,
                               const struct sc_hazard_copy *begin, const struct sc_culprit *culprit)
{
    SC_KEEP_ERRNO();
    struct sc_hazard hazard = {
        .code = code,
        .certainty = SC_OBSERVED,
        .action = action,
        .buffer_kind = SC_NO_BUFFER,
        .copy = *begin,
        .event = sc_hazards_event(culprit),
    };
    sc_annotations_note(&hazard);
    sc_reaper_report(&hazard);
}

/* Describes a node's use of memory for the report. */
static struct sc_hazard_copy describe_use(const struct sc_graph_use *use)
{
    return (struct sc_hazard_copy){
        .api = use->author.api,
        .direction = use->direction,
        .address = use->shape.address,
        .size_bytes = sc_shape_hull_bytes(&use->shape),
        .stream = use->author.stream,
        .thread = use->author.thread,
        .time_ns = use->author.time_ns,
        .stack = use->author.stack,
        .runtime_api = use->author.runtime_api,
    };
}

/* Describes the call that added the node for the report. */
struct sc_hazard_event sc_hazards_author(const struct sc_graph_author *author)
{
    return (struct sc_hazard_event){.api = author->api,
                                    .runtime_api = author->runtime_api,
                                    .thread = author->thread,
                                    .time_ns = author->time_ns,
                                    .stack = author->stack};
}

/* Describes one of two racing nodes for the report. */
static struct sc_hazard_node describe_node(const struct sc_graph_use *use)
{
    return (struct sc_hazard_node){
        .direction = use->direction,
        .reads = use->reads_device,
        .address = use->shape.address,
        .size_bytes = sc_shape_hull_bytes(&use->shape),
        .author = sc_hazards_author(&use->author),
    };
}

/* Reports two nodes of a graph that use the same device memory without an edge between them
 * (SC501). */
void sc_hazards_report_race(const struct sc_graph_race *race, const struct sc_culprit *culprit)
{
    SC_KEEP_ERRNO();
    const struct sc_hazard_node first = describe_node(&race->of[0]);
    const struct sc_hazard_event *by = first.author.api ? &first.author : &race->made;
    struct sc_hazard hazard = {
        .code = SC501,
        .certainty = SC_LATENT,
        .action = SC_ACTION_REPORTED,
        .buffer_address = first.address,
        .buffer_size_bytes = first.size_bytes,
        .buffer_kind = SC_DEVICE,
        .buffer_origin = sc_hazards_origin(first.address),
        .copy = {.api = by->api,
                 .runtime_api = by->runtime_api,
                 .direction = first.direction,
                 .address = first.address,
                 .size_bytes = first.size_bytes,
                 .thread = by->thread,
                 .time_ns = by->time_ns,
                 .stack = by->stack},
        .event = sc_hazards_event(culprit),
        .nodes = {first, describe_node(&race->of[1])},
    };
    sc_annotations_note(&hazard);
    sc_reaper_report(&hazard);
}

/* Reports a node that uses memory which is gone, or on a stack (SC4xx). */
void sc_hazards_report_graph(enum sc_hazard_code code, enum sc_action action,
                             const struct sc_graph_use *use, const struct sc_graph_extra *extra,
                             const struct sc_culprit *culprit)
{
    SC_KEEP_ERRNO();
    struct sc_hazard hazard = {
        .code = code,
        .certainty = SC_OBSERVED,
        .action = action,
        .buffer_address = use->shape.address,
        .buffer_size_bytes = sc_shape_hull_bytes(&use->shape),
        .buffer_kind = use->kind,
        .buffer_origin = use->origin,
        .copy = describe_use(use),
        .event = sc_hazards_event(culprit),
    };
    if (use->freed)
        hazard.freed = extra->freed_by;
    sc_annotations_note(&hazard);
    sc_reaper_report(&hazard);
}
