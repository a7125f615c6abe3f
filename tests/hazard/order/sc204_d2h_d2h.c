// expect: SC204 action=ordered kind=pinned certainty=observed
//
// Two streams write one pinned buffer; the one that the program issued last must win.
#include "twin.h"

int main(void)
{
    cudaStream_t first = new_stream();
    cudaStream_t second = new_stream();
    cudaEvent_t written = new_event();
    void *early = device_block(SMALL, FOREIGN);
    void *late = device_block(SMALL, WANTED);
    void *target = pinned_block(SMALL, 0);

    busy(first);
    CHECK(cudaMemcpyAsync(target, early, SMALL, cudaMemcpyDeviceToHost, first));
    CHECK(cudaEventRecord(written, first));
    if (fixed)
        CHECK(cudaStreamWaitEvent(second, written, 0));
    CHECK(cudaMemcpyAsync(target, late, SMALL, cudaMemcpyDeviceToHost, second));

    CHECK(cudaDeviceSynchronize());
    return finish(holds(target, SMALL, WANTED));
}
