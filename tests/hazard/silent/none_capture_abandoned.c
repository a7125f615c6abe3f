// expect: none
//
// A capture that is given up: its graph is destroyed and never launched, and the work is done
// without it. After that the legacy stream is free again.
#include "capture.h"

int main(void)
{
    cudaGraph_t graph = NULL;
    cudaStream_t stream = blocking_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, FOREIGN);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    capture_copy(to, from, stream);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphDestroy(graph));
    bool untouched = device_holds(to, SMALL, FOREIGN);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphDestroy(graph));

    void *workspace = device_block(SMALL, 0);
    CHECK(cudaMemcpyAsync(workspace, from, SMALL, cudaMemcpyDeviceToDevice, stream));
    CHECK(cudaMemcpyAsync(to, workspace, SMALL, cudaMemcpyDeviceToDevice, stream));
    CHECK(cudaDeviceSynchronize());
    return finish(!broken && untouched && device_holds(to, SMALL, WANTED));
}
