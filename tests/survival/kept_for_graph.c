// expect-exit: 0
// link: cuda
//
// Memory that a graph names is unregistered and freed, and the graph is not launched any more. What
// the driver then says about the addresses does not depend on the graph.
#include "survival.h"

#include <cuda.h>

enum { SIZE = 64 << 10 };

static cudaGraphExec_t exec_of(void *source, void *device, cudaStream_t stream)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemcpyAsync(device, source, SIZE, cudaMemcpyHostToDevice, stream));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    return exec;
}

static void show(const char *what, char *memory)
{
    struct cudaPointerAttributes found;
    CUdeviceptr at = (CUdeviceptr)(uintptr_t)memory;
    CUdeviceptr device = 0;
    unsigned type = 0;
    unsigned flags = 0;
    size_t bytes = 0;
    printf("%s: %d", what, (int)cudaPointerGetAttributes(&found, memory));
    printf(" type %d same %d", (int)found.type, found.hostPointer == memory);
    printf(" attribute %d",
           (int)cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at));
    printf(" flags %d", (int)cuMemHostGetFlags(&flags, memory));
    printf(" pointer %d", (int)cuMemHostGetDevicePointer(&device, memory, 0));
    printf(" range %d\n", (int)cuMemGetAddressRange(NULL, &bytes, at));
}

int main(void)
{
    cudaStream_t stream = NULL;
    void *device = NULL;
    void *pinned = NULL;
    char *heap = malloc(3 * SIZE);
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&device, SIZE));
    CHECK(cudaMallocHost(&pinned, SIZE));
    CHECK(cudaHostRegister(heap, SIZE, 0));
    cudaGraphExec_t first = exec_of(heap, device, stream);
    cudaGraphExec_t second = exec_of(pinned, device, stream);

    show("registered", heap);
    SHOW(cudaHostUnregister(heap));
    show("unregistered", heap);
    show("inside", heap + SIZE / 2);
    SHOW(cudaHostUnregister(heap));
    SHOW(cudaHostUnregister(heap + SIZE / 2));
    SHOW(cudaFreeHost(heap));
    SHOW(cudaHostRegister(heap, SIZE, 0));
    show("registered again", heap);
    SHOW(cudaHostUnregister(heap));

    show("pinned", pinned);
    SHOW(cudaFreeHost(pinned));
    show("freed", pinned);
    SHOW(cudaFreeHost(pinned));
    SHOW(cudaHostUnregister(pinned));
    SHOW(cudaGraphExecDestroy(first));
    SHOW(cudaGraphExecDestroy(second));
    return 0;
}
