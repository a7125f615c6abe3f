// expect: none
// options: device=1
//
// Graphs of copies and memsets share device memory with other streams: in the order of their
// stream, of events, of the legacy stream, of waits of the host and of their own edges; launched
// again in one stream, and in another one, which comes after the last launch.
#include "graphs.h"

int main(void)
{
    cudaStream_t one = new_stream(), two = new_stream(), blocking = blocking_stream();
    cudaEvent_t done = new_event();
    void *source = pinned_block(SMALL, WANTED);
    void *target = pinned_block(SMALL, 0);
    void *input = device_block(SMALL, FOREIGN), *result = device_block(SMALL, FOREIGN);
    begin_capture(one); /* one after the other, by edges */
    CHECK(cudaMemsetAsync(result, 0, SMALL, one));
    CHECK(cudaMemcpyAsync(input, source, SMALL, cudaMemcpyHostToDevice, one));
    CHECK(cudaMemcpyAsync(result, input, SMALL, cudaMemcpyDeviceToDevice, one));
    CHECK(cudaMemcpyAsync(target, result, SMALL, cudaMemcpyDeviceToHost, one));
    cudaGraphExec_t exec = instantiate_only(end_capture(one));

    busy(one);
    CHECK(cudaMemsetAsync(input, 1, SMALL, one));
    CHECK(cudaGraphLaunch(exec, one)); /* behind its stream */
    CHECK(cudaGraphLaunch(exec, one));
    CHECK(cudaGraphLaunch(exec, two)); /* behind its last launch */
    CHECK(cudaMemsetAsync(result, 2, SMALL, two));
    CHECK(cudaEventRecord(done, two));
    CHECK(cudaStreamWaitEvent(blocking, done, 0));
    CHECK(cudaGraphLaunch(exec, blocking)); /* behind an event */
    CHECK(cudaMemsetAsync(input, 3, SMALL, cudaStreamLegacy));
    CHECK(cudaGraphLaunch(exec, blocking)); /* behind the legacy stream */
    CHECK(cudaMemsetAsync(result, 4, SMALL, cudaStreamLegacy));
    CHECK(cudaStreamSynchronize(cudaStreamLegacy));
    busy(two);
    CHECK(cudaGraphLaunch(exec, two)); /* behind a wait of the host */
    while (cudaStreamQuery(two) == cudaErrorNotReady)
        usleep(100);
    CHECK(cudaMemsetAsync(result, 5, SMALL, one));
    CHECK(cudaStreamSynchronize(one));

    CHECK(cudaDeviceSynchronize());
    return finish(holds(target, SMALL, WANTED));
}
