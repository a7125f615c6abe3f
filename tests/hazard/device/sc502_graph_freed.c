// expect: SC502 action=ordered kind=device direction=D2D event=cuMemFreeAsync certainty=observed
// options: device=1
//
// Memory of a pool is freed in the order of a stream that does not come after the graph which reads
// the memory.
#include "graphs.h"

int main(void)
{
    cudaStream_t work = new_stream();
    cudaStream_t other = new_stream();
    cudaEvent_t done = new_event();
    void *next = pinned_block(SMALL, FOREIGN);
    void *result = device_block(SMALL, 0);
    void *source = pinned_block(SMALL, WANTED);
    void *input = NULL, *again = NULL;
    CHECK(cudaMallocAsync(&input, SMALL, other));
    CHECK(cudaMemcpyAsync(input, source, SMALL, cudaMemcpyHostToDevice, other));
    CHECK(cudaStreamSynchronize(other));
    cudaGraphExec_t exec = captured_exec(result, input, SMALL, cudaMemcpyDeviceToDevice, work);

    busy(work);
    CHECK(cudaGraphLaunch(exec, work));
    CHECK(cudaEventRecord(done, work));
    if (fixed)
        CHECK(cudaStreamWaitEvent(other, done, 0));
    CHECK(cudaFreeAsync(input, other));
    CHECK(cudaMallocAsync(&again, SMALL, other));
    CHECK(cudaMemcpyAsync(again, next, SMALL, cudaMemcpyHostToDevice, other));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(result, SMALL, WANTED));
}
