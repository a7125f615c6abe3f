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

/* Called when a host node's function begins: all work before the node is done, and the host knows
 * it. Reports hazards that show by that, and unprotects the pages of what is done. A point without
 * a stream says that nothing new is known. */
static void note_earlier_done(struct sc_point *point, void *site)
{
    if (!point->stream)
        return;
    sc_hazards_note_done_and_report(point, &(struct sc_culprit){"cuGraphLaunch", site, NULL});
    sc_guard_apply(SC_GUARD_ALL);
}

/* Counts the node's function as a running host function, which may make order that the library does
 * not see, until it has ended. Before, the launch counted as one; when all its host nodes have
 * begun, that one is dropped. Returns the function's number, or 0 if the launch is not followed any
 * more. */
static unsigned begin_function(const struct sc_watched_run *run, CUhostFn function)
{
    unsigned host_call =
        run->stream ? sc_host_functions_launched(run->call.ticks, run->stream, (uintptr_t)function)
                    : 0;
    sc_host_functions_dropped(run->call.open);
    return host_call;
}

/* The driver calls this in place of a host node's function, in each run of the node. The record may
 * be freed by sc_watched_nodes_note_run, so its members are read before. What the program's
 * function touches is not judged, since it is not known which nodes it comes after. While the
 * library is not active, only the program's function is called. */
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
 * run of the node is seen. Not in a replay, which only notes a call that came through no wrapper.
 * Returns false if the node keeps the program's function. */
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

/* Called before the program gives a host node of an exec another function: passes the library's
 * function to the driver again, with a new record that names the program's. The old record stays
 * good until the driver has answered. Returns NULL, and changes nothing, for a node that is not
 * watched, and in a replay, in which the driver has carried out the change already. */
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

/* Ends the change of a host node's function, by the driver's answer: the new record replaces the
 * old one, or is dropped. If the driver has taken the program's own function (no record), runs of
 * the node are not seen any more. */
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
