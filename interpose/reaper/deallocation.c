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

/* Describes the call that takes memory away, for the report of a hazard. Keeps errno, since free()
 * must not change it. */
static struct sc_hazard_event event_of(const struct sc_culprit *culprit, bool unregistered)
{
    SC_KEEP_ERRNO();
    struct sc_hazard_event event = sc_hazards_event(culprit);
    event.unregistered = unregistered;
    return event;
}

/* If graphs use the memory, stores in the request who takes it away, for the report of a later
 * launch. The stack takes time, so others do without. A hold that only waits (SC_HOLD_WAIT) leaves
 * the memory where it is. */
static void name_call(struct sc_deallocation *request, const struct sc_culprit *culprit)
{
    const bool unregistered = request->kind == SC_HOLD_UNREGISTER;
    if (request->kind != SC_HOLD_WAIT &&
        sc_track_graph_names(&sc_track, request->address, request->size_bytes, unregistered))
        request->by = event_of(culprit, unregistered);
    request->by.unmapped = request->kind == SC_HOLD_UNMAP;
}

/* Called before memory is freed: finds the operations in flight there, and has the pages
 * unprotected. In mode=fix a hold then keeps the memory until they are done; where the driver's
 * call waits itself, or too much memory is held, the call will wait instead. Kernels that may use
 * the memory count only with kernels=order. What was freed in flight is noted for the report of a
 * lost context, unless it stays the program's. */
void sc_deallocation_search(struct sc_deallocation *request, const struct sc_culprit *culprit)
{
    SC_TRACE("deallocation address bytes", request->address, request->size_bytes);
    request->hold &= sc_options.mode == SC_MODE_FIX;
    request->passes_kernels = sc_options.kernels != SC_KERNELS_ORDER;
    if (request->max_held_bytes == 0)
        request->max_held_bytes = sc_options.max_held_bytes;
    name_call(request, culprit);
    sc_track_deallocate(&sc_track, request);
    /* No hold could be made: no more memory may be held. So the call waits, unless the driver's own
     * call does. */
    if (request->must_wait && !sc_hold_is_drivers(request->kind)) {
        request->kind = SC_HOLD_WAIT;
        sc_track_deallocate(&sc_track, request);
    }
    sc_guard_apply(SC_GUARD_ALL);
    if (request->found.count > 0 && !request->stays)
        sc_recently_freed(culprit->api, culprit->site, request->address, request->size_bytes);
}

/* Returns what the report says that the library did: made the call later, let it wait, or nothing.
 * The driver's call waits by itself where the memory goes back to the driver. */
static enum sc_action action_of(const struct sc_deallocation *request)
{
    if (request->held)
        return request->kind == SC_HOLD_WAIT ? SC_ACTION_STALLED : SC_ACTION_DEFERRED;
    return request->must_wait && sc_hold_is_drivers(request->kind) ? SC_ACTION_STALLED
                                                                   : SC_ACTION_REPORTED;
}

/* Is the operation a GPU kernel's, which may use the memory or may not, and for which frees do not
 * wait (unless kernels=order)? */
static bool need_not_wait_for(const struct sc_deallocation *request, const struct sc_op_info *op)
{
    return request->passes_kernels && sc_ops_is_kernel(op);
}

/* May the call be made at once, since all that was found are kernels which it does not wait for? No
 * if more were found than are listed: those others may be copies. */
bool sc_deallocation_needs_no_wait(const struct sc_deallocation *request)
{
    for (unsigned i = 0; i < sc_ops_count_kept(&request->found); i++)
        if (!need_not_wait_for(request, &request->found.ops[i]))
            return false;
    return request->found.count == sc_ops_count_kept(&request->found);
}

/* Is any of the operations found a kernel for which the call does not wait? Then what the library
 * did differs from one operation to another. */
static bool need_not_wait_for_some(const struct sc_deallocation *request)
{
    for (unsigned i = 0; i < sc_ops_count_kept(&request->found); i++)
        if (need_not_wait_for(request, &request->found.ops[i]))
            return true;
    return false;
}

/* Reports a hazard for each operation found in flight. All have the same action, and are reported
 * together, unless some are kernels for which the call does not wait: those are only reported. */
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

/* Waits for what was found, or has the reaper free the memory when the device is done. True: the
 * reaper will, so the caller must not. */
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

/* Does all that a hook or wrapper has to do before it takes memory away: search, report, and wait
 * or defer. True: the memory is held, and the caller must not free it. */
bool sc_deallocation_handle(struct sc_deallocation *request, enum sc_hazard_code code,
                            const struct sc_culprit *culprit)
{
    sc_deallocation_search(request, culprit);
    sc_deallocation_report(request, code, culprit);
    return sc_deallocation_finish(request, culprit->api);
}

/* Called where memory goes at once: tells the graphs whose nodes use it, and by which call, so that
 * a later launch is reported. Most memory is no graph's, and is found so without the stack. */
void sc_deallocation_note_for_graphs(uintptr_t address, size_t size_bytes, bool unregistered,
                                     bool detached, const struct sc_culprit *culprit)
{
    if (!sc_track_graph_names(&sc_track, address, size_bytes, unregistered))
        return;
    struct sc_hazard_event event = event_of(culprit, unregistered);
    event.detached = detached;
    SC_TRACKED(sc_graphs_note_freed(track.graphs, address, size_bytes, &event));
}
