/* Graphs as structures: nodes, edges, clones. */
#include "graph.h"

#include "announce.h"
#include "api.h"
#include "kernel.h"
#include "memory_ops.h"
#include "semaphore.h"

#include <stdlib.h>
#include <string.h>

static struct sim_slab graphs = {sizeof(struct CUgraph_st) + sizeof(void *), NULL};

CUgraph sim_graph_new_locked(void)
{
    CUgraph graph = sim_slab_take_locked(&graphs);
    if (graph) {
        graph->magic = MAGIC_GRAPH;
        graph->last = &graph->first;
        sim_announce_graph_locked(SIM_GRAPH_CREATED, graph);
    }
    return graph;
}

static void free_node_locked(CUgraphNode node, const struct sim_fence *launch)
{
    if (node->type == CU_GRAPH_NODE_TYPE_GRAPH && node->params.child)
        sim_graph_retire_locked(node->params.child, launch);
    else if (node->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        sim_condition_retire_locked(&node->params.condition, launch);
    sim_values_give_locked(node->values);
    sim_semaphores_give_locked(node->semaphores);
    sim_memory_ops_give_locked(node->operations);
    free(node->deps);
    free(node);
}

void sim_graph_retire_locked(CUgraph graph, const struct sim_fence *launch)
{
    for (CUgraphNode node = graph->first, next; node; node = next) {
        next = node->next;
        free_node_locked(node, launch);
    }
    sim_objects_drop_locked(graph, launch);
    graph->magic = 0;
    sim_slab_give_locked(&graphs, graph);
}

void sim_graph_free_locked(CUgraph graph)
{
    sim_graph_retire_locked(graph, NULL);
}

CUgraphNode sim_graph_add_locked(CUgraph graph, CUgraphNodeType type, const CUgraphNode *deps,
                                 size_t count)
{
    CUgraphNode node = calloc(1, sizeof *node);
    if (!node || (count && !(node->deps = calloc(count, sizeof *deps)))) {
        free(node);
        return NULL;
    }
    if (count)
        memcpy(node->deps, deps, count * sizeof *deps);
    node->dep_count = count;
    node->graph = graph;
    node->type = type;
    *graph->last = node;
    graph->last = &node->next;
    graph->count++;
    sim_announce_node_locked(SIM_NODE_BEGINS, node);
    sim_announce_node_locked(SIM_NODE_CREATED, node);
    return node;
}

bool sim_graph_has_locked(CUgraph graph, CUgraphNode node)
{
    for (CUgraphNode n = graph->first; n; n = n->next)
        if (n == node)
            return true;
    return false;
}

/* Copies what a node does; a child graph and bodies are cloned. */
static bool copy_node_locked(CUgraphNode to, CUgraphNode from)
{
    to->type = from->type;
    to->work = from->work;
    to->params = from->params;
    to->disabled = from->disabled;
    to->twin = from;
    to->values = from->values;
    to->semaphores = from->semaphores;
    to->operations = from->operations;
    sim_values_share_locked(to->values);
    sim_semaphores_share_locked(to->semaphores);
    sim_memory_ops_share_locked(to->operations);
    if (from->type == CU_GRAPH_NODE_TYPE_GRAPH) {
        to->params.child = sim_graph_clone_locked(from->params.child);
        return to->params.child != NULL;
    }
    return from->type != CU_GRAPH_NODE_TYPE_CONDITIONAL ||
           sim_condition_copy_locked(&to->params.condition, &from->params.condition);
}

CUgraph sim_graph_clone_locked(CUgraph graph)
{
    CUgraph clone = sim_graph_new_locked();
    for (CUgraphNode from = graph->first; clone && from; from = from->next) {
        CUgraphNode to = sim_graph_add_locked(clone, from->type, from->deps, from->dep_count);
        if (!to || !copy_node_locked(to, from)) {
            sim_graph_free_locked(clone);
            return NULL;
        }
        from->image = to;
        sim_announce_node_locked(SIM_NODE_CLONED, to);
    }
    for (CUgraphNode to = clone ? clone->first : NULL; to; to = to->next)
        for (size_t i = 0; i < to->dep_count; i++)
            to->deps[i] = to->deps[i]->image;
    if (clone && sim_objects_share_locked(graph, clone) != CUDA_SUCCESS) {
        sim_graph_free_locked(clone);
        return NULL;
    }
    return clone;
}

static void remove_dep(CUgraphNode node, CUgraphNode dep)
{
    size_t kept = 0;
    for (size_t i = 0; i < node->dep_count; i++)
        if (node->deps[i] != dep)
            node->deps[kept++] = node->deps[i];
    node->dep_count = kept;
}

void sim_graph_remove_locked(CUgraphNode node)
{
    CUgraph graph = node->graph;
    for (CUgraphNode *at = &graph->first; *at;) {
        if (*at == node) {
            *at = node->next;
            graph->last = node->next ? graph->last : at;
        } else {
            remove_dep(*at, node);
            at = &(*at)->next;
        }
    }
    graph->count--;
    free_node_locked(node, NULL);
}

static bool is_graph(CUgraph graph)
{
    return graph && graph->magic == MAGIC_GRAPH;
}

SIM_API(cuGraphCreate, (CUgraph * phGraph, unsigned int flags), phGraph, flags)
{
    if (!phGraph || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    *phGraph = sim_graph_new_locked();
    sim_unlock();
    return *phGraph ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

SIM_API(cuGraphDestroy, (CUgraph hGraph), hGraph)
{
    if (!is_graph(hGraph))
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    sim_announce_end_of_graph_locked(hGraph);
    sim_announce_now_locked();
    sim_graph_free_locked(hGraph);
    sim_unlock();
    return CUDA_SUCCESS;
}

SIM_API(cuGraphClone, (CUgraph * phGraphClone, CUgraph originalGraph), phGraphClone, originalGraph)
{
    if (!phGraphClone || !is_graph(originalGraph))
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    bool can = !sim_graph_has_condition_locked(originalGraph);
    *phGraphClone = can ? sim_graph_clone_locked(originalGraph) : NULL;
    sim_unlock();
    return *phGraphClone ? CUDA_SUCCESS : can ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_NOT_SUPPORTED;
}

SIM_API(cuGraphNodeFindInClone, (CUgraphNode * phNode, CUgraphNode hOriginalNode, CUgraph hClone),
        phNode, hOriginalNode, hClone)
{
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    if (!phNode || !is_graph(hClone))
        return result;
    sim_lock();
    for (CUgraphNode n = hClone->first; n; n = n->next) {
        if (n->twin == hOriginalNode) {
            *phNode = n;
            result = CUDA_SUCCESS;
        }
    }
    sim_unlock();
    return result;
}

SIM_API(cuGraphDestroyNode, (CUgraphNode hNode), hNode)
{
    if (!hNode)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    sim_announce_end_of_node_locked(hNode);
    sim_announce_now_locked();
    sim_graph_remove_locked(hNode);
    sim_unlock();
    return CUDA_SUCCESS;
}

static CUresult list(CUgraph graph, CUgraphNode *nodes, size_t *count, bool roots)
{
    size_t found = 0;
    if (!count || !is_graph(graph))
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    for (CUgraphNode n = graph->first; n; n = n->next) {
        if (!roots || n->dep_count == 0) {
            if (nodes && found < *count)
                nodes[found] = n;
            found++;
        }
    }
    for (size_t i = found; nodes && i < *count; i++)
        nodes[i] = NULL;
    *count = found;
    sim_unlock();
    return CUDA_SUCCESS;
}

SIM_API(cuGraphGetNodes, (CUgraph hGraph, CUgraphNode *nodes, size_t *numNodes), hGraph, nodes,
        numNodes)
{
    return list(hGraph, nodes, numNodes, false);
}

SIM_API(cuGraphGetRootNodes, (CUgraph hGraph, CUgraphNode *rootNodes, size_t *numRootNodes), hGraph,
        rootNodes, numRootNodes)
{
    return list(hGraph, rootNodes, numRootNodes, true);
}

SIM_API(cuGraphNodeGetType, (CUgraphNode hNode, CUgraphNodeType *type), hNode, type)
{
    if (!hNode || !type)
        return CUDA_ERROR_INVALID_VALUE;
    *type = hNode->type;
    return CUDA_SUCCESS;
}
