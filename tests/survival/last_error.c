// expect-exit: 0
//
// cudaGetLastError and cudaPeekAtLastError say what the program's own calls did: an error stays
// through successful calls until it is taken, and nothing of ours adds one.
#include "survival.h"

enum { SIZE = 64 << 10 };

#define AFTER(call)                                                                                \
    do {                                                                                           \
        long result_ = (long)(call);                                                               \
        printf("%s -> %ld, last error %d\n", #call, result_, (int)cudaPeekAtLastError());          \
    } while (0)

int main(void)
{
    void *device = NULL;
    void *pinned = NULL;
    char local[64] = "";
    void *heap = malloc(SIZE);
    AFTER(cudaMalloc(&device, SIZE));
    AFTER(cudaMallocHost(&pinned, SIZE));
    AFTER(cudaHostUnregister(heap));
    AFTER(cudaMemcpyAsync(device, pinned, SIZE, cudaMemcpyHostToDevice, NULL));
    AFTER(cudaDeviceSynchronize());
    AFTER(cudaHostRegister(heap, SIZE, cudaHostRegisterDefault));
    SHOW(cudaGetLastError());
    SHOW(cudaGetLastError());
    AFTER(cudaMemcpyAsync(heap, device, SIZE, cudaMemcpyDeviceToHost, NULL));
    AFTER(cudaStreamSynchronize(NULL));
    AFTER(cudaFreeHost(local));
    SHOW(cudaGetLastError());
    AFTER(cudaHostUnregister(heap));
    free(heap);
    AFTER(cudaFreeHost(pinned));
    AFTER(cudaFree(device));
    SHOW(cudaGetLastError());
    return 0;
}
