// expect-exit: 0
//
// A capture is open when the device is reset. What comes after is as if there had been none: calls
// that a capture does not permit, and the legacy stream.
#include "survival.h"

enum { SIZE = 64 << 10 };

static void work(void)
{
    void *device = NULL;
    void *pinned = NULL;
    cudaEvent_t event = NULL;
    SHOW(cudaMalloc(&device, SIZE));
    SHOW(cudaMallocHost(&pinned, SIZE));
    SHOW(cudaEventCreate(&event));
    SHOW(cudaMemcpyAsync(device, pinned, SIZE, cudaMemcpyHostToDevice, 0));
    SHOW(cudaEventRecord(event, 0));
    SHOW(cudaEventSynchronize(event));
    SHOW(cudaMemcpy(pinned, device, SIZE, cudaMemcpyDeviceToHost));
    SHOW(cudaFreeHost(pinned));
    SHOW(cudaFree(device));
}

int main(void)
{
    cudaStream_t stream = NULL;
    work();
    CHECK(cudaStreamCreate(&stream));
    SHOW(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    SHOW(cudaDeviceReset());
    work();
    return 0;
}
