// expect: SC501 action=ordered kind=device direction=memset event=cuMemcpyHtoDAsync_v2
// options: device=1
//
// A graph clears two buffers, and a node behind the first memset records an event. Another stream
// waits for the event and fills a buffer. The racy build fills the second one.
#include "graphs.h"

int main(void)
{
    cudaStream_t work = new_stream(), up = new_stream();
    cudaEvent_t cleared = new_event();
    void *source = pinned_block(SMALL, WANTED);
    void *first = device_block(SMALL, FOREIGN), *second = device_block(SMALL, FOREIGN);
    begin_capture(work);
    CHECK(cudaMemsetAsync(first, 0, SMALL, work));
    CHECK(cudaEventRecordWithFlags(cleared, work, cudaEventRecordExternal));
    busy(work);
    CHECK(cudaMemsetAsync(second, 0, SMALL, work));
    cudaGraphExec_t exec = instantiate_only(end_capture(work));

    CHECK(cudaGraphLaunch(exec, work));
    CHECK(cudaGraphLaunch(exec, work));
    CHECK(cudaStreamWaitEvent(up, cleared, 0));
    CHECK(cudaMemcpyAsync(fixed ? first : second, source, SMALL, cudaMemcpyHostToDevice, up));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(fixed ? first : second, SMALL, WANTED));
}
