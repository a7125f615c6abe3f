// expect-exit: 0
//
// Registered pages that the program has dropped: what copies of them carry is for the driver to
// say, which has others. The copies are small enough to be snapshotted.
#include "survival.h"

#include <sys/mman.h>

enum { SIZE = 16 << 10 };

static void copy_to(void *device, const void *source, cudaStream_t stream)
{
    unsigned char back[SIZE];
    CHECK(cudaMemcpyAsync(device, source, SIZE, cudaMemcpyHostToDevice, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(back, device, SIZE, cudaMemcpyDeviceToHost));
    printf("the device has %d and %d\n", back[0], back[SIZE - 1]);
}

int main(void)
{
    void *device = NULL;
    cudaStream_t stream = NULL;
    unsigned char *source = (unsigned char *)mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
                                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&device, SIZE));
    memset(source, 1, SIZE);
    CHECK(cudaHostRegister(source, SIZE, cudaHostRegisterDefault));
    copy_to(device, source, stream);
    CHECK(madvise(source, SIZE, MADV_DONTNEED));
    copy_to(device, source, stream);
    memset(source, 3, SIZE);
    copy_to(device, source, stream);
    CHECK(cudaMemcpyAsync(source, device, SIZE, cudaMemcpyDeviceToHost, stream));
    memset(source, 5, SIZE);
    CHECK(cudaStreamSynchronize(stream));
    printf("the host has %d\n", source[0] == 5);
    CHECK(cudaHostUnregister(source));
    return 0;
}
