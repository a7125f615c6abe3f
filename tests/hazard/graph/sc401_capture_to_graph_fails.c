// expect: SC401 action=held certainty=observed event=cuGraphLaunch
// needs: sim
//
// A capture into a graph that the program made fails, since a stream was not joined back. What the
// graph named before, it names still. (It is not known what a driver leaves of the captured work.)
#include "graphs.h"

static void fail_to_capture(cudaGraph_t graph, cudaGraphNode_t node, cudaStream_t stream)
{
    cudaStream_t side = new_stream();
    cudaEvent_t fork = new_event();
    cudaGraph_t same = NULL;
    CHECK(cudaStreamBeginCaptureToGraph(stream, graph, &node, NULL, 1,
                                        cudaStreamCaptureModeThreadLocal));
    CHECK(cudaEventRecord(fork, stream));
    CHECK(cudaStreamWaitEvent(side, fork, 0));
    CHECK(cudaLaunchHostFunc(side, sleep_in_stream, NULL));
    if (cudaStreamEndCapture(stream, &same) != cudaErrorStreamCaptureUnjoined)
        exit(3);
    CHECK(cudaStreamDestroy(side));
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = filled_block(SMALL, WANTED);
    cudaGraph_t graph = empty_graph();
    cudaGraphNode_t node = added_copy(graph, device, source, SMALL, cudaMemcpyHostToDevice);
    fail_to_capture(graph, node, stream);

    if (fixed)
        replay(instantiate_only(graph), stream);
    free(source);
    void *owner = filled_block(SMALL, FOREIGN);
    if (!fixed)
        replay(instantiate_only(graph), stream);
    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
