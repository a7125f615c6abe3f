/* Graphs that allocate. */
#ifndef SC_TESTS_SURVIVAL_GRAPH_MEMORY_H
#define SC_TESTS_SURVIVAL_GRAPH_MEMORY_H

#include <cuda.h>

#include "survival.h"

/* One that allocates has one exec at a time, so each is of a graph of its own, which allocates that
 * much and frees it. */
static SURVIVAL_HELPER CUgraphExec new_exec_of(size_t size_bytes)
{
    CUDA_MEM_ALLOC_NODE_PARAMS memory = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}},
        .bytesize = size_bytes,
    };
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUgraphNode given = NULL, taken = NULL;
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphAddMemAllocNode(&given, graph, NULL, 0, &memory));
    CHECK(cuGraphAddMemFreeNode(&taken, graph, &given, 1, memory.dptr));
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    CHECK(cuGraphDestroy(graph));
    return exec;
}

#endif
