// expect-exit: 0
//
// Forks with copies in flight. The child frees its own copies of the buffers: memory of its own, in
// a process without a device, so nothing there is a hazard or waits for anything.
#include "process.h"

enum { SIZE = 64 << 10 };

static void *registered;

static void nap(void *unused)
{
    (void)unused;
    usleep(100000);
}

static void free_own(void)
{
    free(registered);
    churn(1000);
    printf("child: freed\n");
}

int main(void)
{
    void *device = NULL;
    cudaStream_t stream = NULL;
    registered = malloc(SIZE);
    if (!registered)
        return 3;
    memset(registered, 1, SIZE);
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMalloc(&device, SIZE));
    CHECK(cudaHostRegister(registered, SIZE, cudaHostRegisterDefault));
    CHECK(cudaLaunchHostFunc(stream, nap, NULL));
    CHECK(cudaMemcpyAsync(device, registered, SIZE, cudaMemcpyHostToDevice, stream));
    in_child("child by _exit", free_own, 0, false);
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaHostUnregister(registered));
    free(registered);
    use_cuda("parent");
    return 0;
}
