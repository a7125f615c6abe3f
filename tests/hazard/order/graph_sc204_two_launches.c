// expect: SC204 action=ordered certainty=observed
//
// Two graphs write one pinned buffer, on two streams that nothing orders. The later one should win.
#include "graphs.h"

int main(void)
{
    cudaStream_t first = new_stream();
    cudaStream_t second = new_stream();
    cudaEvent_t written = new_event();
    void *before = device_block(SMALL, FOREIGN);
    void *after = device_block(SMALL, WANTED);
    void *target = pinned_block(SMALL, 0);
    cudaGraphExec_t early = captured_exec(target, before, SMALL, cudaMemcpyDeviceToHost, first);
    cudaGraphExec_t late = captured_exec(target, after, SMALL, cudaMemcpyDeviceToHost, second);

    busy(first);
    CHECK(cudaGraphLaunch(early, first));
    CHECK(cudaEventRecord(written, first));
    if (fixed)
        CHECK(cudaStreamWaitEvent(second, written, 0));
    CHECK(cudaGraphLaunch(late, second));

    CHECK(cudaDeviceSynchronize());
    return finish(holds(target, SMALL, WANTED));
}
