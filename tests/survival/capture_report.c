// expect-exit: 0
// options: capture=report:verbosity=0:strict=0
//
// Captures are left to fail: a free and an unregister of memory that a graph names are refused, and
// break the capture, as they do without us.
#include "survival.h"

enum { SIZE = 64 << 10 };

static void *device;

static cudaGraphExec_t exec_of(void *source, cudaStream_t stream)
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

static void give_back_in_capture(void *memory, cudaError_t (*give_back)(void *memory),
                                 cudaStream_t stream)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = exec_of(memory, stream);
    SHOW(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    SHOW(give_back(memory));
    SHOW(cudaStreamEndCapture(stream, &graph));
    SHOW(cudaGetLastError());
    SHOW(cudaGraphLaunch(exec, stream));
    SHOW(cudaStreamSynchronize(stream));
    SHOW(cudaGraphExecDestroy(exec));
    SHOW(give_back(memory));
    SHOW(give_back(memory));
}

int main(void)
{
    cudaStream_t stream = NULL;
    void *pinned = NULL;
    void *registered = malloc(SIZE);
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&device, SIZE));
    CHECK(cudaMallocHost(&pinned, SIZE));
    CHECK(cudaHostRegister(registered, SIZE, 0));
    give_back_in_capture(pinned, cudaFreeHost, stream);
    give_back_in_capture(registered, cudaHostUnregister, stream);
    return 0;
}
