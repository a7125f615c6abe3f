// expect: none
//
// A graph copies the same memory twice: by a node that was captured while it was pageable, and by
// one that was captured while it was registered. The exec's second node is set to other memory, so
// that unregistering loses it nothing.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0), *second = device_block(SMALL, 0);
    void *memory = filled_block(SMALL, FOREIGN), *other = registered_block(SMALL, WANTED);
    cudaGraphNode_t nodes[2], first;
    size_t count = 2, roots = 1;

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    CHECK(cudaMemcpyAsync(device, memory, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaHostRegister(memory, SMALL, cudaHostRegisterDefault));
    CHECK(cudaMemcpyAsync(second, memory, SMALL, cudaMemcpyHostToDevice, stream));
    cudaGraph_t graph = end_capture(stream);
    cudaGraphExec_t exec = instantiate(graph);
    CHECK(cudaGraphGetNodes(graph, nodes, &count));
    CHECK(cudaGraphGetRootNodes(graph, &first, &roots));
    CHECK(cudaGraphExecMemcpyNodeSetParams1D(exec, nodes[nodes[0] == first], second, other, SMALL,
                                             cudaMemcpyHostToDevice));
    CHECK(cudaHostUnregister(memory));
    fill(memory, SMALL, WANTED);
    replay(exec, stream);

    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    return finish(device_holds(device, SMALL, WANTED) && device_holds(second, SMALL, WANTED));
}
