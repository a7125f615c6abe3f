// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// The graph is destroyed before the source is freed. Two execs were made of it, of which one is
// still there.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = registered_block(SMALL, WANTED);
    cudaGraph_t graph = captured_copy(device, source, SMALL, cudaMemcpyHostToDevice, stream);
    cudaGraphExec_t first = instantiate(graph);
    cudaGraphExec_t second = instantiate(graph);
    CHECK(cudaGraphDestroy(graph));

    replay(first, stream);
    CHECK(cudaGraphExecDestroy(first));
    if (fixed) {
        replay(second, stream);
        CHECK(cudaHostUnregister(source));
    }
    free(source);
    void *owner = filled_block(SMALL, FOREIGN);
    if (!fixed)
        replay(second, stream);

    CHECK(cudaGraphExecDestroy(second));
    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
