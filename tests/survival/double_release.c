// expect-exit: 0
//
// The second release of anything fails as it does without us, and so does a release by the wrong
// function or by an address inside the buffer.
#include "survival.h"

enum { SIZE = 64 << 10 };

int main(void)
{
    char *pinned = NULL;
    char *heap = (char *)malloc(SIZE);
    void *device = NULL;
    CHECK(cudaMalloc(&device, SIZE));
    CHECK(cudaMallocHost((void **)&pinned, SIZE));

    SHOW(cudaFreeHost(pinned + 256));
    SHOW(cudaHostUnregister(pinned));
    SHOW(cudaFree(pinned + 128));
    SHOW(cudaFreeHost(pinned));
    SHOW(cudaFreeHost(pinned));

    SHOW(cudaHostRegister(heap, SIZE, cudaHostRegisterDefault));
    SHOW(cudaHostRegister(heap, SIZE, cudaHostRegisterDefault));
    SHOW(cudaHostRegister(heap + 4096, 4096, cudaHostRegisterDefault));
    SHOW(cudaFreeHost(heap));
    SHOW(cudaHostUnregister(heap + 4096));
    SHOW(cudaHostUnregister(heap));
    SHOW(cudaHostUnregister(heap));
    SHOW(cudaHostRegister(heap, SIZE, cudaHostRegisterDefault));
    SHOW(cudaMemcpyAsync(device, heap, SIZE, cudaMemcpyHostToDevice, NULL));
    SHOW(cudaStreamSynchronize(NULL));
    SHOW(cudaHostUnregister(heap));
    SHOW(cudaHostUnregister(heap));
    free(heap);

    SHOW(cudaFree(device));
    SHOW(cudaFree(device));
    (void)cudaGetLastError();
    use_cuda("after");
    return 0;
}
