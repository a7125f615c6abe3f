// expect: none
//
// A capture that is given up with its stream: it never ends, and is open no longer. The legacy
// stream and everything that a capture forbids are free again.
#include "capture.h"

int main(void)
{
    cudaStream_t stream = blocking_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *spare = NULL;

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    capture_copy(to, from, stream);
    CHECK(cudaStreamDestroy(stream));

    CHECK(cudaMalloc(&spare, SMALL));
    CHECK(cudaMemcpy(to, from, SMALL, cudaMemcpyDeviceToDevice));
    CHECK(cudaFree(spare));
    CHECK(cudaDeviceSynchronize());
    return finish(!broken && device_holds(to, SMALL, WANTED));
}
