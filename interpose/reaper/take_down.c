#include "interpose/reaper/take_down.h"

#include "common/hazard_words.h"
#include "common/trace.h"
#include "interpose/base/process.h"
#include "interpose/base/recently.h"
#include "interpose/guard/door.h"
#include "interpose/reaper/culprit.h"
#include "interpose/reaper/hazards.h"
#include "interpose/reaper/reaper.h"
#include "report/options.h"
#include "track/graph_frees.h"
#include "track/hold_kind.h"
#include "track/op_info.h"
#include "track/ops.h"
#include "track/track.h"
#include "track/track_graphs.h"
#include "track/track_holds.h"

#include "common/poison.h"

static struct sc_hazard_event event_of(const struct sc_culprit *culprit, bool unregistered)
{
    SC_KEEP_ERRNO();
    struct sc_hazard_event event = sc_hazards_event(culprit);
    event.unregistered = unregistered;
    return event;
}

/* Notes the call for graphs that name the memory, of which a launch is then told. A hold that only
 * waits leaves the memory where it is. */
static void name_call(struct sc_take_down *request, const struct sc_culprit *culprit)
{
    if (request->kind != SC_HOLD_WAIT &&
        sc_track_graph_names(&sc_track, request->address, request->size_bytes))
        request->by = event_of(culprit, request->kind == SC_HOLD_UNREGISTER);
}

/* Memory is about to be given back: finds what is in flight there. If that is to be healed, a hold
 * keeps the memory, or the call will wait. */
void sc_take_down_search(struct sc_take_down *request, const struct sc_culprit *culprit)
{
    SC_TRACE("take-down address bytes", request->address, request->size_bytes);
    request->hold &= sc_options.mode == SC_MODE_FIX;
    request->passes_kernels = sc_options.kernels != SC_KERNELS_ORDER;
    if (request->max_held_bytes == 0)
        request->max_held_bytes = sc_options.max_held_bytes;
    name_call(request, culprit);
    sc_track_take_down(&sc_track, request);
    /* No more memory may be held: the call waits instead. */
    if (request->must_wait && !sc_hold_is_drivers(request->kind)) {
        request->kind = SC_HOLD_WAIT;
        sc_track_take_down(&sc_track, request);
    }
    sc_guard_apply(SC_GUARD_ALL);
    if (request->found.count > 0 && !request->stays)
        sc_recently_freed(culprit->api, culprit->site, request->address, request->size_bytes);
}

/* What a report says was done about it. */
static enum sc_action action_of(const struct sc_take_down *request)
{
    if (request->held)
        return request->kind == SC_HOLD_WAIT ? SC_ACTION_STALLED : SC_ACTION_DEFERRED;
    return request->must_wait && sc_hold_is_drivers(request->kind) ? SC_ACTION_STALLED
                                                                   : SC_ACTION_REPORTED;
}

/* May the call go on without the operation: a kernel's, which frees do not wait for? */
static bool is_passed(const struct sc_take_down *request, const struct sc_op_info *op)
{
    return request->passes_kernels && sc_ops_is_kernel(op);
}

/* May the call go through at once, as only kernels are in flight there that are not waited for? */
bool sc_take_down_passes(const struct sc_take_down *request)
{
    for (unsigned i = 0; i < sc_ops_count_kept(&request->found); i++)
        if (!is_passed(request, &request->found.ops[i]))
            return false;
    return request->found.count == sc_ops_count_kept(&request->found);
}

/* Is any of the operations found one that the call does not wait for? */
static bool is_any_passed(const struct sc_take_down *request)
{
    for (unsigned i = 0; i < sc_ops_count_kept(&request->found); i++)
        if (is_passed(request, &request->found.ops[i]))
            return true;
    return false;
}

/* Reports what was found in flight. */
void sc_take_down_report(const struct sc_take_down *request, enum sc_hazard_code code,
                         const struct sc_culprit *culprit)
{
    const struct sc_buffer buffer = {request->address, request->size_bytes};
    if (!is_any_passed(request)) {
        sc_hazards_report(code, action_of(request), &request->found, &buffer, culprit);
        return;
    }
    for (unsigned i = 0; i < sc_ops_count_kept(&request->found); i++) {
        struct sc_ops one = sc_ops_view_one(&request->found, i);
        enum sc_action action =
            is_passed(request, &one.ops[0]) ? SC_ACTION_REPORTED : action_of(request);
        sc_hazards_report(code, action, &one, &buffer, culprit);
    }
}

/* Waits for what was found, or leaves the memory to the reaper. True: the caller must not give it
 * back. */
bool sc_take_down_finish(const struct sc_take_down *request, const char *api)
{
    if (!request->held)
        return false;
    if (request->kind == SC_HOLD_WAIT) {
        sc_reaper_await_hold(request, api);
        return false;
    }
    sc_reaper_wake();
    return true;
}

/* All three steps in turn. True: the caller must not give the memory back. */
bool sc_take_down_make(struct sc_take_down *request, enum sc_hazard_code code,
                       const struct sc_culprit *culprit)
{
    sc_take_down_search(request, culprit);
    sc_take_down_report(request, code, culprit);
    return sc_take_down_finish(request, culprit->api);
}

/* Notes in the graphs whose nodes name the memory that it is gone, so that a launch is reported. */
void sc_take_down_tell_graphs(uintptr_t address, size_t size_bytes, bool unregistered,
                              const struct sc_culprit *culprit)
{
    if (!sc_track_graph_names(&sc_track, address, size_bytes))
        return;
    struct sc_hazard_event event = event_of(culprit, unregistered);
    SC_TRACKED(sc_graphs_note_freed(track.graphs, address, size_bytes, &event));
}
