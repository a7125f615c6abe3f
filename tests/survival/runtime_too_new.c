// expect-exit: 0
// sim: driver=12080
// needs: sim
// A driver that is older than the program's runtime: each call of the runtime fails with 35, and
// the program goes on without a GPU.
#include "survival.h"

int main(void)
{
    int devices = -1;
    void *memory = NULL;
    char *heap = malloc(1 << 20);

    cudaError_t counted = cudaGetDeviceCount(&devices);
    cudaError_t allocated = cudaMallocHost(&memory, 4096);
    cudaError_t copied = cudaMemcpy(heap, heap, 4096, cudaMemcpyHostToHost);
    cudaError_t last = cudaGetLastError();
    free(heap);
    printf("%d %d %d %d\n", counted, allocated, copied, last);
    return counted == cudaErrorInsufficientDriver ? 0 : 1;
}
