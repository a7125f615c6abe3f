// expect: SC202 action=stalled
//
// https://github.com/NVIDIA/warp/issues/1792: a matrix knows its number of entries by a download
// and an event, which are nodes once they were captured. Each replay records the event again, so
// that it means the latest replay's download. The racy build waits for the event of the replay
// before, and reads a stale number.
#include "graphs.h"

int main(void)
{
    bool right = true;
    cudaStream_t stream = new_stream();
    cudaEvent_t arrived = new_event();
    void *count = device_block(SMALL, FOREIGN);
    void *seen = pinned_block(SMALL, 0);
    begin_capture(stream);
    CHECK(cudaMemcpyAsync(seen, count, SMALL, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaEventRecordWithFlags(arrived, stream, cudaEventRecordExternal));
    cudaGraphExec_t exec = instantiate_only(end_capture(stream));

    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaEventSynchronize(arrived));
    right = right && holds(seen, SMALL, FOREIGN);
    CHECK(cudaMemsetAsync(count, 0, SMALL, stream));
    if (!fixed)
        CHECK(cudaEventSynchronize(arrived));
    CHECK(cudaGraphLaunch(exec, stream));
    if (fixed)
        CHECK(cudaEventSynchronize(arrived));
    right = right && *(volatile unsigned char *)seen == 0;

    CHECK(cudaDeviceSynchronize());
    return finish(right);
}
