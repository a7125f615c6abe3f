/* Conditional nodes. A condition begins each launch with the value that its handle was made with,
 * which the handle itself carries. Only the kernel "count_down" changes it: it is known when the
 * launch is queued which bodies run, and how often. */
#include <limits.h>

#include "api.h"
#include "graph.h"

SIM_API(cuGraphConditionalHandleCreate,
        (CUgraphConditionalHandle * pHandle_out, CUgraph hGraph, CUcontext ctx,
         unsigned int defaultLaunchValue, unsigned int flags),
        pHandle_out, hGraph, ctx, defaultLaunchValue, flags)
{
    static uint64_t made;
    (void)ctx;
    if (!pHandle_out || !hGraph || hGraph->magic != MAGIC_GRAPH ||
        (flags & ~(unsigned)CU_GRAPH_COND_ASSIGN_DEFAULT))
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    uint64_t number = ++made;
    sim_unlock();
    *pHandle_out = number << 32 | (flags ? defaultLaunchValue : 0);
    return CUDA_SUCCESS;
}

static bool make_bodies_locked(struct sim_condition *condition, unsigned count)
{
    for (condition->count = 0; condition->count < count; condition->count++) {
        CUgraph body = sim_graph_new_locked();
        if (!body)
            return false;
        condition->bodies[condition->count] = body;
    }
    return true;
}

static unsigned bodies_max(CUgraphConditionalNodeType type)
{
    switch (type) {
    case CU_GRAPH_COND_TYPE_IF:
        return 2;
    case CU_GRAPH_COND_TYPE_WHILE:
        return 1;
    case CU_GRAPH_COND_TYPE_SWITCH:
        return UINT_MAX;
    default:
        return 0;
    }
}

CUresult sim_condition_add(CUgraphNode *out, CUgraph graph, const CUgraphNode *deps, size_t count,
                           CUDA_CONDITIONAL_NODE_PARAMS *params)
{
    if (!out || !graph || graph->magic != MAGIC_GRAPH || (count && !deps) || !params->handle)
        return CUDA_ERROR_INVALID_VALUE;
    if (params->size == 0 || params->size > bodies_max(params->type))
        return CUDA_ERROR_INVALID_VALUE;
    if (params->size > BODIES_MAX)
        return CUDA_ERROR_NOT_SUPPORTED;
    sim_lock();
    CUgraphNode node = sim_graph_add_locked(graph, CU_GRAPH_NODE_TYPE_CONDITIONAL, deps, count);
    if (node && !make_bodies_locked(&node->params.condition, params->size)) {
        sim_graph_remove_locked(node);
        node = NULL;
    }
    if (node) {
        node->params.condition.type = params->type;
        node->params.condition.handle = params->handle;
        params->phGraph_out = node->params.condition.bodies;
        *out = node;
    }
    sim_unlock();
    return node ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

bool sim_condition_copy_locked(struct sim_condition *to, const struct sim_condition *from)
{
    *to = (struct sim_condition){.type = from->type, .handle = from->handle};
    for (; to->count < from->count; to->count++) {
        CUgraph body = sim_graph_clone_locked(from->bodies[to->count]);
        if (!body)
            return false;
        to->bodies[to->count] = body;
    }
    return true;
}

void sim_condition_retire_locked(struct sim_condition *condition, const struct sim_fence *launch)
{
    for (unsigned i = 0; i < condition->count; i++)
        sim_graph_retire_locked(condition->bodies[i], launch);
}

CUgraph sim_condition_chosen(const struct sim_condition *condition)
{
    unsigned value = condition->now;
    switch (condition->type) {
    case CU_GRAPH_COND_TYPE_IF:
        return condition->bodies[value ? 0 : 1];
    case CU_GRAPH_COND_TYPE_SWITCH:
        return value < condition->count ? condition->bodies[value] : NULL;
    default:
        return NULL;
    }
}

typedef void visit_condition(struct sim_condition *condition, CUgraphConditionalHandle handle);

static void each_condition_locked(CUgraph graph, visit_condition *visit,
                                  CUgraphConditionalHandle handle)
{
    for (CUgraphNode n = graph->first; n; n = n->next) {
        if (n->type == CU_GRAPH_NODE_TYPE_GRAPH)
            each_condition_locked(n->params.child, visit, handle);
        if (n->type != CU_GRAPH_NODE_TYPE_CONDITIONAL)
            continue;
        visit(&n->params.condition, handle);
        for (unsigned i = 0; i < n->params.condition.count; i++)
            each_condition_locked(n->params.condition.bodies[i], visit, handle);
    }
}

static void begin(struct sim_condition *condition, CUgraphConditionalHandle handle)
{
    (void)handle;
    condition->now = (unsigned)condition->handle;
}

void sim_conditions_begin_locked(CUgraph graph)
{
    each_condition_locked(graph, begin, 0);
}

static void count_down(struct sim_condition *condition, CUgraphConditionalHandle handle)
{
    if (condition->handle == handle && condition->now)
        condition->now--;
}

void sim_condition_count_down_locked(CUgraph graph, CUgraphConditionalHandle handle)
{
    each_condition_locked(graph, count_down, handle);
}

bool sim_graph_has_condition_locked(CUgraph graph)
{
    for (CUgraphNode n = graph->first; n; n = n->next)
        if (n->type == CU_GRAPH_NODE_TYPE_CONDITIONAL ||
            (n->type == CU_GRAPH_NODE_TYPE_GRAPH && n->params.child &&
             sim_graph_has_condition_locked(n->params.child)))
            return true;
    return false;
}
