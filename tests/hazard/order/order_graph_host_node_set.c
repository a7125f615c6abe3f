// expect: SC403 action=stalled certainty=observed
//
// Established by a host node behind the copy, which raises one flag by the graph, and another one
// by the exec. The racy build waits for the first one, which a host function before the launch
// raises.
#include "flag.h"
#include "graphs.h"

int main(void)
{
    atomic_int former = 0;
    atomic_int flag = 0;
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *input = pinned_block(SMALL, WANTED);
    cudaGraph_t graph = empty_graph();
    cudaGraphNode_t copy = added_copy(graph, device, input, SMALL, cudaMemcpyHostToDevice);
    cudaGraphNode_t raise = NULL;
    struct cudaHostNodeParams params = {.fn = raise_flag, .userData = &former};
    CHECK(cudaGraphAddHostNode(&raise, graph, &copy, 1, &params));
    cudaGraphExec_t exec = instantiate(graph);
    params.userData = &flag;
    CHECK(cudaGraphExecHostNodeSetParams(exec, raise, &params));

    CHECK(cudaLaunchHostFunc(stream, raise_flag, &former));
    busy(stream);
    CHECK(cudaGraphLaunch(exec, stream));
    while (atomic_load(fixed ? &flag : &former) == 0)
        usleep(500);
    fill(input, SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED));
}
