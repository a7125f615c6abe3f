// expect: none
// options: device=1
//
// Branches of a graph that share device memory: in the order of their edges, by way of an empty
// node and of a child graph; that merely read it, or use other bytes; and two that write the same
// bytes, of which one is disabled at a time.
#include "graphs.h"

static cudaGraphNode_t added_memset(cudaGraph_t graph, const cudaGraphNode_t *before, void *to,
                                    size_t size_bytes, unsigned char value)
{
    const struct cudaMemsetParams fill = {
        .dst = to, .value = value, .elementSize = 1, .width = size_bytes, .height = 1};
    cudaGraphNode_t node = NULL;
    CHECK(cudaGraphAddMemsetNode(&node, graph, before, before != NULL, &fill));
    return node;
}

static cudaGraphNode_t added_after(cudaGraph_t graph, cudaGraphNode_t before, void *to,
                                   const void *from)
{
    cudaGraphNode_t node = NULL;
    CHECK(cudaGraphAddMemcpyNode1D(&node, graph, &before, 1, to, from, SMALL,
                                   cudaMemcpyDeviceToDevice));
    return node;
}

static cudaGraphNode_t added_child(cudaGraph_t graph, cudaGraphNode_t before)
{
    cudaGraph_t child = empty_graph();
    cudaGraphNode_t node = NULL;
    CHECK(cudaGraphAddEmptyNode(&node, child, NULL, 0));
    CHECK(cudaGraphAddChildGraphNode(&node, graph, &before, 1, child));
    CHECK(cudaGraphDestroy(child));
    return node;
}

int main(void)
{
    bool right = true;
    cudaStream_t stream = new_stream();
    char *input = device_block(SMALL, WANTED), *shared = device_block(2 * SMALL, FOREIGN);
    void *first = device_block(SMALL, 0), *second = device_block(SMALL, 0);
    char *either = device_block(SMALL, WANTED);
    cudaGraph_t graph = empty_graph();
    cudaGraphNode_t empty = NULL;
    cudaGraphNode_t one = added_memset(graph, NULL, either, SMALL, 1);
    cudaGraphNode_t two = added_memset(graph, NULL, either, SMALL, 2);
    cudaGraphNode_t cleared = added_memset(graph, NULL, shared, SMALL, 0);
    added_memset(graph, NULL, shared + SMALL, SMALL, 0); /* other bytes */
    CHECK(cudaGraphAddEmptyNode(&empty, graph, &cleared, 1));
    cudaGraphNode_t filled = added_after(graph, added_child(graph, empty), shared, input);
    added_after(graph, filled, first, shared); /* two that read */
    added_after(graph, filled, second, shared);
    cudaGraphExec_t exec = instantiate(graph);

    for (int turn = 0; turn < 4; turn++) {
        CHECK(cudaGraphNodeSetEnabled(exec, turn % 2 ? one : two, 0));
        CHECK(cudaGraphNodeSetEnabled(exec, turn % 2 ? two : one, 1));
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaMemcpy(image_of(SMALL), either, SMALL, cudaMemcpyDeviceToHost));
        right = right && *(char *)image_of(SMALL) == (turn % 2 ? 2 : 1);
    }
    return finish(right && device_holds(first, SMALL, WANTED) &&
                  device_holds(second, SMALL, WANTED));
}
