#include "interpose/calls/device_uses.h"

#include "cupti_hooks/ear.h"
#include "interpose/base/compiler.h"
#include "interpose/base/process.h"
#include "interpose/base/unwind.h"
#include "interpose/driver/replaying.h"
#include "interpose/reaper/hazards.h"
#include "interpose/streams/marks.h"
#include "interpose/streams/unfinished.h"
#include "report/options.h"
#include "track/inflight.h"
#include "track/ticks.h"

#include "track/poison.h"

void sc_device_uses_add(struct sc_device_uses *uses, enum sc_direction direction, bool reads,
                        const struct sc_shape *shape, const struct sc_fold *fold)
{
    if (!sc_track_watches_device(&sc_track) || uses->count == SC_DEVICE_USES_MAX ||
        sc_shape_hull_bytes(shape) == 0)
        return;
    uses->of[uses->count++] = (struct sc_device_use){
        .shape = *shape,
        .fold = fold ? *fold : (struct sc_fold){0, 0},
        .direction = direction,
        .reads = reads,
    };
}

static enum sc_direction direction_of(const struct sc_copy_sides *sides)
{
    if (sides->is_fill)
        return SC_MEMSET;
    if (sides->src.used)
        return SC_H2D;
    return sides->dst.used ? SC_D2H : SC_D2D;
}

void sc_device_uses_of_sides(struct sc_device_uses *uses, const struct sc_copy_sides *sides)
{
    enum sc_direction direction = direction_of(sides);
    if (!sides->src.used)
        sc_device_uses_add(uses, direction, true, &sides->src.shape, &sides->src.fold);
    if (!sides->dst.used)
        sc_device_uses_add(uses, direction, false, &sides->dst.shape, &sides->dst.fold);
}

static struct sc_op_info describe(const struct sc_device_use *use, const struct sc_call *call,
                                  struct sc_stream_record *stream)
{
    return (struct sc_op_info){
        .api = call->api,
        .shape = use->shape,
        .fold = use->fold,
        .ticket = {.stream = stream->id},
        .direction = use->direction,
        .kind = SC_DEVICE,
        .reads_device = use->reads,
        .unseen = !sc_unfinished_is_seen(stream),
    };
}

static bool is_of_allocation(enum sc_direction direction)
{
    return direction == SC_ALLOCATION || direction == SC_FREE;
}

static void report(const struct sc_op_info *earlier, enum sc_direction later, enum sc_action action,
                   const struct sc_call *call)
{
    struct sc_ops one = {1, (struct sc_op_info *)(uintptr_t)earlier};
    struct sc_buffer buffer = sc_hazards_buffer_of(earlier);
    bool allocation = is_of_allocation(later) || is_of_allocation(earlier->direction);
    sc_hazards_report(allocation ? SC502 : SC501, action, &one, &buffer,
                      &(struct sc_culprit){call->api, call->site, NULL});
}

/* The missing edges, where they can be made: the call waits for what it would have raced with. */
static void judge(const struct sc_device_use *use, const struct sc_call *call,
                  struct sc_stream_record *stream, bool heals)
{
    SC_OPS(conflicts);
    struct sc_op_info info = describe(use, call, stream);
    sc_track_device_conflicts(&sc_track, &info, &conflicts);
    for (unsigned i = 0; i < sc_ops_kept(&conflicts); i++) {
        struct sc_ops one = sc_ops_one(&conflicts, i);
        bool ordered = heals && sc_marks_order_after(stream, &one.ops[0].ticket);
        report(&one.ops[0], use->direction, ordered ? SC_ACTION_ORDERED : SC_ACTION_REPORTED, call);
    }
}

void sc_device_uses_judge(const struct sc_device_uses *uses, const struct sc_call *call,
                          struct sc_stream_record *stream)
{
    bool carried_out = sc_replaying_is_on() && !sc_replaying_prepares();
    for (unsigned i = 0; i < uses->count; i++)
        judge(&uses->of[i], call, stream, sc_options.mode == SC_MODE_FIX && !carried_out);
}

void sc_device_uses_note(const struct sc_device_uses *uses, const struct sc_call *call,
                         struct sc_stream_record *stream, const struct sc_ticket *ticket)
{
    struct sc_op_info infos[SC_DEVICE_USES_MAX];
    if (uses->count == 0)
        return;
    uint32_t stack = sc_unwind_here(call->site);
    uint64_t now = sc_ticks();
    for (unsigned i = 0; i < uses->count; i++) {
        infos[i] = describe(&uses->of[i], call, stream);
        infos[i].stack = stack;
        infos[i].ticks = now;
        infos[i].thread = sc_thread_id();
        infos[i].runtime_api = sc_ear_runtime_api();
        infos[i].correlation_id = sc_ear_correlation_id();
    }
    infos[0].ticket = *ticket;
    sc_track_device_issue(&sc_track, infos, uses->count);
    if (stream->owner) /* nobody else could record a mark behind it */
        sc_marks_issued(stream, 0, now);
}

void sc_device_uses_allocated(const struct sc_call *call, struct sc_stream_record *stream,
                              uintptr_t address, size_t size_bytes)
{
    struct sc_device_uses uses = {.count = 0};
    sc_track_device_allocated(&sc_track, address, size_bytes);
    sc_device_uses_add(&uses, SC_ALLOCATION, false,
                       &(struct sc_shape){address, size_bytes, size_bytes, 1}, NULL);
    sc_device_uses_note(&uses, call, stream, &(struct sc_ticket){.stream = stream->id});
}
