// expect: none
//
// A capture comes to nothing, since a second stream was drawn into it and never joined again. The
// source of the copy that it recorded is freed, and the program goes on without a graph.
#include "graphs.h"

int main(void)
{
    cudaGraph_t graph = NULL;
    cudaStream_t stream = new_stream();
    cudaStream_t side = new_stream();
    cudaEvent_t fork = new_event();
    void *device = device_block(SMALL, 0);
    void *source = registered_block(SMALL, WANTED);

    begin_capture(stream);
    CHECK(cudaEventRecord(fork, stream));
    CHECK(cudaStreamWaitEvent(side, fork, 0));
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, side));
    bool failed = cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureUnjoined;
    (void)cudaGetLastError();

    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaHostUnregister(source));
    free(source);
    return finish(failed && !graph && device_holds(device, SMALL, WANTED));
}
