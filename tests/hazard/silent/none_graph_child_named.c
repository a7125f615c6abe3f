// expect: none
//
// Copies are added to a child graph by its own handle: of a child that was cloned, and of one that
// was moved. The handle ends with the parent, or with the node, and the memory with the graphs.
#include "graphs.h"

#include <sys/mman.h>

#include <errno.h>

static void *mapped_source(void)
{
    void *source = mmap(NULL, SMALL, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (source == MAP_FAILED)
        exit(3);
    fill(source, SMALL, WANTED);
    return source;
}

/* Is it really gone? */
static bool unmapped(void *source)
{
    return munmap(source, SMALL) == 0 && msync(source, SMALL, MS_ASYNC) != 0 && errno == ENOMEM;
}

static cudaGraphNode_t add_child(cudaGraph_t parent, cudaGraph_t child, bool moved)
{
    cudaGraphNode_t node = NULL;
    struct cudaGraphNodeParams params;
    memset(&params, 0, sizeof params);
    params.type = cudaGraphNodeTypeGraph;
    params.graph.graph = child;
    params.graph.ownership =
        moved ? cudaGraphChildGraphOwnershipMove : cudaGraphChildGraphOwnershipClone;
    CHECK(cudaGraphAddNode(&node, parent, NULL, NULL, 0, &params));
    if (!moved)
        CHECK(cudaGraphDestroy(child));
    return node;
}

static bool round_trip(bool moved, bool by_node, cudaStream_t stream)
{
    void *one = device_block(SMALL, 0);
    void *two = device_block(SMALL, 0);
    void *before = mapped_source();
    void *after = mapped_source();
    cudaGraph_t child = empty_graph();
    cudaGraph_t own = child;
    cudaGraph_t parent = empty_graph();
    added_copy(child, one, before, SMALL, cudaMemcpyHostToDevice);
    cudaGraphNode_t node = add_child(parent, child, moved);
    if (!moved)
        CHECK(cudaGraphChildGraphNodeGetGraph(node, &own));
    added_copy(own, two, after, SMALL, cudaMemcpyHostToDevice);
    cudaGraphExec_t exec = instantiate(parent);
    replay(exec, stream);
    CHECK(cudaGraphExecDestroy(exec));
    if (by_node)
        CHECK(cudaGraphDestroyNode(node));
    CHECK(cudaGraphDestroy(parent));
    return unmapped(after) && unmapped(before) && device_holds(one, SMALL, WANTED) &&
           device_holds(two, SMALL, WANTED);
}

int main(void)
{
    cudaStream_t stream = new_stream();
    bool right = true;
    for (int way = 0; way < 4; way++)
        right = round_trip(way & 1, way & 2, stream) && right;
    return finish(right);
}
