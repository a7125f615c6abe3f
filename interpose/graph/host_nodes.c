#include "interpose/graph/host_nodes.h"

#include "interpose/base/process.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/replaying.h"
#include "interpose/guard/door.h"
#include "interpose/reaper/culprit.h"
#include "interpose/reaper/excuses.h"
#include "interpose/reaper/hazards.h"
#include "interpose/streams/host_functions.h"
#include "track/graphs.h"
#include "track/track.h"
#include "track/watched_nodes.h"

#include "common/poison.h"

/* Notes that all work before a host node is done, since its function has begun. */
static void note_earlier_done(struct sc_point *point, void *site)
{
    if (!point->stream)
        return;
    sc_hazards_note_done_and_report(point, &(struct sc_culprit){"cuGraphLaunch", site, NULL});
    sc_guard_apply(SC_GUARD_ALL);
}

/* Notes that the node's function begins. It counts as a running host function until the last host
 * node of the launch has returned. Returns the function's number, or 0 if the launch is not
 * followed any more. */
static unsigned begin_function(const struct sc_watched_run *run, CUhostFn function)
{
    unsigned host_call =
        run->stream ? sc_host_functions_launched(run->call.ticks, run->stream, (uintptr_t)function)
                    : 0;
    sc_host_functions_dropped(run->call.open);
    return host_call;
}

/* Runs the function of a watched node; the driver calls this in its place. The node's record may be
 * freed by sc_watched_nodes_note_run, so its members are read before. Accesses by the program's
 * function are not judged, since it is not known which nodes it comes after. */
static void run_function(void *argument)
{
    struct sc_watched_node *node = argument;
    CUhostFn function = node->function;
    void *data = node->data;
    unsigned host_call = 0;
    if (sc_active()) {
        struct sc_watched_run run = SC_TRACKED(sc_watched_nodes_note_run(track.order, node));
        note_earlier_done(&run.point, __builtin_return_address(0));
        host_call = begin_function(&run, function);
    }
    sc_host_functions_note_begun(host_call, 0);
    function(data);
    sc_excuses_function_returned(host_call);
    sc_host_functions_note_ended(host_call);
}

/* Puts the library's function, which calls the program's, into the exec's host node, so that each
 * run of the node is seen. Returns false if the node is not watched. */
bool sc_host_nodes_watch(CUgraphExec exec, CUgraphNode node)
{
    CUDA_HOST_NODE_PARAMS params;
    if (!sc_real.cuGraphHostNodeGetParams || !sc_real.cuGraphExecHostNodeSetParams ||
        sc_replaying_is_on() || sc_real.cuGraphHostNodeGetParams(node, &params) != CUDA_SUCCESS ||
        !params.fn)
        return false;
    struct sc_watched_node *watched = SC_TRACKED(sc_graphs_add_watched(
        track.graphs, (uintptr_t)exec, (uintptr_t)node, params.fn, params.userData));
    if (!watched)
        return false;
    params.fn = run_function;
    params.userData = watched;
    bool taken = sc_real.cuGraphExecHostNodeSetParams(exec, node, &params) == CUDA_SUCCESS;
    if (!taken)
        SC_TRACKED(sc_watched_nodes_drop(track.order, watched));
    return taken;
}

/* Keeps the library's function when the program sets another function in a watched node: it will
 * call the new one. */
struct sc_watched_node *sc_host_nodes_begin_change(CUgraphExec exec, CUgraphNode node,
                                                   CUhostFn *function, void **data)
{
    if (!sc_active() || sc_replaying_is_on() || !*function ||
        !SC_TRACKED(sc_graphs_is_watched(track.graphs, (uintptr_t)exec, (uintptr_t)node)))
        return NULL;
    struct sc_watched_node *changed = SC_TRACKED(
        sc_graphs_add_watched(track.graphs, (uintptr_t)exec, (uintptr_t)node, *function, *data));
    if (!changed)
        return NULL;
    *function = run_function;
    *data = changed;
    return changed;
}

/* Ends the change of a host node's function, by the driver's answer. If the new function could not
 * be watched, runs of the exec are not seen any more. */
void sc_host_nodes_end_change(CUgraphExec exec, CUgraphNode node, struct sc_watched_node *changed,
                              CUresult result)
{
    if (changed && result == CUDA_SUCCESS)
        SC_TRACKED(sc_watched_nodes_replace(track.order, changed));
    else if (changed)
        SC_TRACKED(sc_watched_nodes_drop(track.order, changed));
    else if (result == CUDA_SUCCESS && sc_active())
        SC_TRACKED(sc_graphs_end_watch(track.graphs, (uintptr_t)exec, (uintptr_t)node));
}
