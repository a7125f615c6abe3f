// expect-exit: 0
//
// No call that succeeds changes errno: neither CUDA's nor free's. (free keeps errno since
// glibc 2.33.)
#include "survival.h"

#include <sys/mman.h>

enum { SIZE = 64 << 10 };

#define KEEPS(call)                                                                                \
    do {                                                                                           \
        errno = 4242;                                                                              \
        long result_ = (long)(call);                                                               \
        printf("%s -> %ld, errno %s\n", #call, result_, errno == 4242 ? "kept" : "changed");       \
    } while (0)

int main(void)
{
    void *device = NULL;
    void *pinned = NULL;
    cudaStream_t stream = NULL;
    cudaEvent_t event = NULL;
    void *heap = malloc(SIZE);
    void *pages = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(cudaSetDevice(0));
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaEventCreate(&event));
    CHECK(cudaMalloc(&device, SIZE));
    CHECK(cudaMallocHost(&pinned, SIZE));
    memset(heap, 0, SIZE);
    KEEPS(cudaHostRegister(heap, SIZE, cudaHostRegisterDefault));
    KEEPS(cudaMemcpyAsync(device, heap, SIZE, cudaMemcpyHostToDevice, stream));
    KEEPS(cudaMemcpyAsync(pinned, device, SIZE, cudaMemcpyDeviceToHost, stream));
    KEEPS(cudaMemsetAsync(pinned, 1, SIZE, stream));
    KEEPS(cudaMemcpy2DAsync(device, 256, heap, 256, 256, 64, cudaMemcpyHostToDevice, stream));
    KEEPS(cudaEventRecord(event, stream));
    KEEPS(cudaStreamWaitEvent(stream, event, 0));
    KEEPS(cudaEventSynchronize(event));
    KEEPS(cudaStreamSynchronize(stream));
    KEEPS(cudaStreamQuery(stream));
    KEEPS(cudaEventQuery(event));
    KEEPS(cudaDeviceSynchronize());
    KEEPS(cudaMemcpy(heap, device, SIZE, cudaMemcpyDeviceToHost));
    KEEPS(cudaHostUnregister(heap));
    KEEPS(cudaFreeHost(pinned));
    KEEPS((free(heap), 0));
    KEEPS((free(NULL), 0));
    KEEPS(munmap(pages, SIZE));
    KEEPS(cudaEventDestroy(event));
    KEEPS(cudaStreamDestroy(stream));
    KEEPS(cudaFree(device));
    return 0;
}
