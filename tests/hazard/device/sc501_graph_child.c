// expect: SC501 action=ordered kind=device direction=H2D event=cuGraphLaunch certainty=observed
// options: device=1
//
// A graph whose child uploads, and another graph that reads the upload, in two streams.
#include "graphs.h"

int main(void)
{
    cudaStream_t up = new_stream();
    cudaStream_t work = new_stream();
    cudaEvent_t uploaded = new_event();
    void *source = pinned_block(SMALL, WANTED);
    void *input = device_block(SMALL, FOREIGN);
    void *result = device_block(SMALL, 0);
    cudaGraph_t child = captured_copy(input, source, SMALL, cudaMemcpyHostToDevice, up);
    cudaGraph_t graph = empty_graph();
    cudaGraphNode_t node;
    CHECK(cudaGraphAddChildGraphNode(&node, graph, NULL, 0, child));
    cudaGraphExec_t uploads = instantiate_only(graph);
    cudaGraphExec_t reads = captured_exec(result, input, SMALL, cudaMemcpyDeviceToDevice, work);

    busy(up);
    CHECK(cudaGraphLaunch(uploads, up));
    CHECK(cudaEventRecord(uploaded, up));
    if (fixed)
        CHECK(cudaStreamWaitEvent(work, uploaded, 0));
    CHECK(cudaGraphLaunch(reads, work));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(result, SMALL, WANTED));
}
