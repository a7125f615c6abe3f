#include "interpose/reaper/deallocation.h"

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

/* Describes the call for the report of a hazard. */
static struct sc_hazard_event event_of(const struct sc_culprit *culprit, bool unregistered)
{
    SC_KEEP_ERRNO();
    struct sc_hazard_event event = sc_hazards_event(culprit);
    event.unregistered = unregistered;
    return event;
}

/* Stores the call if graphs name the memory, for the report of a later launch. A hold that only
 * waits leaves the memory where it is. */
static void name_call(struct sc_deallocation *request, const struct sc_culprit *culprit)
{
    if (request->kind != SC_HOLD_WAIT &&
        sc_track_graph_names(&sc_track, request->address, request->size_bytes))
        request->by = event_of(culprit, request->kind == SC_HOLD_UNREGISTER);
}

/* Finds what is in flight in memory that is about to be freed. In mode=fix a hold then keeps the
 * memory, or the call will wait. */
void sc_deallocation_search(struct sc_deallocation *request, const struct sc_culprit *culprit)
{
    SC_TRACE("deallocation address bytes", request->address, request->size_bytes);
    request->hold &= sc_options.mode == SC_MODE_FIX;
    request->passes_kernels = sc_options.kernels != SC_KERNELS_ORDER;
    if (request->max_held_bytes == 0)
        request->max_held_bytes = sc_options.max_held_bytes;
    name_call(request, culprit);
    sc_track_deallocate(&sc_track, request);
    /* If no more memory may be held, the call waits instead. */
    if (request->must_wait && !sc_hold_is_drivers(request->kind)) {
        request->kind = SC_HOLD_WAIT;
        sc_track_deallocate(&sc_track, request);
    }
    sc_guard_apply(SC_GUARD_ALL);
    if (request->found.count > 0 && !request->stays)
        sc_recently_freed(culprit->api, culprit->site, request->address, request->size_bytes);
}

/* Returns what the report says the library did. */
static enum sc_action action_of(const struct sc_deallocation *request)
{
    if (request->held)
        return request->kind == SC_HOLD_WAIT ? SC_ACTION_STALLED : SC_ACTION_DEFERRED;
    return request->must_wait && sc_hold_is_drivers(request->kind) ? SC_ACTION_STALLED
                                                                   : SC_ACTION_REPORTED;
}

/* May the call go on without the operation: a kernel's, which frees do not wait for? */
static bool need_not_wait_for(const struct sc_deallocation *request, const struct sc_op_info *op)
{
    return request->passes_kernels && sc_ops_is_kernel(op);
}

/* May the call be made at once, as only GPU kernels are in flight there that are not waited for? */
bool sc_deallocation_needs_no_wait(const struct sc_deallocation *request)
{
    for (unsigned i = 0; i < sc_ops_count_kept(&request->found); i++)
        if (!need_not_wait_for(request, &request->found.ops[i]))
            return false;
    return request->found.count == sc_ops_count_kept(&request->found);
}

/* Is any of the operations found one that the call does not wait for? */
static bool need_not_wait_for_some(const struct sc_deallocation *request)
{
    for (unsigned i = 0; i < sc_ops_count_kept(&request->found); i++)
        if (need_not_wait_for(request, &request->found.ops[i]))
            return true;
    return false;
}

/* Reports what was found in flight. */
void sc_deallocation_report(const struct sc_deallocation *request, enum sc_hazard_code code,
                            const struct sc_culprit *culprit)
{
    const struct sc_buffer buffer = {request->address, request->size_bytes};
    if (!need_not_wait_for_some(request)) {
        sc_hazards_report(code, action_of(request), &request->found, &buffer, culprit);
        return;
    }
    for (unsigned i = 0; i < sc_ops_count_kept(&request->found); i++) {
        struct sc_ops one = sc_ops_view_one(&request->found, i);
        enum sc_action action =
            need_not_wait_for(request, &one.ops[0]) ? SC_ACTION_REPORTED : action_of(request);
        sc_hazards_report(code, action, &one, &buffer, culprit);
    }
}

/* Waits for what was found, or leaves the memory to the reaper. True: the caller must not free it.
 */
bool sc_deallocation_finish(const struct sc_deallocation *request, const char *api)
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

/* Does all three steps. True: the caller must not free the memory. */
bool sc_deallocation_handle(struct sc_deallocation *request, enum sc_hazard_code code,
                            const struct sc_culprit *culprit)
{
    sc_deallocation_search(request, culprit);
    sc_deallocation_report(request, code, culprit);
    return sc_deallocation_finish(request, culprit->api);
}

/* Records in the graphs whose nodes name the memory that it is gone, so that a launch is reported.
 */
void sc_deallocation_note_for_graphs(uintptr_t address, size_t size_bytes, bool unregistered,
                                     const struct sc_culprit *culprit)
{
    if (!sc_track_graph_names(&sc_track, address, size_bytes))
        return;
    struct sc_hazard_event event = event_of(culprit, unregistered);
    SC_TRACKED(sc_graphs_note_freed(track.graphs, address, size_bytes, &event));
}
