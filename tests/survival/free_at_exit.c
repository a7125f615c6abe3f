// expect-exit: 0
//
// A destructor gives buffers back after main: pinned, registered and plain, with all their
// copies synchronised.
#include "survival.h"

enum { SIZE = 64 << 10 };

static void *pinned;
static void *registered;

__attribute__((destructor)) static void give_back(void)
{
    int a = (int)cudaFreeHost(pinned);
    int b = (int)cudaHostUnregister(registered);
    free(registered);
    printf("given back: %d %d\n", a, b);
    fflush(stdout);
}

int main(void)
{
    void *device = NULL;
    registered = calloc(1, SIZE);
    CHECK(cudaMallocHost(&pinned, SIZE));
    CHECK(cudaMalloc(&device, SIZE));
    CHECK(cudaHostRegister(registered, SIZE, cudaHostRegisterDefault));
    CHECK(cudaMemcpyAsync(device, registered, SIZE, cudaMemcpyHostToDevice, NULL));
    CHECK(cudaMemcpyAsync(pinned, device, SIZE, cudaMemcpyDeviceToHost, NULL));
    CHECK(cudaDeviceSynchronize());
    puts("main ends");
    return 0;
}
