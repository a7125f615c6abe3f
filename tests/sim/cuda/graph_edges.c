/* Edges between nodes: reading, adding and removing them. */
#include "api.h"
#include "graph.h"

#include <stdlib.h>
#include <string.h>

static CUresult edges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data,
                      size_t *count)
{
    size_t found = 0;
    if (!count || !graph || graph->magic != MAGIC_GRAPH)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    for (CUgraphNode n = graph->first; n; n = n->next) {
        for (size_t i = 0; i < n->dep_count; i++, found++) {
            if (from && to && found < *count) {
                from[found] = n->deps[i];
                to[found] = n;
                if (data)
                    memset(&data[found], 0, sizeof *data);
            }
        }
    }
    *count = found;
    sim_unlock();
    return CUDA_SUCCESS;
}

SIM_API(cuGraphGetEdges, (CUgraph hGraph, CUgraphNode *from, CUgraphNode *to, size_t *numEdges),
        hGraph, from, to, numEdges)
{
    return edges(hGraph, from, to, NULL, numEdges);
}

SIM_API(cuGraphGetEdges_v2,
        (CUgraph hGraph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *edgeData,
         size_t *numEdges),
        hGraph, from, to, edgeData, numEdges)
{
    return edges(hGraph, from, to, edgeData, numEdges);
}

static CUresult dependencies(CUgraphNode node, CUgraphNode *out, size_t *count)
{
    if (!node || !count)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    for (size_t i = 0; out && i < node->dep_count && i < *count; i++)
        out[i] = node->deps[i];
    *count = node->dep_count;
    sim_unlock();
    return CUDA_SUCCESS;
}

SIM_API(cuGraphNodeGetDependencies,
        (CUgraphNode hNode, CUgraphNode *dependencies_out, size_t *numDependencies), hNode,
        dependencies_out, numDependencies)
{
    return dependencies(hNode, dependencies_out, numDependencies);
}

SIM_API(cuGraphNodeGetDependencies_v2,
        (CUgraphNode hNode, CUgraphNode *dependencies_out, CUgraphEdgeData *edgeData,
         size_t *numDependencies),
        hNode, dependencies_out, edgeData, numDependencies)
{
    (void)edgeData;
    return dependencies(hNode, dependencies_out, numDependencies);
}

static bool depends(CUgraphNode node, CUgraphNode on)
{
    for (size_t i = 0; i < node->dep_count; i++)
        if (node->deps[i] == on)
            return true;
    return false;
}

static CUresult dependents(CUgraphNode node, CUgraphNode *out, size_t *count)
{
    size_t found = 0;
    if (!node || !count)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    for (CUgraphNode n = node->graph->first; n; n = n->next) {
        if (depends(n, node)) {
            if (out && found < *count)
                out[found] = n;
            found++;
        }
    }
    *count = found;
    sim_unlock();
    return CUDA_SUCCESS;
}

SIM_API(cuGraphNodeGetDependentNodes,
        (CUgraphNode hNode, CUgraphNode *dependentNodes, size_t *numDependentNodes), hNode,
        dependentNodes, numDependentNodes)
{
    return dependents(hNode, dependentNodes, numDependentNodes);
}

SIM_API(cuGraphNodeGetDependentNodes_v2,
        (CUgraphNode hNode, CUgraphNode *dependentNodes, CUgraphEdgeData *edgeData,
         size_t *numDependentNodes),
        hNode, dependentNodes, edgeData, numDependentNodes)
{
    (void)edgeData;
    return dependents(hNode, dependentNodes, numDependentNodes);
}

static CUresult add_edge_locked(CUgraphNode from, CUgraphNode to)
{
    if (!from || !to || from == to || from->graph != to->graph || depends(to, from))
        return CUDA_ERROR_INVALID_VALUE;
    CUgraphNode *deps = realloc(to->deps, (to->dep_count + 1) * sizeof *deps);
    if (!deps)
        return CUDA_ERROR_OUT_OF_MEMORY;
    to->deps = deps;
    deps[to->dep_count++] = from;
    return CUDA_SUCCESS;
}

static CUresult remove_edge_locked(CUgraphNode from, CUgraphNode to)
{
    for (size_t i = 0; from && to && i < to->dep_count; i++) {
        if (to->deps[i] == from) {
            to->deps[i] = to->deps[--to->dep_count];
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_INVALID_VALUE;
}

static CUresult change(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count,
                       CUresult (*one_locked)(CUgraphNode, CUgraphNode))
{
    CUresult result = CUDA_SUCCESS;
    if (!graph || graph->magic != MAGIC_GRAPH || (count && (!from || !to)))
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++)
        result = one_locked(from[i], to[i]);
    sim_unlock();
    return result;
}

SIM_API(cuGraphAddDependencies,
        (CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to, size_t numDependencies),
        hGraph, from, to, numDependencies)
{
    return change(hGraph, from, to, numDependencies, add_edge_locked);
}

SIM_API(cuGraphAddDependencies_v2,
        (CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
         const CUgraphEdgeData *edgeData, size_t numDependencies),
        hGraph, from, to, edgeData, numDependencies)
{
    (void)edgeData;
    return change(hGraph, from, to, numDependencies, add_edge_locked);
}

SIM_API(cuGraphRemoveDependencies,
        (CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to, size_t numDependencies),
        hGraph, from, to, numDependencies)
{
    return change(hGraph, from, to, numDependencies, remove_edge_locked);
}

SIM_API(cuGraphRemoveDependencies_v2,
        (CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
         const CUgraphEdgeData *edgeData, size_t numDependencies),
        hGraph, from, to, edgeData, numDependencies)
{
    (void)edgeData;
    return change(hGraph, from, to, numDependencies, remove_edge_locked);
}
