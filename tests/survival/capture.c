// expect-exit: 0
//
// A capture with copies, events and a second stream, replayed. Codes and data are the driver's:
// nothing of ours may disturb a capture, also not from another thread.
#include "survival.h"

#include <pthread.h>

enum { SIZE = 64 << 10 };

static unsigned char *from;
static unsigned char *to;
static void *device;

static void *other_thread(void *stream)
{
    churn(200);
    SHOW(cudaMemcpyAsync(to, from, 0, cudaMemcpyHostToHost, (cudaStream_t)stream));
    return NULL;
}

static cudaGraphExec_t capture(cudaStream_t stream, cudaStream_t side,
                               enum cudaStreamCaptureMode mode)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    cudaEvent_t fork = NULL;
    cudaEvent_t join = NULL;
    CHECK(cudaEventCreate(&fork));
    CHECK(cudaEventCreate(&join));
    SHOW(cudaStreamBeginCapture(stream, mode));
    SHOW(cudaEventRecord(fork, stream));
    SHOW(cudaStreamWaitEvent(side, fork, 0));
    SHOW(cudaMemcpyAsync(device, from, SIZE, cudaMemcpyHostToDevice, side));
    free(malloc(10000));
    SHOW(cudaEventRecord(join, side));
    SHOW(cudaStreamWaitEvent(stream, join, 0));
    SHOW(cudaMemcpyAsync(to, device, SIZE, cudaMemcpyDeviceToHost, stream));
    SHOW(cudaStreamEndCapture(stream, &graph));
    SHOW(cudaGraphInstantiate(&exec, graph, 0));
    SHOW(cudaGraphDestroy(graph));
    SHOW(cudaEventDestroy(fork));
    SHOW(cudaEventDestroy(join));
    return exec;
}

int main(void)
{
    cudaStream_t stream = NULL;
    cudaStream_t side = NULL;
    cudaStream_t free_stream = NULL;
    pthread_t thread;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&free_stream, cudaStreamNonBlocking));
    CHECK(cudaMallocHost((void **)&from, SIZE));
    CHECK(cudaMallocHost((void **)&to, SIZE));
    CHECK(cudaMalloc(&device, SIZE));
    cudaGraphExec_t exec = capture(stream, side, cudaStreamCaptureModeGlobal);
    for (int i = 1; i <= 3; i++) {
        memset(from, i, SIZE);
        SHOW(cudaGraphLaunch(exec, stream));
        SHOW(cudaStreamSynchronize(stream));
        SHOW(to[0] == i && to[SIZE - 1] == i);
    }
    SHOW(cudaGraphExecDestroy(exec));
    exec = capture(stream, side, cudaStreamCaptureModeRelaxed);
    SHOW(cudaGraphExecDestroy(exec));
    CHECK(pthread_create(&thread, NULL, other_thread, free_stream));
    pthread_join(thread, NULL);
    CHECK(cudaDeviceSynchronize());
    SHOW(cudaFreeHost(from));
    SHOW(cudaFreeHost(to));
    return 0;
}
