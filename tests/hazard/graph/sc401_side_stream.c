// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// The copy is issued on a second stream, which an event draws into the capture.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t side = new_stream();
    cudaEvent_t fork = new_event();
    cudaEvent_t join = new_event();
    void *device = device_block(SMALL, 0);
    void *source = filled_block(SMALL, WANTED);

    begin_capture(stream);
    CHECK(cudaEventRecord(fork, stream));
    CHECK(cudaStreamWaitEvent(side, fork, 0));
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, side));
    CHECK(cudaEventRecord(join, side));
    CHECK(cudaStreamWaitEvent(stream, join, 0));
    cudaGraphExec_t exec = instantiate_only(end_capture(stream));

    if (fixed)
        replay(exec, stream);
    free(source);
    void *owner = filled_block(SMALL, FOREIGN);
    if (!fixed)
        replay(exec, stream);

    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
