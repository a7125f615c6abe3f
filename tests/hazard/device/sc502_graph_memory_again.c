// expect: SC502 action=ordered direction=D2H event=cuMemFreeAsync origin=cuGraphLaunch
// options: device=1
//
// A graph allocates memory in each of its launches. In the second round it is freed in the order of
// a stream that does not come after the one which still reads the memory, and the third launch
// fills it.
#include "graphs.h"

static cudaGraphExec_t exec_that_allocates(void **memory, void *source, cudaStream_t stream)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    CHECK(cudaMallocAsync(memory, LARGE, stream));
    CHECK(cudaMemcpyAsync(*memory, source, LARGE, cudaMemcpyDeviceToDevice, stream));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    return exec;
}

int main(void)
{
    cudaStream_t down = new_stream();
    cudaStream_t other = new_stream();
    cudaEvent_t downloaded = new_event();
    void *target = pinned_block(LARGE, 0);
    void *source = device_block(LARGE, WANTED);
    void *memory = NULL;
    cudaGraphExec_t exec = exec_that_allocates(&memory, source, other);

    CHECK(cudaGraphLaunch(exec, other));
    CHECK(cudaFreeAsync(memory, other));
    CHECK(cudaGraphLaunch(exec, other));
    CHECK(cudaStreamSynchronize(other));
    busy(down);
    CHECK(cudaMemcpyAsync(target, memory, LARGE, cudaMemcpyDeviceToHost, down));
    CHECK(cudaEventRecord(downloaded, down));
    if (fixed)
        CHECK(cudaStreamWaitEvent(other, downloaded, 0));
    CHECK(cudaFreeAsync(memory, other));
    CHECK(cudaMemsetAsync(source, FOREIGN, LARGE, other));
    CHECK(cudaGraphLaunch(exec, other));

    CHECK(cudaDeviceSynchronize());
    return finish(holds(target, LARGE, WANTED));
}
