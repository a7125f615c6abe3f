// expect-exit: 0
//
// Buffers that are registered, copied from, synchronised and then left or freed without being
// unregistered; the same address registered again by its next owner. Allowed or refused, the codes
// are the driver's.
#include "survival.h"

#include <sys/mman.h>

enum { SIZE = 64 << 10 };

int main(void)
{
    void *device = NULL;
    CHECK(cudaMalloc(&device, SIZE));
    void *first = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(first, 1, SIZE);
    SHOW(cudaHostRegister(first, SIZE, cudaHostRegisterDefault));
    SHOW(cudaMemcpyAsync(device, first, SIZE, cudaMemcpyHostToDevice, NULL));
    SHOW(cudaStreamSynchronize(NULL));
    SHOW(munmap(first, SIZE));
    void *second =
        mmap(first, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    SHOW(second == first);
    SHOW(cudaHostRegister(second, SIZE, cudaHostRegisterDefault));
    SHOW(cudaHostUnregister(second));
    SHOW(cudaHostRegister(second, SIZE, cudaHostRegisterDefault));
    SHOW(cudaMemcpyAsync(second, device, SIZE, cudaMemcpyDeviceToHost, NULL));
    SHOW(cudaStreamSynchronize(NULL));
    SHOW(cudaHostUnregister(second));
    SHOW(munmap(second, SIZE));
    return 0;
}
