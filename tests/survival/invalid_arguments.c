// expect-exit: 0
//
// Calls that fail must fail with the driver's own codes, and leave nothing recorded behind: the
// table of results is the test.
#include "survival.h"

enum { SIZE = 64 << 10 };

int main(void)
{
    void *device = NULL;
    void *pinned = NULL;
    void *heap = malloc(SIZE);
    void *second = NULL;
    cudaEvent_t event = NULL;
    const enum cudaMemcpyKind nonsense = (enum cudaMemcpyKind)9;
    CHECK(cudaMalloc(&device, SIZE));
    CHECK(cudaMallocHost(&pinned, SIZE));
    CHECK(cudaEventCreate(&event));

    SHOW(cudaMemcpyAsync(device, pinned, 0, cudaMemcpyHostToDevice, NULL));
    SHOW(cudaMemcpyAsync(NULL, pinned, 16, cudaMemcpyHostToDevice, NULL));
    SHOW(cudaMemcpyAsync(device, pinned, 16, nonsense, NULL));
    SHOW(cudaMemcpyAsync(device, NULL, 16, cudaMemcpyHostToDevice, NULL));
    SHOW(cudaMemcpy2DAsync(device, 16, pinned, 64, 64, 4, cudaMemcpyHostToDevice, NULL));
    SHOW(cudaMemcpy2DAsync(device, 64, pinned, 64, 0, 4, cudaMemcpyHostToDevice, NULL));
    SHOW(cudaMemsetAsync(NULL, 0, 16, NULL));
    SHOW(cudaHostRegister(NULL, SIZE, cudaHostRegisterDefault));
    SHOW(cudaHostRegister(heap, 0, cudaHostRegisterDefault));
    SHOW(cudaHostUnregister(NULL));
    SHOW(cudaHostUnregister(heap));
    SHOW(cudaMallocHost(NULL, 16));
    SHOW(cudaMallocHost(&second, 0));
    SHOW(cudaFreeHost(NULL));
    SHOW(cudaFree(NULL));
    SHOW(cudaEventQuery(event));
    SHOW(cudaEventSynchronize(NULL));
    SHOW(cudaEventRecord(NULL, NULL));
    SHOW(cudaStreamWaitEvent(NULL, NULL, 0));
    SHOW(cudaStreamWaitEvent(NULL, event, 64));
    SHOW(cudaSetDevice(77));
    SHOW(cudaMemcpyBatchAsync(NULL, NULL, NULL, 0, NULL, NULL, 0, NULL));
    SHOW(cudaLaunchHostFunc(NULL, NULL, NULL));
    SHOW(cudaDeviceSynchronize());
    free(heap);
    SHOW(cudaFreeHost(pinned));
    SHOW(cudaFree(device));
    return 0;
}
