// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// An exec is updated from a second graph: what the first one named may be freed then, what the
// second one names may not.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaGraphExecUpdateResultInfo result;
    void *device = device_block(SMALL, 0);
    void *first = registered_block(SMALL, FOREIGN);
    void *second = registered_block(SMALL, WANTED);
    cudaGraphExec_t exec = captured_exec(device, first, SMALL, cudaMemcpyHostToDevice, stream);
    replay(exec, stream);
    cudaGraph_t graph = captured_copy(device, second, SMALL, cudaMemcpyHostToDevice, stream);
    CHECK(cudaGraphExecUpdate(exec, graph, &result));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaHostUnregister(first));
    free(first);

    if (fixed) {
        replay(exec, stream);
        CHECK(cudaHostUnregister(second));
    }
    free(second);
    void *owner = filled_block(SMALL, FOREIGN);
    void *other = filled_block(SMALL, FOREIGN);
    if (!fixed)
        replay(exec, stream);

    bool right = holds(owner, SMALL, FOREIGN) && holds(other, SMALL, FOREIGN);
    return finish(right && device_holds(device, SMALL, WANTED));
}
