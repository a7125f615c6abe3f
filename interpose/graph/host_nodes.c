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
#include "track/heard.h"
#include "track/track.h"

#include "common/poison.h"

static void make_known(struct sc_point *point, void *site)
{
    if (!point->stream)
        return;
    sc_hazards_know(point, &(struct sc_culprit){"cuGraphLaunch", site, NULL});
    sc_guard_apply(SC_GUARD_ALL);
}

/* Notes that the node's function begins. The call is of a host function while it runs: the launch
 * counts as waiting until the last of its host nodes has returned. Returns the function's call, or
 * 0 if the launch is not followed any more. */
static unsigned open_function(const struct sc_heard_run *run, CUhostFn function)
{
    unsigned host_call =
        run->stream ? sc_host_functions_launched(run->call.ticks, run->stream, (uintptr_t)function)
                    : 0;
    sc_host_functions_dropped(run->call.open);
    return host_call;
}

/* What the driver calls for a watched node. The node's record may be gone when sc_heard_runs
 * returns, so its fields are read before. Touches by the function are not judged: it is not known
 * which nodes it comes after. */
static void run_function(void *argument)
{
    struct sc_heard_node *node = argument;
    CUhostFn function = node->function;
    void *data = node->data;
    unsigned host_call = 0;
    if (sc_active()) {
        struct sc_heard_run run = SC_TRACKED(sc_heard_runs(track.order, node));
        make_known(&run.point, __builtin_return_address(0));
        host_call = open_function(&run, function);
    }
    sc_host_functions_runs(host_call, 0);
    function(data);
    sc_excuses_function_returned(host_call);
    sc_host_functions_ran(host_call);
}

bool sc_host_nodes_watch(CUgraphExec exec, CUgraphNode node)
{
    CUDA_HOST_NODE_PARAMS params;
    if (!sc_real.cuGraphHostNodeGetParams || !sc_real.cuGraphExecHostNodeSetParams ||
        sc_replaying_is_on() || sc_real.cuGraphHostNodeGetParams(node, &params) != CUDA_SUCCESS ||
        !params.fn)
        return false;
    struct sc_heard_node *watched = SC_TRACKED(sc_graphs_add_heard(
        track.graphs, (uintptr_t)exec, (uintptr_t)node, params.fn, params.userData));
    if (!watched)
        return false;
    params.fn = run_function;
    params.userData = watched;
    bool taken = sc_real.cuGraphExecHostNodeSetParams(exec, node, &params) == CUDA_SUCCESS;
    if (!taken)
        SC_TRACKED(sc_heard_drop(track.order, watched));
    return taken;
}

struct sc_heard_node *sc_host_nodes_begin_change(CUgraphExec exec, CUgraphNode node,
                                                 CUhostFn *function, void **data)
{
    if (!sc_active() || sc_replaying_is_on() || !*function ||
        !SC_TRACKED(sc_graphs_hears(track.graphs, (uintptr_t)exec, (uintptr_t)node)))
        return NULL;
    struct sc_heard_node *changed = SC_TRACKED(
        sc_graphs_add_heard(track.graphs, (uintptr_t)exec, (uintptr_t)node, *function, *data));
    if (!changed)
        return NULL;
    *function = run_function;
    *data = changed;
    return changed;
}

void sc_host_nodes_end_change(CUgraphExec exec, CUgraphNode node, struct sc_heard_node *changed,
                              CUresult result)
{
    if (changed && result == CUDA_SUCCESS)
        SC_TRACKED(sc_heard_replace(track.order, changed));
    else if (changed)
        SC_TRACKED(sc_heard_drop(track.order, changed));
    else if (result == CUDA_SUCCESS && sc_active())
        SC_TRACKED(sc_graphs_lose_heard(track.graphs, (uintptr_t)exec, (uintptr_t)node));
}
