// expect-exit: 0
// needs: userfaultfd
// needs: sim (the real driver fails without its descriptors)
// options: guard=uffd
//
// Every descriptor but stdout's is closed, the one for touches with them, and pinned memory is
// asked for after that: mprotect guards it.
#include "survival.h"

#include <unistd.h>

enum { BYTES = 100 << 10, NUMBERS = 1024 };

static unsigned char *pinned(void)
{
    unsigned char *bytes;
    CHECK(cudaMallocHost((void **)&bytes, BYTES));
    return bytes;
}

static int copied_down(unsigned char *bytes, const void *device, cudaStream_t stream)
{
    bytes[0] = 1;
    CHECK(cudaMemcpyAsync(bytes, device, BYTES, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    return bytes[0];
}

int main(void)
{
    unsigned char *before = pinned();
    void *device;
    cudaStream_t stream;
    CHECK(cudaMalloc(&device, BYTES));
    CHECK(cudaMemset(device, 7, BYTES));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    int first = copied_down(before, device, stream);
    for (int i = STDERR_FILENO; i < NUMBERS; i++)
        close(i);
    int second = copied_down(before, device, stream);
    printf("%d %d %d\n", first, second, copied_down(pinned(), device, stream));
    return 0;
}
