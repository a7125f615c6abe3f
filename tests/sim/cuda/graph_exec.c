/*
 * Executable graphs. A launch queues the nodes' work one by one in the stream, in an order that
 * respects the edges: branches never overlap here, though they may on a device.
 */
#include "announce.h"
#include "api.h"
#include "capture.h"
#include "copy.h"
#include "graph.h"
#include "graph_memory.h"
#include "kernel.h"
#include "memory.h"
#include "memory_ops.h"
#include "semaphore.h"
#include "streams.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct sim_slab execs = {sizeof(struct CUgraphExec_st) + sizeof(void *), NULL};

static bool is_exec(CUgraphExec exec)
{
    return exec && exec->magic == MAGIC_EXEC;
}

static bool ready(CUgraphNode node)
{
    for (size_t i = 0; i < node->dep_count; i++)
        if (!node->deps[i]->visited)
            return false;
    return true;
}

/* Puts every node behind those it depends on; false for a cycle. */
static bool sort_locked(CUgraph graph)
{
    CUgraphNode sorted = NULL, *last = &sorted;
    for (CUgraphNode n = graph->first; n; n = n->next)
        n->visited = false;
    for (bool progress = true; progress;) {
        progress = false;
        for (CUgraphNode *at = &graph->first; *at;) {
            CUgraphNode node = *at;
            if (!ready(node)) {
                at = &node->next;
                continue;
            }
            *at = node->next;
            node->visited = progress = true;
            node->next = NULL;
            *last = node;
            last = &node->next;
        }
    }
    bool cycle = graph->first != NULL;
    *last = graph->first;
    graph->first = sorted;
    for (graph->last = &graph->first; *graph->last; graph->last = &(*graph->last)->next) {
    }
    return !cycle;
}

/* What nodes of the graph allocate, child graphs left out. */
static size_t allocated_bytes_locked(CUgraph graph, CUdevice *device)
{
    size_t bytes = 0;
    for (CUgraphNode n = graph->first; n; n = n->next) {
        struct sim_range range;
        if (n->type != CU_GRAPH_NODE_TYPE_MEM_ALLOC)
            continue;
        sim_memory_find_locked((uintptr_t)n->params.memory, &range);
        *device = range.device;
        bytes += range.kind == MEMORY_DEVICE ? range.size : 0;
    }
    return bytes;
}

/* A graph that allocates has one exec at a time. */
static void keep_owner_locked(CUgraphExec exec, CUgraph graph)
{
    CUdevice device = 0;
    if (allocated_bytes_locked(graph, &device) == 0)
        return;
    exec->source = graph;
    graph->owner = exec;
}

static void drop_owner_locked(CUgraphExec exec)
{
    if (exec->source && exec->source->magic == MAGIC_GRAPH && exec->source->owner == exec)
        exec->source->owner = NULL;
}

/* Memory of an earlier launch is freed, if the exec is to do so, or must have been. */
static CUresult begin_memory_locked(CUgraphExec exec)
{
    for (CUgraphNode n = exec->graph->first; n; n = n->next) {
        uintptr_t address = (uintptr_t)n->params.memory;
        if (n->type != CU_GRAPH_NODE_TYPE_MEM_ALLOC || !sim_graph_memory_is_live_locked(address))
            continue;
        if (!(exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH))
            return CUDA_ERROR_INVALID_VALUE;
        sim_graph_memory_give_locked(address);
    }
    return CUDA_SUCCESS;
}

static CUresult instantiate(CUgraphExec *out, CUgraph graph, unsigned long long flags)
{
    if (!out || !graph || graph->magic != MAGIC_GRAPH)
        return sim_capture_mistaken();
    sim_lock();
    CUresult unsafe = sim_capture_unsafe_locked();
    if (unsafe == CUDA_SUCCESS && graph->owner)
        unsafe = CUDA_ERROR_NOT_SUPPORTED;
    if (unsafe != CUDA_SUCCESS) {
        sim_unlock();
        return unsafe;
    }
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
    CUgraph copy = sim_graph_clone_locked(graph);
    CUgraphExec exec = copy ? sim_slab_take_locked(&execs) : NULL;
    if (exec && sort_locked(copy)) {
        sim_announce_exec_locked(SIM_EXEC_BEGINS, exec, graph);
        sim_announce_exec_locked(SIM_EXEC_CREATED, exec, graph);
        exec->magic = MAGIC_EXEC;
        exec->flags = flags;
        exec->graph = copy;
        keep_owner_locked(exec, graph);
        *out = exec;
        result = CUDA_SUCCESS;
    } else if (exec) {
        sim_slab_give_locked(&execs, exec);
        sim_graph_free_locked(copy);
        result = CUDA_ERROR_INVALID_VALUE;
    }
    sim_unlock();
    return result;
}

SIM_API(cuGraphInstantiate,
        (CUgraphExec * phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode, char *logBuffer,
         size_t bufferSize),
        phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize)
{
    (void)phErrorNode, (void)logBuffer, (void)bufferSize;
    return instantiate(phGraphExec, hGraph, 0);
}

SIM_API(cuGraphInstantiate_v2,
        (CUgraphExec * phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode, char *logBuffer,
         size_t bufferSize),
        phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize)
{
    (void)phErrorNode, (void)logBuffer, (void)bufferSize;
    return instantiate(phGraphExec, hGraph, 0);
}

SIM_API(cuGraphInstantiateWithFlags,
        (CUgraphExec * phGraphExec, CUgraph hGraph, unsigned long long flags), phGraphExec, hGraph,
        flags)
{
    return instantiate(phGraphExec, hGraph, flags);
}

SIM_API_PTSZ(cuGraphInstantiateWithParams,
             (CUgraphExec * phGraphExec, CUgraph hGraph,
              CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams),
             phGraphExec, hGraph, instantiateParams)
{
    (void)dflt;
    if (!instantiateParams)
        return CUDA_ERROR_INVALID_VALUE;
    instantiateParams->hErrNode_out = NULL;
    instantiateParams->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
    return instantiate(phGraphExec, hGraph, instantiateParams->flags);
}

SIM_API(cuGraphExecGetFlags, (CUgraphExec hGraphExec, cuuint64_t *flags), hGraphExec, flags)
{
    if (!is_exec(hGraphExec) || !flags)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = hGraphExec->flags;
    return CUDA_SUCCESS;
}

SIM_API(cuGraphExecDestroy, (CUgraphExec hGraphExec), hGraphExec)
{
    if (!is_exec(hGraphExec))
        return sim_capture_mistaken();
    sim_lock();
    CUresult unsafe = sim_capture_unsafe_locked();
    if (unsafe != CUDA_SUCCESS) {
        sim_unlock();
        return unsafe;
    }
    sim_announce_exec_locked(SIM_EXEC_ENDS, hGraphExec, NULL);
    sim_announce_end_of_graph_locked(hGraphExec->graph);
    sim_announce_now_locked();
    drop_owner_locked(hGraphExec);
    sim_graph_retire_locked(hGraphExec->graph, &hGraphExec->recent);
    if (hGraphExec->recent.stream)
        sim_stream_unref_locked(hGraphExec->recent.stream);
    hGraphExec->magic = 0;
    sim_slab_give_locked(&execs, hGraphExec);
    sim_unlock();
    return CUDA_SUCCESS;
}

struct launch {
    CUgraph graph; /* the outermost one */
    CUstream stream;
    bool waits; /* the call does */
};

static CUresult launch_nodes_locked(struct launch *launch, CUgraph graph);

static CUresult launch_work_locked(struct launch *launch, CUgraphNode node)
{
    struct sim_work work = node->work;
    CUresult result = CUDA_SUCCESS;
    if (work.kind == WORK_KERNEL_COUNT)
        sim_condition_count_down_locked(launch->graph, work.condition);
    if (node->type == CU_GRAPH_NODE_TYPE_KERNEL) {
        result = sim_kernel_bind_locked(&work, launch->stream, &launch->waits);
    } else if (work.kind == WORK_COPY) {
        if (!sim_copy_empty(&work.copy))
            result = sim_copy_bind_node_locked(&work, launch->stream, &launch->waits);
    } else if (work.kind == WORK_FILL) {
        bool synchronous_waits;
        result = sim_fill_bind_locked(&work.fill, &synchronous_waits);
    }
    return result ? result : sim_stream_work_locked(launch->stream, &work, NULL);
}

/* A loop whose turn leaves the condition as it was would never end. */
static CUresult launch_loop_locked(struct launch *launch, const struct sim_condition *condition)
{
    CUresult result = CUDA_SUCCESS;
    while (condition->now && result == CUDA_SUCCESS) {
        unsigned before = condition->now;
        result = launch_nodes_locked(launch, condition->bodies[0]);
        if (result == CUDA_SUCCESS && condition->now == before)
            result = CUDA_ERROR_NOT_SUPPORTED;
    }
    return result;
}

static CUresult launch_chosen_locked(struct launch *launch, CUgraphNode node)
{
    const struct sim_condition *condition = &node->params.condition;
    if (condition->type == CU_GRAPH_COND_TYPE_WHILE)
        return launch_loop_locked(launch, condition);
    CUgraph body = sim_condition_chosen(condition);
    return body ? launch_nodes_locked(launch, body) : CUDA_SUCCESS;
}

static CUresult launch_node_locked(struct launch *launch, CUgraphNode node)
{
    CUstream stream = launch->stream;
    if (node->disabled) /* the launch is work nevertheless */
        return sim_stream_work_locked(stream, &(struct sim_work){.kind = WORK_UNSEEN}, NULL);
    switch (node->type) {
    case CU_GRAPH_NODE_TYPE_MEMCPY:
    case CU_GRAPH_NODE_TYPE_MEMSET:
    case CU_GRAPH_NODE_TYPE_KERNEL:
    case CU_GRAPH_NODE_TYPE_HOST:
        return launch_work_locked(launch, node);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        return sim_memory_ops_work_locked(node->operations, stream);
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return launch_nodes_locked(launch, node->params.child);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        return launch_chosen_locked(launch, node);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
        return sim_semaphores_work_locked(node->semaphores, stream);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return sim_event_record_locked(node->params.event, stream);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return sim_event_wait_locked(node->params.event, stream);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return sim_graph_memory_take_locked((uintptr_t)node->params.memory)
                   ? CUDA_SUCCESS
                   : CUDA_ERROR_OUT_OF_MEMORY;
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        sim_graph_memory_give_locked((uintptr_t)node->params.memory);
        return CUDA_SUCCESS;
    default:
        return CUDA_SUCCESS;
    }
}

static CUresult launch_nodes_locked(struct launch *launch, CUgraph graph)
{
    CUresult result = CUDA_SUCCESS;
    for (CUgraphNode n = graph->first; n && result == CUDA_SUCCESS; n = n->next)
        result = launch_node_locked(launch, n);
    return result;
}

static bool does_nothing(CUgraph graph)
{
    CUgraphNode n = graph->first;
    while (n && n->type == CU_GRAPH_NODE_TYPE_EMPTY)
        n = n->next;
    return !n;
}

/* A marker before the nodes waits for the launch before this one, a marker behind them is what the
 * next launch waits for. With a copy into pageable memory among them the call waits, too. Where the
 * nodes do nothing, blocking streams do not wait for a launch in the legacy stream, which waits for
 * them all the same. */
static CUresult launch_locked(CUgraphExec exec, CUstream stream)
{
    struct sim_work mark = {.kind = WORK_MARK};
    CUresult begun = begin_memory_locked(exec);
    struct sim_op *first = begun ? NULL : sim_op_new_locked();
    if (!first)
        return begun ? begun : CUDA_ERROR_OUT_OF_MEMORY;
    if (does_nothing(exec->graph)) {
        first->is_nothing = true;
        sim_stream_issue_locked(stream, first);
        return CUDA_SUCCESS;
    }
    if (exec->recent.stream) {
        sim_op_fence_locked(first, exec->recent.stream, exec->recent.seq);
        sim_stream_unref_locked(exec->recent.stream);
    }
    sim_stream_ref_locked(stream);
    exec->recent.stream = stream;
    sim_stream_issue_locked(stream, first);
    struct launch launch = {.graph = exec->graph, .stream = stream};
    sim_conditions_begin_locked(exec->graph);
    CUresult result = launch_nodes_locked(&launch, exec->graph);
    CUresult marked = sim_stream_work_locked(stream, &mark, &exec->recent.seq);
    if (launch.waits && result == CUDA_SUCCESS && marked == CUDA_SUCCESS)
        sim_stream_wait_locked(stream, exec->recent.seq);
    return result ? result : marked;
}

void sim_last_ns(uint64_t ns)
{
    const struct timespec time = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    if (ns)
        nanosleep(&time, NULL);
}

SIM_API_PTSZ(cuGraphLaunch, (CUgraphExec hGraphExec, CUstream hStream), hGraphExec, hStream)
{
    CUstream stream;
    if (!is_exec(hGraphExec))
        return CUDA_ERROR_INVALID_VALUE;
    sim_last_ns(sim_options.launch_ns);
    sim_lock();
    CUresult result = sim_stream_enter_locked(hStream, dflt, &stream);
    if (result == CUDA_SUCCESS) {
        result =
            stream->capture ? sim_capture_wait_locked(stream) : launch_locked(hGraphExec, stream);
    }
    sim_unlock();
    sim_last_ns(sim_options.return_ns);
    return result;
}

SIM_API_PTSZ(cuGraphUpload, (CUgraphExec hGraphExec, CUstream hStream), hGraphExec, hStream)
{
    CUstream stream;
    sim_lock();
    CUresult result = sim_stream_enter_locked(hStream, dflt, &stream);
    if (result == CUDA_SUCCESS)
        result = sim_capture_ask_locked(stream);
    if (result == CUDA_SUCCESS && !is_exec(hGraphExec))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) {
        CUdevice device = 0;
        size_t bytes = allocated_bytes_locked(hGraphExec->graph, &device);
        if (bytes && !sim_graph_memory_reserve_locked(device, bytes))
            result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (result == CUDA_SUCCESS)
        result = sim_stream_work_locked(stream, &(struct sim_work){.kind = WORK_UNSEEN}, NULL);
    sim_unlock();
    return result;
}

static void keep_names_locked(CUgraph own, CUgraph copy);

static void keep_name_locked(CUgraphNode own, CUgraphNode copy)
{
    copy->twin = own->twin;
    copy->disabled = own->disabled;
    if (own->type != copy->type)
        return;
    if (own->type == CU_GRAPH_NODE_TYPE_GRAPH)
        keep_names_locked(own->params.child, copy->params.child);
    for (unsigned i = 0; own->type == CU_GRAPH_NODE_TYPE_CONDITIONAL &&
                         i < own->params.condition.count && i < copy->params.condition.count;
         i++)
        keep_names_locked(own->params.condition.bodies[i], copy->params.condition.bodies[i]);
}

/* Nodes of the graph that was first instantiated keep naming the exec's, also in bodies and in
 * child graphs. */
static void keep_names_locked(CUgraph own, CUgraph copy)
{
    for (CUgraphNode a = own->first, b = copy->first; a && b; a = a->next, b = b->next)
        keep_name_locked(a, b);
}

/* Takes over the parameters of a graph of the same shape; false if it has another. */
static bool replace_locked(CUgraphExec exec, CUgraph *own, CUgraph graph)
{
    CUgraph copy = sim_graph_clone_locked(graph);
    bool fits = copy && sort_locked(copy) && copy->count == (*own)->count;
    for (CUgraphNode a = (*own)->first, b = fits ? copy->first : NULL; a && b;
         a = a->next, b = b->next) {
        fits = fits && a->type == b->type && a->dep_count == b->dep_count &&
               (a->type != CU_GRAPH_NODE_TYPE_MEMCPY ||
                sim_copy_same_types(&a->params.copy, &b->params.copy));
    }
    if (fits) {
        keep_names_locked(*own, copy);
        sim_graph_retire_locked(*own, &exec->recent);
        *own = copy;
    } else if (copy) {
        sim_graph_free_locked(copy);
    }
    return fits;
}

static CUresult update(CUgraphExec exec, CUgraph graph)
{
    if (!is_exec(exec) || !graph || graph->magic != MAGIC_GRAPH)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    bool fits = replace_locked(exec, &exec->graph, graph);
    sim_unlock();
    return fits ? CUDA_SUCCESS : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

CUresult sim_exec_set_child(CUgraphExec exec, CUgraphNode node, CUgraph child)
{
    if (!is_exec(exec) || !child || child->magic != MAGIC_GRAPH)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    CUgraphNode own = sim_exec_node_locked(exec, node);
    bool fits = own && own->type == CU_GRAPH_NODE_TYPE_GRAPH &&
                replace_locked(exec, &own->params.child, child);
    sim_unlock();
    return fits ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SIM_API(cuGraphExecChildGraphNodeSetParams,
        (CUgraphExec hGraphExec, CUgraphNode hNode, CUgraph childGraph), hGraphExec, hNode,
        childGraph)
{
    return sim_exec_set_child(hGraphExec, hNode, childGraph);
}

SIM_API(cuGraphExecUpdate,
        (CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode *hErrorNode_out,
         CUgraphExecUpdateResult *updateResult_out),
        hGraphExec, hGraph, hErrorNode_out, updateResult_out)
{
    CUresult result = update(hGraphExec, hGraph);
    if (hErrorNode_out)
        *hErrorNode_out = NULL;
    if (updateResult_out) {
        *updateResult_out =
            result ? CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED : CU_GRAPH_EXEC_UPDATE_SUCCESS;
    }
    return result;
}

SIM_API(cuGraphExecUpdate_v2,
        (CUgraphExec hGraphExec, CUgraph hGraph, CUgraphExecUpdateResultInfo *resultInfo),
        hGraphExec, hGraph, resultInfo)
{
    CUresult result = update(hGraphExec, hGraph);
    if (resultInfo) {
        memset(resultInfo, 0, sizeof *resultInfo);
        resultInfo->result =
            result ? CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED : CU_GRAPH_EXEC_UPDATE_SUCCESS;
    }
    return result;
}
