#include "interpose/calls/device_uses.h"

#include "common/hazard_words.h"
#include "common/now.h"
#include "common/op_kinds.h"
#include "common/ticks.h"
#include "common/unsure.h"
#include "cupti_hooks/current_call.h"
#include "interpose/base/process.h"
#include "interpose/base/unwind.h"
#include "interpose/calls/at_once.h"
#include "interpose/driver/call.h"
#include "interpose/driver/replaying.h"
#include "interpose/reaper/culprit.h"
#include "interpose/reaper/edges.h"
#include "interpose/reaper/excuses.h"
#include "interpose/reaper/hazards.h"
#include "interpose/reaper/nvtx.h"
#include "interpose/reaper/reaper.h"
#include "interpose/streams/marks.h"
#include "report/options.h"
#include "track/allocations.h"
#include "track/device_use.h"
#include "track/no_verdicts.h"
#include "track/op_info.h"
#include "track/ops.h"
#include "track/track_device.h"
#include "track/track_ops.h"
#include "track/track_order.h"
#include "track/track_parts.h"
#include "track/track_streams.h"

#include "common/poison.h"

/* Describes a use of device memory as an operation, to search for operations in flight that
 * conflict with it, or to record it. `stream` NULL: the call frees memory at once, in no stream's
 * order. `after`: what the use comes after besides its stream's work, or NULL. */
static struct sc_op_info describe_use(const struct sc_device_use *use, const struct sc_call *call,
                                      struct sc_stream_record *stream, const struct sc_point *after)
{
    uint32_t id = stream ? stream->id : 0;
    return (struct sc_op_info){
        .api = call->api,
        .shape = use->shape,
        .fold = use->fold,
        .ticket = {.stream = id},
        .direction = use->direction,
        .kind = SC_DEVICE,
        .origin = use->origin,
        .reads_device = use->access != SC_DEVICE_WRITES,
        .unsure = use->unsure,
        .after = after,
        .unseen_waits =
            id ? sc_track_find_unseen_before(&sc_track, id, after) : (struct sc_unseen_mark){0},
    };
}

/* Does the operation allocate or free the memory, rather than use its bytes? */
static bool is_memory_change(enum sc_direction direction)
{
    return direction == SC_ALLOCATION || direction == SC_FREE;
}

/* Returns the code of a conflict: SC204 in host memory (which kernels use), SC502 with an
 * allocation or a free of device memory, else SC501. */
static enum sc_hazard_code hazard_code(const struct sc_op_info *earlier,
                                       const struct sc_op_info *later)
{
    if (later->kind != SC_DEVICE)
        return SC204;
    return is_memory_change(earlier->direction) || is_memory_change(later->direction) ? SC502
                                                                                      : SC501;
}

/* How one use of a call is judged. */
struct judgement {
    const struct sc_call *call;
    struct sc_stream_record *stream; /* NULL: the call is the host's */
    const struct sc_op_info *use;
    bool heals; /* conflicts may be healed */
    bool waits; /* the host waits for the call's own operation as well */
};

/* Returns where the call stands in its stream's order, for the report: at the number of the
 * stream's next operation. The number is 0 if the host waits in the call itself, stream 0 if the
 * call is in no stream's order. */
static struct sc_later later_operation(const struct judgement *judgement)
{
    struct sc_ticket next = {.stream = judgement->stream ? judgement->stream->id : 0};
    if (next.stream && !judgement->waits)
        next.number = sc_track_issued(&sc_track, next.stream) + 1;
    return (struct sc_later){.ticket = next};
}

/* Reports that the call is not ordered with the conflicting operation of this index (SC501, SC502,
 * SC204). `action`: what the library does about it. */
static void report_conflict(const struct judgement *judgement, enum sc_action action,
                            const struct sc_ops *conflicts, unsigned i)
{
    const struct sc_call *call = judgement->call;
    const struct sc_later later = later_operation(judgement);
    sc_hazards_report_order(hazard_code(&conflicts->ops[i], judgement->use), action, conflicts, i,
                            &later, SC_CULPRIT_OF(call));
}

/* May this conflict be healed? Not with option mode=report or in a replay behind the driver's call
 * (`heals`), and not with an operation that may not take place at all, unless an option asks for
 * that (kernels=order): the call, and work behind it, might wait for nothing. */
static bool is_healed(const struct judgement *judgement, const struct sc_op_info *earlier)
{
    return judgement->heals && sc_hazards_heals(earlier);
}

/* Makes the call's stream wait for each conflicting operation, by an event (an edge), where that is
 * possible, and reports all conflicts. */
static void heal_by_edges(const struct judgement *judgement, const struct sc_ops *conflicts)
{
    for (unsigned i = 0; i < sc_ops_count_kept(conflicts); i++) {
        const struct sc_op_info *earlier = &conflicts->ops[i];
        bool ordered = is_healed(judgement, earlier) &&
                       sc_edges_order_after(judgement->stream, earlier, judgement->call->api);
        report_conflict(judgement, ordered ? SC_ACTION_ORDERED : SC_ACTION_REPORTED, conflicts, i);
    }
}

/* Makes the host wait for the conflicting operations, at most stall_limit in all. They are
 * reported, and their certainty is decided (sc_reaper_decide_now), before the wait: after it they
 * look complete. For an operation that is complete by then, sc_marks_order_after inserts no event,
 * but records that the stream comes after it. */
static void heal_by_wait(const struct judgement *judgement, const struct sc_ops *conflicts)
{
    uint64_t deadline_ns = sc_now_ns() + sc_options.stall_limit_ns;
    unsigned count = sc_ops_count_kept(conflicts);
    for (unsigned i = 0; i < count; i++)
        report_conflict(judgement,
                        is_healed(judgement, &conflicts->ops[i]) ? SC_ACTION_STALLED
                                                                 : SC_ACTION_REPORTED,
                        conflicts, i);
    if (!judgement->heals)
        return;
    sc_reaper_decide_now();
    sc_nvtx_stall_begin(judgement->call->api);
    for (unsigned i = 0; i < count; i++) {
        const struct sc_op_info *earlier = &conflicts->ops[i];
        if (!is_healed(judgement, earlier))
            continue;
        enum sc_awaited came = sc_at_once_await(judgement->call, earlier, deadline_ns);
        if (came == SC_OVERDUE)
            break;
        if (came == SC_AWAITED && judgement->stream)
            sc_marks_order_after(judgement->stream, &earlier->ticket);
    }
    sc_nvtx_stall_end();
}

/* Called before the driver's call: finds the operations in flight with which one use conflicts,
 * reports them, and in mode=fix heals as `healing` says: by waits of the stream or of the host. For
 * the report, it is looked up which call made the memory of each. */
void sc_device_uses_judge_op(const struct sc_op_info *use, const struct sc_call *call,
                             struct sc_stream_record *stream, enum sc_device_healing healing)
{
    const struct judgement judgement = {
        .call = call,
        .stream = stream,
        .use = use,
        .heals = !sc_replaying_follows() && healing != SC_NOT_HEALED && sc_hazards_heals(use),
        .waits = healing == SC_HEALED_BY_WAIT,
    };
    SC_OPS(conflicts);
    sc_track_conflicts(&sc_track, use, /*awaited=*/false, &conflicts);
    for (unsigned i = 0; use->kind == SC_DEVICE && i < sc_ops_count_kept(&conflicts); i++) {
        struct sc_op_info *earlier = &conflicts.ops[i];
        if (!earlier->origin)
            earlier->origin = sc_hazards_origin(earlier->shape.address);
    }
    if (conflicts.count == 0)
        return;
    if (judgement.waits)
        heal_by_wait(&judgement, &conflicts);
    else
        heal_by_edges(&judgement, &conflicts);
}

/* Judges the few uses of a copy or memset before the driver's call (sc_device_uses_judge_all). */
void sc_device_uses_judge(const struct sc_device_uses *uses, const struct sc_call *call,
                          struct sc_stream_record *stream, enum sc_device_healing healing)
{
    sc_device_uses_judge_all(uses->of, uses->count, call, stream, healing, NULL);
}

/* Called before the driver's call: judges each use of device memory against what is in flight. In
 * mode=fix conflicts are also healed, as `healing` says. `after`: what the call comes after besides
 * its stream's work, or NULL. */
void sc_device_uses_judge_all(const struct sc_device_use *uses, unsigned count,
                              const struct sc_call *call, struct sc_stream_record *stream,
                              enum sc_device_healing healing, const struct sc_point *after)
{
    for (unsigned i = 0; i < count; i++) {
        struct sc_op_info info = describe_use(&uses[i], call, stream, after);
        sc_device_uses_judge_op(&info, call, stream, healing);
    }
}

/* Returns what all uses of an accepted call have in common: the stream, the stack, the time, the
 * thread, and CUPTI's names. `place`: the call's place among those on a legacy stream, else 0. */
struct sc_op_info sc_device_uses_call_info(const struct sc_call *call,
                                           const struct sc_stream_record *stream, uint64_t place)
{
    return (struct sc_op_info){
        .ticket = {.stream = stream->id, .epoch = place},
        .stack = sc_unwind_here(call->site),
        .ticks = sc_ticks(),
        .thread = sc_thread_id(),
        .runtime_api = sc_current_call_runtime_api(),
        .correlation_id = sc_current_call_correlation_id(),
    };
}

/* Copies into `info` what the uses of one call have in common (sc_device_uses_call_info): ticket
 * (the place on the stream), stack, time, thread, CUPTI's names. */
void sc_device_uses_set_call_info(struct sc_op_info *info, const struct sc_op_info *moment)
{
    info->ticket = moment->ticket;
    info->stack = moment->stack;
    info->ticks = moment->ticks;
    info->thread = moment->thread;
    info->runtime_api = moment->runtime_api;
    info->correlation_id = moment->correlation_id;
}

/* Describes a use of an accepted call as an operation, to be recorded. `op`: has the ticket, stack,
 * time and thread. If the device waits for the host before it, and nobody sees when that ends, the
 * operation counts as not judged. */
static struct sc_op_info describe_at(const struct sc_device_use *use, const struct sc_call *call,
                                     struct sc_stream_record *stream, const struct sc_op_info *op)
{
    struct sc_op_info info = describe_use(use, call, stream, NULL);
    sc_device_uses_set_call_info(&info, op);
    info.unsure |= op->unsure & SC_UNSURE_WAITS;
    sc_no_verdicts_add(sc_track_parts.no_verdicts, SC_NO_VERDICT_OPERATIONS, SC_NO_VERDICT_UNSEEN,
                       (info.unsure & SC_UNSURE_WAITS) || info.unseen_waits.waits);
    return info;
}

/* Notes that a mark (an event by which completion is learnt) is needed behind these uses as soon as
 * something conflicts with them. On a per-thread default stream (`owner`) it is recorded at once:
 * another thread, which may find the conflict, cannot name that stream. */
static void add_mark(struct sc_stream_record *stream, const struct sc_ticket *ticket,
                     uint64_t ticks)
{
    sc_marks_issued_on_device(stream, ticket->number);
    if (stream->owner)
        sc_marks_issued(stream, 0, /*snapshotted=*/false, ticks);
}

/* How many descriptions stand on the stack at a time. */
enum { ISSUED_AT_ONCE = 4 };

/* Records all uses of an accepted call with one ticket: the first ones get the stream's next
 * number, unless `op` has one, and the others share it. Returns the ticket. A few are described at
 * a time, since some threads have small stacks. */
struct sc_ticket sc_device_uses_note_all(const struct sc_device_use *uses, unsigned count,
                                         const struct sc_call *call,
                                         struct sc_stream_record *stream,
                                         const struct sc_op_info *op)
{
    struct sc_op_info infos[ISSUED_AT_ONCE];
    struct sc_ticket ticket = op->ticket;
    for (unsigned done = 0; done < count;) {
        unsigned batch = 0;
        for (; batch < ISSUED_AT_ONCE && done < count; batch++, done++) {
            infos[batch] = describe_at(&uses[done], call, stream, op);
            infos[batch].ticket = ticket;
        }
        sc_track_issue_one(&sc_track, infos, batch);
        ticket = infos[0].ticket;
    }
    add_mark(stream, &ticket, op->ticks);
    return ticket;
}

/* Records the few uses of an accepted copy or memset that has recorded nothing else. `place`: the
 * call's place among those on a legacy stream, else 0. */
void sc_device_uses_note(const struct sc_device_uses *uses, const struct sc_call *call,
                         struct sc_stream_record *stream, uint64_t place)
{
    struct sc_op_info moment = sc_device_uses_call_info(call, stream, place);
    sc_device_uses_note_all(uses->of, uses->count, call, stream, &moment);
}

/* Describes a free as a use of the whole block, since no byte of it may be used afterwards. */
static struct sc_device_use free_of(const struct sc_allocation *allocation)
{
    const size_t bytes = allocation->size_bytes;
    return (struct sc_device_use){
        .shape = {allocation->address, bytes, bytes, 1},
        .direction = SC_FREE,
        .origin = allocation->origin,
    };
}

/* Called before a free of device memory: reports operations in flight that use the memory and that
 * the free does not come after (SC502). In mode=fix the stream of the free waits for them. A free
 * of pool memory at once, or an unmapping, is in no stream (`stream` NULL) and does not wait by
 * itself: there the host waits. */
void sc_device_uses_judge_free(const struct sc_call *call, struct sc_stream_record *stream,
                               const struct sc_allocation *allocation)
{
    const struct sc_device_use use = free_of(allocation);
    sc_device_uses_judge_all(&use, 1, call, stream, stream ? SC_HEALED_BY_EDGE : SC_HEALED_BY_WAIT,
                             NULL);
}

/* Records a free in the order of a stream (cuMemFreeAsync) as a use of the whole block. */
void sc_device_uses_note_ordered_free(const struct sc_call *call, struct sc_stream_record *stream,
                                      const struct sc_allocation *allocation)
{
    const struct sc_device_use use = free_of(allocation);
    struct sc_op_info moment = sc_device_uses_call_info(call, stream, 0);
    struct sc_op_info info = describe_at(&use, call, stream, &moment);
    sc_track_device_end_free(&sc_track, allocation, /*freed=*/true, &info);
    add_mark(stream, &info.ticket, moment.ticks);
}

/* Records an allocation in the order of a stream (cuMemAllocAsync) as a use of the block, so that
 * other uses have to come after it. */
void sc_device_uses_note_allocated(const struct sc_call *call, struct sc_stream_record *stream,
                                   uintptr_t address, size_t size_bytes)
{
    struct sc_device_uses uses = {.count = 0};
    sc_device_uses_add(&uses, &(struct sc_device_use){.shape = {address, size_bytes, size_bytes, 1},
                                                      .direction = SC_ALLOCATION});
    if (uses.count)
        sc_device_uses_note(&uses, call, stream, 0);
}
