// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// The graph is cloned and destroyed, and its clone instantiated.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = registered_block(SMALL, WANTED);
    cudaGraph_t graph = captured_copy(device, source, SMALL, cudaMemcpyHostToDevice, stream);
    cudaGraph_t clone = NULL;
    CHECK(cudaGraphClone(&clone, graph));
    CHECK(cudaGraphDestroy(graph));
    cudaGraphExec_t exec = instantiate_only(clone);

    if (fixed) {
        replay(exec, stream);
        CHECK(cudaHostUnregister(source));
    }
    free(source);
    void *owner = filled_block(SMALL, FOREIGN);
    if (!fixed)
        replay(exec, stream);

    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
