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

/* Returns the code of a free that came too early: SC102 if the device was still to write the
 * memory, SC101 if it was still to read it. */
static enum sc_hazard_code free_code(enum sc_direction direction)
{
    return sc_direction_writes_host(direction) ? SC102 : SC101;
}

/* Does mode=fix make a touch or call wait for this operation? A use that may not take place (a
 * kernel's address, a conditional body) is waited for only with kernels=order. */
bool sc_hazards_heals(const struct sc_op_info *op)
{
    return sc_options.mode == SC_MODE_FIX &&
           (!sc_ops_is_possible(op) || sc_options.kernels == SC_KERNELS_ORDER);
}

/* Describes the operation that a hazard hurts, for the report's line: the call, the bytes, the
 * stream and the stack. */
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

/* Returns the stack of the culprit, the call or instruction that came too early: from the
 * instruction that a signal interrupted (`context`), or from the call. 0 if neither is known. */
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

/* Describes the call or instruction that came too early, for the report's line: who, where and
 * when. Takes the stack and the thread's name, which cost time: for hazards alone. */
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

/* Makes the hazard of one operation and one event. It counts as latent (the operation was complete,
 * by luck) until the device has been asked. SC_HAZARD_CODE_COUNT as code: a free, whose code
 * depends on the direction. `found_later`: by a comparison, after the fact. Notes what the
 * program's thread has said of itself (labels, ignored regions). */
static struct sc_hazard hazard_of(enum sc_hazard_code code, enum sc_action action,
                                  const struct sc_op_info *op, const struct sc_buffer *buffer,
                                  const struct sc_hazard_event *event, bool found_later)
{
    struct sc_hazard hazard = {
        .code = code == SC_HAZARD_CODE_COUNT ? free_code(op->direction) : code,
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

/* Returns the code of a touch that came too early. A source may be read, so a touch of one has
 * written it: SC201, or SC403 if a graph's launch reads it. A destination was read (SC202) or
 * written (SC203). */
enum sc_hazard_code sc_hazards_touch_code(const struct sc_op_info *op, enum sc_touch touch)
{
    if (!sc_direction_writes_host(op->direction))
        return op->by_graph ? SC403 : SC201;
    return touch == SC_TOUCH_READ ? SC202 : SC203;
}

/* Does the hazard not count, since the operation's context is lost (a kernel failed)? To take
 * memory away then is no mistake, since a call has said that nothing runs any more. To touch it
 * still is: the data never came. */
static bool is_void(const struct sc_op_info *op, enum sc_finding finding)
{
    return finding != SC_BY_TOUCH && sc_contexts_has_lost(op->ticket.stream);
}

/* Is the later operation in a lost context? The driver will refuse it, so that it cannot race. */
static bool is_refused(const struct sc_later *later)
{
    return later && sc_contexts_has_lost(later->ticket.stream);
}

/* Hands a hazard for each operation to the reaper's thread, which asks the device whether it
 * counts. The culprit's stack is taken once for all. `finding`: how they were found. `later`: the
 * second of two operations that are not ordered; NULL otherwise. */
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

/* Called before a call that lets operations end: asks the device for each of them whether it is a
 * hazard, and whether it is still running. After the call all would look complete. */
void sc_hazards_decide(struct sc_decided *decided)
{
    for (unsigned i = 0; i < sc_ops_count_kept(&decided->ops); i++)
        decided->counts[i] =
            sc_reaper_finds_hazard(&decided->ops.ops[i].ticket, &decided->certainty[i]);
}

/* Called when that call was made: reports the hazards that sc_hazards_decide has found. Others are
 * counted as undecided, since the host may have learnt of their end unseen. */
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

/* Returns the allocation or registration that contains the operation's bytes, for the report; if
 * none is known, the bytes themselves. */
struct sc_buffer sc_hazards_buffer_of(const struct sc_op_info *op)
{
    struct sc_range_info range = sc_track_find_range(&sc_track, op->shape.address);
    if (range.range)
        return (struct sc_buffer){range.address, range.size_bytes};
    return (struct sc_buffer){op->shape.address, sc_shape_hull_bytes(&op->shape)};
}

/* Reports that operation `i` of `ops` and a later one are not ordered, each of which uses memory
 * that the other writes. `later`: the second one. */
void sc_hazards_report_order(enum sc_hazard_code code, enum sc_action action,
                             const struct sc_ops *ops, unsigned i, const struct sc_later *later,
                             const struct sc_culprit *culprit)
{
    struct sc_ops one = sc_ops_view_one(ops, i);
    struct sc_buffer buffer = sc_hazards_buffer_of(&one.ops[0]);
    report(code, action, &one, &buffer, culprit, SC_BY_ORDER, later);
}

/* Reports an operation on a local variable of a function that has returned. The event is the
 * return, of which only the function's frame is known (frame_stack). Not if the context is lost,
 * since nothing runs there any more. */
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

/* Reports sources that the program has changed while the device had still to read them: found when
 * the operation was done, by a comparison with what it was to read. `where`: the call that found
 * it. A source that lay on the stack of a function that has returned is reported as that. */
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

/* Returns which locks of page protection (stripes) the calling thread should take before it ends
 * the operations up to the point. It then unprotects their pages at once. 0, no lock: nothing of
 * the stream is protected, the point has waited for other streams, or the locks are so many that
 * other threads would wait. */
static uint64_t stripes_to_lock(const struct sc_point *point)
{
    if (!sc_order_is_of_one_stream(point))
        return 0;
    uint64_t stripes = sc_spans_stripes_of_stream(sc_track_parts.guards, point->stream);
    if (!stripes)
        return 0;
    return __builtin_popcountll(stripes) <= LOCKED_MAX ? stripes : 0;
}

/* Called when the host knows, by a wait or a query, that all work up to the point (of a stream, and
 * what that had waited for) is done. Ends the operations there and unprotects their pages. Their
 * sources are compared first, and those that the program has changed are reported. */
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

/* Reports a call that breaks a stream capture, or would have (SC3xx). No buffer is concerned, so
 * `begin`, the call that began the capture, stands in the place of the operation. */
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

/* Describes what a node of a graph does with memory, in the place of an operation of the report's
 * line. The call that added the node (its author) stands for the call that issued it. */
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

/* Returns the call that added a node of a graph, as the report writes an event. */
static struct sc_hazard_event event_of_author(const struct sc_graph_author *author)
{
    return (struct sc_hazard_event){.api = author->api,
                                    .runtime_api = author->runtime_api,
                                    .thread = author->thread,
                                    .time_ns = author->time_ns,
                                    .stack = author->stack};
}

/* Describes one of two nodes that race, for the report's line: what it does, and which call added
 * it. */
static struct sc_hazard_node describe_node(const struct sc_graph_use *use)
{
    return (struct sc_hazard_node){
        .direction = use->direction,
        .reads = use->reads_device,
        .address = use->shape.address,
        .size_bytes = sc_shape_hull_bytes(&use->shape),
        .author = event_of_author(&use->author),
    };
}

/* Reports two nodes of a graph that use the same device memory without an edge between them
 * (SC501). The first one stands in the place of the operation. If the call that added it is not
 * known, the call that made the exec does. It is latent: nobody knows whether they ran at once. */
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

/* Reports a launch of a graph with a node that uses memory which was freed, or a stack whose
 * function has returned (SC4xx). If it was freed, the report names the call. */
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
