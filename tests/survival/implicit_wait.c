// expect-exit: 0
//
// Correct programs lean on the waits of cudaFree, cudaFreeHost and cudaHostUnregister of idle
// buffers: after each of them a copy issued before on another buffer has landed.
#include "survival.h"

enum { SIZE = 64 << 10 };

static void nap(void *unused)
{
    (void)unused;
    usleep(20000);
}

static unsigned char *target;
static void *device;
static cudaStream_t stream;

static void send(int value)
{
    CHECK(cudaMemsetAsync(device, value, SIZE, stream));
    CHECK(cudaLaunchHostFunc(stream, nap, NULL));
    CHECK(cudaMemcpyAsync(target, device, SIZE, cudaMemcpyDeviceToHost, stream));
}

static void landed(const char *after, int value)
{
    printf("after %s: %s\n", after,
           target[0] == value && target[SIZE - 1] == value ? "landed" : "not yet");
}

int main(void)
{
    void *idle_device = NULL;
    void *idle_pinned = NULL;
    void *idle_heap = malloc(SIZE);
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&device, SIZE));
    CHECK(cudaMalloc(&idle_device, SIZE));
    CHECK(cudaMallocHost((void **)&target, SIZE));
    CHECK(cudaMallocHost(&idle_pinned, SIZE));
    CHECK(cudaHostRegister(idle_heap, SIZE, cudaHostRegisterDefault));
    send(1);
    CHECK(cudaFreeHost(idle_pinned));
    landed("cudaFreeHost", 1);
    send(2);
    CHECK(cudaHostUnregister(idle_heap));
    landed("cudaHostUnregister", 2);
    free(idle_heap);
    send(3);
    CHECK(cudaFree(idle_device));
    landed("cudaFree", 3);
    CHECK(cudaFreeHost(target));
    return 0;
}
