// expect: none
//
// The node that reads a buffer is taken out of the graph, and the buffer is freed.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *dropped = filled_block(SMALL, FOREIGN);
    void *source = filled_block(SMALL, WANTED);
    cudaGraph_t graph = empty_graph();
    added_copy(graph, device, source, SMALL, cudaMemcpyHostToDevice);
    CHECK(cudaGraphDestroyNode(added_copy(graph, device, dropped, SMALL, cudaMemcpyHostToDevice)));
    free(dropped);
    void *owner = filled_block(SMALL, FOREIGN);

    replay(instantiate(graph), stream);
    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
