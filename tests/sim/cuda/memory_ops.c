/* Nodes of batch memory operations. Their addresses mean what they mean at the launch. */
#include "memory_ops.h"

#include "api.h"
#include "capture.h"

#include <stdlib.h>
#include <string.h>

/* The program's array, copied. Nodes share it. */
struct sim_memory_ops {
    unsigned users, count;
    CUstreamBatchMemOpParams list[];
};

/* ---- what nodes keep ---- */

static CUresult make_locked(unsigned count, const CUstreamBatchMemOpParams *params,
                            struct sim_memory_ops **made)
{
    struct sim_work work;
    if (!params || count == 0 || count > OPERATIONS_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        CUresult result = sim_memory_op_work_locked(&params[i], &work);
        if (result != CUDA_SUCCESS)
            return result;
    }
    *made = calloc(1, sizeof **made + count * sizeof *params);
    if (!*made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    **made = (struct sim_memory_ops){.users = 1, .count = count};
    memcpy((*made)->list, params, count * sizeof *params);
    return CUDA_SUCCESS;
}

static CUresult make_of_locked(const CUDA_BATCH_MEM_OP_NODE_PARAMS *params,
                               struct sim_memory_ops **made)
{
    return params && params->flags == 0 ? make_locked(params->count, params->paramArray, made)
                                        : CUDA_ERROR_INVALID_VALUE;
}

void sim_memory_ops_share_locked(struct sim_memory_ops *operations)
{
    if (operations)
        operations->users++;
}

void sim_memory_ops_give_locked(struct sim_memory_ops *operations)
{
    if (operations && --operations->users == 0)
        free(operations);
}

CUresult sim_memory_ops_work_locked(const struct sim_memory_ops *operations, CUstream stream)
{
    return sim_memory_ops_queue_locked(stream, operations->count, operations->list);
}

/* ---- nodes ---- */

CUresult sim_memory_ops_capture_locked(CUstream stream, unsigned count,
                                       const CUstreamBatchMemOpParams *params)
{
    CUgraphNode node;
    struct sim_memory_ops *operations = NULL;
    CUresult result = make_locked(count, params, &operations);
    if (result == CUDA_SUCCESS)
        result = sim_capture_add_locked(stream, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, NULL, &node);
    if (result == CUDA_SUCCESS)
        node->operations = operations;
    else
        sim_memory_ops_give_locked(operations);
    return result;
}

CUresult sim_memory_ops_add_node(CUgraphNode *out, CUgraph graph, const CUgraphNode *deps,
                                 size_t count, const CUDA_BATCH_MEM_OP_NODE_PARAMS *params)
{
    struct sim_memory_ops *operations = NULL;
    if (!out || !graph || graph->magic != MAGIC_GRAPH || (count && !deps))
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    CUresult result = make_of_locked(params, &operations);
    CUgraphNode node =
        result ? NULL : sim_graph_add_locked(graph, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, deps, count);
    if (node)
        node->operations = operations;
    else
        sim_memory_ops_give_locked(operations);
    sim_unlock();
    if (node)
        *out = node;
    return node || result ? result : CUDA_ERROR_OUT_OF_MEMORY;
}

static bool flushes(const CUstreamBatchMemOpParams *params)
{
    return params->waitValue.flags & CU_STREAM_WAIT_VALUE_FLUSH;
}

/* How many there are and what they are stays as it is in an exec, and whether waits flush. */
static bool are_alike(const struct sim_memory_ops *a, const struct sim_memory_ops *b)
{
    bool alike = a->count == b->count;
    for (unsigned i = 0; alike && i < a->count; i++)
        alike = a->list[i].operation == b->list[i].operation &&
                flushes(&a->list[i]) == flushes(&b->list[i]);
    return alike;
}

/* `exec`: NULL for a graph's node. */
static CUresult set_locked(CUgraphExec exec, CUgraphNode node,
                           const CUDA_BATCH_MEM_OP_NODE_PARAMS *params)
{
    struct sim_memory_ops *operations = NULL;
    CUgraphNode own = exec ? sim_exec_node_locked(exec, node) : node;
    CUresult result = make_of_locked(params, &operations);
    if (result != CUDA_SUCCESS)
        return result;
    bool fits = own && own->type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP &&
                (!exec || are_alike(own->operations, operations));
    sim_memory_ops_give_locked(fits ? own->operations : operations);
    if (fits)
        own->operations = operations;
    return fits ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult set(CUgraphExec exec, CUgraphNode node, const CUDA_BATCH_MEM_OP_NODE_PARAMS *params)
{
    sim_lock();
    CUresult result = set_locked(exec, node, params);
    sim_unlock();
    return result;
}

CUresult sim_memory_ops_set_node(CUgraphNode node, const CUDA_BATCH_MEM_OP_NODE_PARAMS *params)
{
    return set(NULL, node, params);
}

CUresult sim_memory_ops_set_exec(CUgraphExec exec, CUgraphNode node,
                                 const CUDA_BATCH_MEM_OP_NODE_PARAMS *params)
{
    return exec && exec->magic == MAGIC_EXEC ? set(exec, node, params) : CUDA_ERROR_INVALID_VALUE;
}

SIM_API(cuGraphAddBatchMemOpNode,
        (CUgraphNode * phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
         size_t numDependencies, const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams),
        phGraphNode, hGraph, dependencies, numDependencies, nodeParams)
{
    return sim_memory_ops_add_node(phGraphNode, hGraph, dependencies, numDependencies, nodeParams);
}

/* The array is the node's. */
SIM_API(cuGraphBatchMemOpNodeGetParams,
        (CUgraphNode hNode, CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams_out), hNode, nodeParams_out)
{
    if (!hNode || hNode->type != CU_GRAPH_NODE_TYPE_BATCH_MEM_OP || !nodeParams_out)
        return CUDA_ERROR_INVALID_VALUE;
    *nodeParams_out = (CUDA_BATCH_MEM_OP_NODE_PARAMS){.count = hNode->operations->count,
                                                      .paramArray = hNode->operations->list};
    return CUDA_SUCCESS;
}

SIM_API(cuGraphBatchMemOpNodeSetParams,
        (CUgraphNode hNode, const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams), hNode, nodeParams)
{
    return sim_memory_ops_set_node(hNode, nodeParams);
}

SIM_API(cuGraphExecBatchMemOpNodeSetParams,
        (CUgraphExec hGraphExec, CUgraphNode hNode,
         const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams),
        hGraphExec, hNode, nodeParams)
{
    return sim_memory_ops_set_exec(hGraphExec, hNode, nodeParams);
}
