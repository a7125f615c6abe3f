// expect: SC301 action=rerouted certainty=observed event=cuMemcpyDtoH_v2
//
// A synchronous copy while a blocking stream captures into a graph of the program's
// (cudaStreamBeginCaptureToGraph).
#include "capture.h"

int main(void)
{
    cudaGraph_t graph = NULL;
    cudaStream_t stream = fixed ? new_stream() : blocking_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, FOREIGN);
    void *read = fixed ? device_block(SMALL, FOREIGN) : to;
    void *result = filled_block(SMALL, 0);

    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0, cudaStreamCaptureModeGlobal));
    capture_copy(to, from, stream);
    TRY(cudaMemcpy(result, read, SMALL, cudaMemcpyDeviceToHost));
    bool right = holds(result, SMALL, FOREIGN);

    replay(end_capture(stream, 1), stream);
    return finish(!broken && right && device_holds(to, SMALL, WANTED));
}
