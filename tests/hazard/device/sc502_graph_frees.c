// expect: SC502 action=ordered kind=device direction=D2D event=cuGraphLaunch certainty=observed
// options: device=1
//
// A graph frees memory of a pool that another stream is still to read: the pool hands it out again
// behind the graph, and its new owner fills it.
#include "graphs.h"

int main(void)
{
    cudaStream_t work = new_stream(), other = new_stream();
    cudaEvent_t done = new_event();
    void *next = pinned_block(SMALL, FOREIGN), *source = pinned_block(SMALL, WANTED);
    void *result = device_block(SMALL, 0), *input = NULL, *again = NULL;
    CHECK(cudaMallocAsync(&input, SMALL, other));
    CHECK(cudaMemcpyAsync(input, source, SMALL, cudaMemcpyHostToDevice, other));
    CHECK(cudaStreamSynchronize(other));
    begin_capture(other);
    CHECK(cudaFreeAsync(input, other));
    cudaGraphExec_t exec = instantiate_only(end_capture(other));

    busy(work);
    CHECK(cudaMemcpyAsync(result, input, SMALL, cudaMemcpyDeviceToDevice, work));
    CHECK(cudaEventRecord(done, work));
    if (fixed)
        CHECK(cudaStreamWaitEvent(other, done, 0));
    CHECK(cudaGraphLaunch(exec, other));
    CHECK(cudaMallocAsync(&again, SMALL, other));
    CHECK(cudaMemcpyAsync(again, next, SMALL, cudaMemcpyHostToDevice, other));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(result, SMALL, WANTED));
}
